// PendingCompute, and ComputeDone, through which the user ends it.

#include "client/compute/pending_compute.h"

#include <utility>

#include "client/calls/work.h"
#include "client/compute/computation.h"
#include "client/runtime/outcomes.h"

namespace sheaf {
namespace client::compute {

PendingCompute::PendingCompute(runtime::Context& context, Computation& computation)
    : context_(&context), computation_(&computation) {}

void PendingCompute::run(const AsyncCompute& function) {
  if (!leave_queue(State::begun)) return;
  function(ComputeDone(std::make_shared<const DoneHandle>(shared_from_this())));
}

void PendingCompute::finish(Result<std::string> made) {
  if (process_.forked()) return;  // the mutex may be held forever
  const sync::MutexLock lock(mutex_);
  if (context_ == nullptr || made_) return;
  made_.emplace(std::move(made));
  calls::post(context_->lane(), [self = shared_from_this()](Now now) { self->arrive(now); });
}

void PendingCompute::arrive(Now now) {
  Computation* computation = nullptr;
  std::optional<Result<std::string>> made;
  {
    const sync::MutexLock lock(mutex_);
    computation = std::exchange(computation_, nullptr);
    made.swap(made_);
    context_ = nullptr;
  }
  if (computation != nullptr) computation->on_made(std::move(*made), now);
}

void PendingCompute::detach() noexcept {
  take_back();
  const sync::MutexLock lock(mutex_);
  context_ = nullptr;
  computation_ = nullptr;
}

DoneHandle::~DoneHandle() {
  pending->finish(Failure(runtime::local_error(
      Outcome::not_sent, Reason::other, "the function that computes the value returned no value")));
}

}  // namespace client::compute

inline namespace v0 {

ComputeDone::ComputeDone(std::shared_ptr<const client::compute::DoneHandle> handle) noexcept
    : handle_(std::move(handle)) {}

void ComputeDone::operator()(Result<std::string> made) const {
  if (handle_ != nullptr) handle_->pending->finish(std::move(made));
}

void ComputeDone::operator()(std::string value) const {
  (*this)(Result<std::string>(std::move(value)));
}

}  // namespace v0
}  // namespace sheaf

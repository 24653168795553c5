// PendingCompute, and ComputeDone, through which the user ends it.

#include "client/compute/pending_compute.h"

#include <utility>

#include <sheaf/async.h>

#include "client/calls/work.h"
#include "client/compute/done_handle.h"
#include "client/runtime/outcomes.h"

namespace sheaf {
namespace client::compute {

PendingCompute::PendingCompute(runtime::Context& context, Leader& leader)
    : context_(&context), leader_(&leader) {}

void PendingCompute::finish(Result<std::string> made) {
  if (process_.forked()) return;  // the mutex may be held forever
  const sync::MutexLock lock(mutex_);
  if (context_ == nullptr || made_) return;
  made_.emplace(std::move(made));
  calls::post(context_->lane(), [self = shared_from_this()](Now now) { self->arrive(now); });
}

void PendingCompute::arrive(Now now) {
  Leader* leader = nullptr;
  std::optional<Result<std::string>> made;
  {
    const sync::MutexLock lock(mutex_);
    leader = leader_;
    made.swap(made_);
    context_ = nullptr;
    leader_ = nullptr;
  }
  if (leader != nullptr) leader->on_made(std::move(*made), now);
}

void PendingCompute::detach() noexcept {
  take_back();
  const sync::MutexLock lock(mutex_);
  context_ = nullptr;
  leader_ = nullptr;
}

DoneHandle::~DoneHandle() {
  pending->finish(Failure(runtime::local_error(
      Outcome::not_sent, Reason::other, "the function that computes the value returned none")));
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

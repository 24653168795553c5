#pragma once

// Batches as blocking and as asynchronous calls.

#include <deque>

#include "client/calls/batch.h"
#include "client/calls/call.h"
#include "client/calls/get_batch.h"

namespace sheaf::client::calls {

template <class Op>
class BlockingBatch final : private socket::Lane::Task, public Batch<Op> {
 public:
  using Out = std::vector<typename Batch<Op>::Entry>;

  // `used`: of a batch of gets, see GetAnswers.
  BlockingBatch(Client::Impl& impl, runtime::Path& path, cluster::BatchPlan plan,
                const BatchTerms& terms, auto&&... used)
      : Batch<Op>(impl, path, std::move(plan), terms, std::forward<decltype(used)>(used)...),
        waiter_(yields_before_sleep(this->plan().size(), this->plan().nodes().size()),
                wait_on(impl, path)) {}

  Out wait() {
    this->path().lane().call(*this, waiter_);
    return this->take_results();
  }

 private:
  // A side path is its caller's alone. Beside such callers none spins: no processor is idle.
  static socket::Wait wait_on(Client::Impl& impl, const runtime::Path& path) noexcept {
    if (&path != &impl.path()) return socket::Wait::read;
    const bool beside = impl.bulk() != nullptr && impl.bulk()->in_use();
    return beside ? socket::Wait::sleep : socket::Wait::spin;
  }
  void run(Now now) override { this->begin(now); }
  bool caller_drives() noexcept override { return this->path().lane().drives(waiter_); }
  void on_batch_done() override { this->path().lane().finish(waiter_); }

  socket::Lane::Waiter waiter_;
};

// Owns copies of all values; the plan copies the keys.
template <class Op>
class AsyncBatch final : private socket::Lane::Task, public Batch<Op> {
 public:
  using Out = std::vector<typename Batch<Op>::Entry>;

  AsyncBatch(Client::Impl& impl, std::unique_ptr<std::deque<std::string>> values,
             cluster::BatchPlan plan, const BatchTerms& terms, Receiver<Out> receiver)
      : Batch<Op>(impl, impl.path(), std::move(plan), terms),
        values_(std::move(values)),
        receiver_(std::move(receiver)) {
    this->own_keys();
  }

  // From here on it owns itself.
  static void post(std::unique_ptr<AsyncBatch> batch) {
    Client::Impl& impl = batch->impl();
    impl.lane().post_async(*batch.release());
  }

 private:
  void run(Now now) override { this->begin(now); }
  void on_batch_done() override {
    const std::unique_ptr<AsyncBatch> self(this);
    this->impl().lane().async_end();
    receiver_.deliver(this->impl().dispatcher(), this->take_results());
  }

  std::unique_ptr<std::deque<std::string>> values_;
  Receiver<Out> receiver_;
};

}  // namespace sheaf::client::calls

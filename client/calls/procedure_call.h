#pragma once

// A procedure as a blocking and as an asynchronous call. P has `Out` and `Out take_out()`, which is
// asked once, when it is done.

#include <memory>
#include <optional>

#include "client/calls/call.h"
#include "client/client_impl.h"

namespace sheaf::client::calls {

template <class P>
class BlockingProcedure final : private socket::Lane::Task, private ProcedureOwner {
 public:
  using Out = typename P::Out;
  BlockingProcedure(Client::Impl& impl, std::unique_ptr<P> procedure)
      : impl_(impl), procedure_(std::move(procedure)) {}
  Out wait() {
    impl_.lane().call(*this, waiter_);
    return std::move(*out_);
  }

 private:
  void run(Now now) override { impl_.procedures().run(std::move(procedure_), *this, now); }
  void on_progress(ProcedureRun& run, Now) override {
    if (!run.procedure().done()) return;
    out_.emplace(static_cast<P&>(run.procedure()).take_out());
    run.let_go();
    impl_.lane().finish(waiter_);  // the caller may be gone from here on
  }

  Client::Impl& impl_;
  std::unique_ptr<P> procedure_;
  socket::Lane::Waiter waiter_;
  std::optional<Out> out_;
};

// Owns itself until its result has been handed on.
template <class P>
class AsyncProcedure final : private socket::Lane::Task, private ProcedureOwner {
 public:
  using Out = typename P::Out;
  static void begin(Client::Impl& impl, std::unique_ptr<P> procedure, Receiver<Out> receiver) {
    impl.lane().post_async(*new AsyncProcedure(impl, std::move(procedure), std::move(receiver)));
  }

 private:
  AsyncProcedure(Client::Impl& impl, std::unique_ptr<P> procedure, Receiver<Out> receiver)
      : impl_(impl), procedure_(std::move(procedure)), receiver_(std::move(receiver)) {}
  void run(Now now) override { impl_.procedures().run(std::move(procedure_), *this, now); }
  void on_progress(ProcedureRun& run, Now) override {
    if (!run.procedure().done()) return;
    const std::unique_ptr<AsyncProcedure> self(this);
    impl_.lane().async_end();
    receiver_.deliver(impl_.dispatcher(), static_cast<P&>(run.procedure()).take_out());
    run.let_go();
  }

  Client::Impl& impl_;
  std::unique_ptr<P> procedure_;
  Receiver<Out> receiver_;
};

}  // namespace sheaf::client::calls

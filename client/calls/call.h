#pragma once

// One operation on one key, as a Work and as calls.

#include <optional>
#include <utility>

#include "client/calls/admit.h"
#include "client/calls/requests.h"
#include "client/calls/work.h"
#include "client/runtime/outcomes.h"
#include "protocol/owned_operation.h"

namespace sheaf::client::calls {

template <class Op>
class OneOperation final : private socket::RequestSink {
 public:
  using Out = typename Op::Out;

  // `what` with its deadline.
  OneOperation(WorkEnd& end, runtime::Context& context, const KeyRequest& what,
               const Admission& admission)
      : end_(end), context_(context), started_(admission.started) {
    request_.parent = admission.parent;
    request_.operation = what.operation;
    request_.may_lag = what.may_lag;
    request_.sink = this;
  }

  void own() { request_.operation = owned_.emplace(request_.operation).view(); }
  void start(Now now) { context_.cluster().start(request_, now); }
  void cancel(Now now) { context_.cluster().cancel(request_, now); }
  Out take() { return std::move(*out_); }

 private:
  void on_done(socket::Request&, const socket::Completion& completion) override {
    out_.emplace(Op::convert(completion, started_));
    end_.ended();
  }

  WorkEnd& end_;
  runtime::Context& context_;
  Deadline started_;
  std::optional<protocol::OwnedOperation> owned_;
  cluster::Request request_;
  std::optional<Out> out_;
};

template <class Op>
typename Op::Out call(runtime::Context& context, KeyRequest request) {
  const auto admitted =
      admit(context, Form::blocking, request.timeout, request.stop, std::move(request.wrong));
  if (!admitted) return Failure(admitted.error());
  request.operation.deadline = admitted->deadline;
  return Blocking<OneOperation<Op>>(context.lane(), HowToWait::for_keys(1, 1), context, request,
                                    *admitted)
      .wait(request.stop);
}

template <class Op>
void call_async(runtime::Context& context, KeyRequest request,
                Receiver<typename Op::Out> receiver) {
  const runtime::Context::Entry entry(context);  // the client may close meanwhile
  const auto admitted =
      admit(context, Form::asynchronous, request.timeout, request.stop, std::move(request.wrong));
  if (!admitted) return receiver.deliver(context.dispatcher(), Failure(admitted.error()));
  request.operation.deadline = admitted->deadline;
  Detached<OneOperation<Op>>::begin(context, std::move(receiver), request.stop, context, request,
                                    *admitted);
}

}  // namespace sheaf::client::calls

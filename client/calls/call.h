#pragma once

// One operation on one key, as a Work and as calls, blocking and asynchronous.

#include <optional>
#include <utility>

#include "client/calls/admit.h"
#include "client/calls/connection_for_key.h"
#include "client/calls/detached.h"
#include "client/calls/requests.h"
#include "client/calls/work.h"
#include "client/runtime/outcomes.h"
#include "protocol/owned_operation.h"

namespace sheaf::client::calls {

template <class Op>
class OneOperation final : private socket::RequestSink {
 public:
  using Out = typename Op::Out;

  // `what` has its deadline.
  OneOperation(WorkEnd& end, cluster::ClientCluster& cluster, const KeyRequest& what,
               const Admission& admission, const FoundOwner& owner = {})
      : end_(end), cluster_(cluster), started_(admission.started), owner_(owner) {
    request_.parent = admission.parent;
    request_.operation = what.operation;
    request_.may_lag = what.may_lag;
    request_.sink = this;
  }

  void start(Now now) {
    if (owner_.node == cluster::nobody) return cluster_.start(request_, now);
    cluster_.start_at(owner_.epoch, owner_.node, request_, now);
  }
  void cancel(Now now) { cluster_.cancel(request_, now); }
  // Where it was last, once it has ended.
  std::uint32_t node() const noexcept { return request_.node(); }
  Out take() { return std::move(*out_); }

 private:
  void on_done(socket::Request&, const socket::Completion& completion) override {
    out_.emplace(Op::convert(completion, started_));
    end_.ended();
  }

  WorkEnd& end_;
  cluster::ClientCluster& cluster_;
  Deadline started_;
  const FoundOwner owner_;
  cluster::Request request_;
  std::optional<Out> out_;
};

// Admits a blocking call and gives its operation the deadline.
inline Result<Admission> admit(const runtime::Context& context, KeyRequest& request) {
  auto admitted =
      admit(context, Form::blocking, request.timeout, request.stop, std::move(request.wrong));
  if (admitted) request.operation.deadline = admitted->deadline;
  return admitted;
}

template <class Op>
typename Op::Out call(runtime::Context& context, KeyRequest request) {
  const auto admitted = admit(context, request);
  if (!admitted) return Failure(admitted.error());
  if (ConnectionForKey own(context, request, admitted->started); own) {
    Blocking<OneOperation<Op>> operation(own.path().lane(), own.how_to_wait(), own.path().cluster(),
                                         request, *admitted, own.owner());
    auto out = operation.wait(request.stop);
    if (out || !own.failed(out.error(), operation.work().node())) return out;
  }
  Blocking<OneOperation<Op>> operation(context.lane(), HowToWait::for_keys(1, 1), context.cluster(),
                                       request, *admitted);
  return operation.wait(request.stop);
}

// The contents of a Call for one operation: the request, with copies of its texts.
template <class Op>
class LaterOperation {
 public:
  explicit LaterOperation(KeyRequest&& request)
      : operation_(request.operation),
        timeout_(request.timeout),
        wrong_(std::move(request.wrong)),
        may_lag_(request.may_lag) {}

  template <class Way>
  void operator()(runtime::Context& context, Stop stop, Way way) {
    const auto admitted = admit(context, way.form, timeout_, stop, std::move(wrong_));
    if (!admitted) return way.refuse(context, admitted.error());
    KeyRequest request{operation_.view(), timeout_, stop, {}, may_lag_};
    request.operation.deadline = admitted->deadline;
    way.template run<OneOperation<Op>>(context, stop, AsItIs(), context.cluster(), request,
                                       *admitted);
  }

 private:
  const protocol::OwnedOperation operation_;
  const Timeout timeout_;
  std::optional<Error> wrong_;
  const bool may_lag_;
};

template <class Op>
Call<typename Op::Out> later(Origin origin, KeyRequest request) {
  const Stop stop = request.stop;
  return prepare_in_place<typename Op::Out, OneOperation<Op>, LaterOperation<Op>>(
      std::move(origin), stop, std::move(request));
}

}  // namespace sheaf::client::calls

#include "client/compute/compute_call.h"

#include <utility>

namespace sheaf::client::compute {

ComputeCall::ComputeCall(calls::WorkEnd& end, ComputeService& service,
                         const calls::KeyRequest& request, const calls::Admission& admission,
                         Terms terms, AsyncCompute&& function)
    : end_(end),
      service_(service),
      terms_(std::move(terms)),
      times_{admission.started, admission.deadline, admission.deadline - admission.started},
      function_(std::make_shared<const AsyncCompute>(std::move(function))),
      read_(static_cast<calls::WorkEnd&>(*this), service.context, request, admission) {}

void ComputeCall::cancel(Now now) {
  switch (stage_) {
    case Stage::reading:
      return read_.cancel(now);
    case Stage::joining:
      return join_->cancel(now);
    case Stage::leading:
      return leader_->cancel(now);
  }
}

void ComputeCall::ended() {
  if (stage_ == Stage::reading) {
    Result<GetResult> got = read_.take();
    if (!got) return finish(Failure(std::move(got.error())));
    if (!*got) return join(service_.now());
    return finish(Claim{std::move(**got), {}, {}});
  }
  Result<Claim> claim = join_->take();
  if (!claim || !claim->right) return finish(std::move(claim));
  stage_ = Stage::leading;
  AsyncLeader::begin(service_, *this, terms_, std::move(*claim->right), times_, function_, leader_,
                     service_.now());
}

void ComputeCall::join(Now now) {
  stage_ = Stage::joining;
  join_.emplace(static_cast<calls::WorkEnd&>(*this), service_, terms_,
                JoinTimes{times_.started, times_.begin_by}, calls::Form::asynchronous);
  join_->start(now);
}

void ComputeCall::on_led(Result<Value> out, Now) {
  if (!out) return finish(Failure(std::move(out.error())));
  finish(Claim{std::move(*out), {}, {}});
}

void ComputeCall::finish(Out out) {
  out_.emplace(std::move(out));
  end_.ended();
}

// The dispatcher may hold the function, too; the last owner destroys it.
ComputeCall::Out ComputeCall::take() {
  service_.context.dispatcher().deliver([function = std::move(function_)] {});
  return std::move(*out_);
}

}  // namespace sheaf::client::compute

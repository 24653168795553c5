#pragma once

// ComputeCall: a whole asynchronous get_or_compute as a Work.
//
// | stage     | ends with                  | next                                         |
// |-----------|----------------------------|----------------------------------------------|
// | reading   | a value, an error          | the end                                      |
// | reading   | absent                     | joining                                      |
// | joining   | a value, an error          | the end                                      |
// | joining   | the right to compute       | leading                                      |
// | leading   | a value, an error          | the end                                      |
// | leading   | another took the right     | joining                                      |
//
// The user's function is destroyed by the dispatcher.
//
// Thread rule: as every Work.

#include <cstdint>
#include <memory>
#include <optional>

#include "client/calls/call.h"
#include "client/compute/async_leader.h"
#include "client/compute/compute_works.h"

namespace sheaf::client::compute {

class ComputeCall final : private calls::WorkEnd, private AsyncLeader::Caller {
 public:
  using Out = Result<Claim>;  // without a right

  // `request` reads the key of `terms`.
  ComputeCall(calls::WorkEnd& end, ComputeService& service, const calls::KeyRequest& request,
              const calls::Admission& admission, Terms terms, AsyncCompute&& function);

  void start(Now now) { read_.start(now); }
  void cancel(Now now);
  Out take();

 private:
  enum class Stage : std::uint8_t { reading, joining, leading };
  void ended() override;  // the read, or the join
  void on_led(Result<Value> out, Now now) override;
  void on_taken(Now now) override { join(now); }
  void join(Now now);
  void finish(Out out);

  calls::WorkEnd& end_;
  ComputeService& service_;
  const Terms terms_;
  const AsyncLeader::Times times_;
  std::shared_ptr<const AsyncCompute> function_;
  Stage stage_ = Stage::reading;
  calls::OneOperation<runtime::GetOp> read_;
  std::optional<JoinFlight> join_;
  AsyncLeader* leader_ = nullptr;
  std::optional<Out> out_;
};

}  // namespace sheaf::client::compute

#pragma once

// Connects the sessions of one client to engines in this process. An endpoint's port is the index
// of its engine.
//
// Thread rule: belongs to one loop.

#include <expected>
#include <memory>
#include <string>

#include "store/pipe/pipe_lane.h"

namespace sheaf::store::pipe {

class PipeDialer final : public socket::Dialer {
 public:
  PipeDialer(socket::DrivenLoop& loop, Engines engines)
      : lane_(std::make_shared<PipeLane>(loop, std::move(engines))) {}

  std::unique_ptr<socket::Dial> dial(const socket::Endpoint& endpoint, Deadline deadline,
                                     socket::DialSink& dial_sink,
                                     socket::StreamSink& stream_sink) override;

 private:
  std::shared_ptr<PipeLane> lane_;  // streams may outlive the dialer
};

}  // namespace sheaf::store::pipe

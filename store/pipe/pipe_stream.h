#pragma once

// A connection to an engine in this process. write() runs the engine on the caller's thread. The
// sink gets the answer as deferred work of the same turn.
//
// Thread rule: belongs to one loop. Other threads only put its address into the lane's mailbox.

#include <memory>

#include "store/pipe/pipe_lane.h"

namespace sheaf::store::pipe {

class PipeStream final : public socket::Stream, public socket::Deferred {
 public:
  // `connection` is a new one of the lane's engine `index`, which `guard` holds. The engine knows
  // the stream from now on.
  PipeStream(std::shared_ptr<PipeLane> lane, std::size_t index, SharedEngine::Guard& guard,
             server::Host::Connection& connection, socket::StreamSink& sink);
  ~PipeStream() override;
  PipeStream(const PipeStream&) = delete;
  PipeStream& operator=(const PipeStream&) = delete;

  std::size_t write(std::span<const Bytes> parts) override;
  PipeLane& lane() { return *lane_; }

 private:
  void run_deferred(Now now) override;
  struct Step {
    std::size_t taken = 0;  // bytes moved into the space
    bool more = false;      // output is left
    bool over = false;      // the engine has ended the connection
    bool room = false;      // there is room for input
  };
  Step take_output(std::span<std::byte> space, Now now);
  void end(Now now);

  std::shared_ptr<PipeLane> lane_;
  std::size_t index_;
  SharedEngine& engine_;
  server::Host::Connection* connection_;  // null once the engine has ended it
  socket::StreamSink& sink_;
  bool blocked_ = false;  // the last write took only a part
  bool* gone_ = nullptr;  // set during calls of the sink, which may destroy this stream
};

}  // namespace sheaf::store::pipe

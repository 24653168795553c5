#include "store/pipe/pipe_dialer.h"

#include <utility>

#include "store/pipe/pipe_stream.h"

namespace sheaf::store::pipe {
namespace {

// Takes no time, but results may only come from a turn.
class PipeDial final : public socket::Dial, private socket::Deferred {
 public:
  PipeDial(std::shared_ptr<PipeLane> lane, std::size_t index, socket::DialSink& dial_sink,
           socket::StreamSink& stream_sink)
      : lane_(std::move(lane)), index_(index), dial_sink_(dial_sink), stream_sink_(stream_sink) {
    lane_->loop().defer(*this);
  }
  ~PipeDial() override { lane_->loop().forget(*this); }
  PipeDial(const PipeDial&) = delete;
  PipeDial& operator=(const PipeDial&) = delete;

 private:
  void run_deferred(Now now) override {
    SharedEngine* engine = lane_->engine(index_);
    if (engine == nullptr) {
      dial_sink_.on_dial_failed({"there is no embedded engine " + std::to_string(index_)}, now);
      return;
    }
    if (auto stream = connect(*engine, now)) {
      dial_sink_.on_connected(std::move(stream), now);
    } else {
      dial_sink_.on_dial_failed({"the embedded engine has too many connections"}, now);
    }
  }

  std::unique_ptr<socket::Stream> connect(SharedEngine& engine, Now now) {
    SharedEngine::Guard guard(engine, *lane_, now);
    server::Host::Connection* connection = guard.host().connect(guard.now());
    if (connection == nullptr) return nullptr;
    lane_->touch(index_);
    return std::make_unique<PipeStream>(lane_, index_, guard, *connection, stream_sink_);
  }

  std::shared_ptr<PipeLane> lane_;
  std::size_t index_;
  socket::DialSink& dial_sink_;
  socket::StreamSink& stream_sink_;
};

}  // namespace

std::unique_ptr<socket::Dial> PipeDialer::dial(const socket::Endpoint& endpoint, Deadline,
                                               socket::DialSink& dial_sink,
                                               socket::StreamSink& stream_sink) {
  return std::make_unique<PipeDial>(lane_, endpoint.port, dial_sink, stream_sink);
}

}  // namespace sheaf::store::pipe

#include "client/runtime/dialer_factory.h"

#include "client/runtime/outcomes.h"
#include "store/pipe/pipe_dialer.h"

namespace sheaf::client::runtime {
namespace {

class LoopPoster final : public store::pipe::Poster {
 public:
  explicit LoopPoster(socket::UvLoop& loop) : loop_(loop) {}
  void post(socket::Deferred& work) noexcept override { loop_.summon(work); }
  void cancel(socket::Deferred& work) noexcept override { loop_.dismiss(work); }

 private:
  socket::UvLoop& loop_;
};

// The pipe's streams call the poster, so it goes after them: with the dialer, which the client
// destroys after its cluster.
class EmbeddedDialer final : public socket::Dialer {
 public:
  EmbeddedDialer(socket::UvLoop& loop, store::pipe::Engines engines)
      : poster_(loop), pipe_(loop, poster_, std::move(engines)) {}
  std::unique_ptr<socket::Dial> dial(const socket::Endpoint& endpoint, Deadline deadline,
                                     socket::DialSink& dial_sink,
                                     socket::StreamSink& stream_sink) override {
    return pipe_.dial(endpoint, deadline, dial_sink, stream_sink);
  }

 private:
  LoopPoster poster_;
  store::pipe::PipeDialer pipe_;
};

Failure wrong(std::string text) {
  return Failure(local_error(Outcome::invalid, Reason::bad_configuration, std::move(text)));
}

}  // namespace

Result<std::unique_ptr<socket::Dialer>> make_dialer(const ClusterConfig& config,
                                                    socket::UvLoop& loop) {
  if (config.kind != EndpointKind::embedded) return loop.tcp_dialer();
  store::EngineOptions options;
  for (const auto& [name, value] : config.engine_options) {
    if (auto set = options.set(name, value); !set) return wrong(std::move(set.error()));
  }
  auto engines = store::pipe::open_engines(config.embedded_name,
                                           static_cast<unsigned>(config.nodes.size()), options);
  if (!engines) return wrong(std::move(engines.error()));
  return std::unique_ptr<socket::Dialer>(
      std::make_unique<EmbeddedDialer>(loop, std::move(*engines)));
}

}  // namespace sheaf::client::runtime

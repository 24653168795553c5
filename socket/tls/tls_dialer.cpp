#include "socket/tls/tls_dialer.h"

#include "socket/tls/tls_stream.h"

namespace sheaf::socket::tls {
namespace {

class TlsDial final : public Dial, private DialSink, private HandshakeSink, private TimerSink {
 public:
  TlsDial(Loop& loop, Dialer& inner, std::shared_ptr<const TlsContext> context,
          const Endpoint& endpoint, Deadline deadline, DialSink& dial_sink, StreamSink& stream_sink)
      : dial_sink_(dial_sink),
        deadline_(deadline),
        stream_(new TlsStream(loop, std::move(context), endpoint.host, *this, stream_sink)),
        timer_(loop.timer(*this)),
        inner_(inner.dial(endpoint, deadline, *this, *stream_)) {}

 private:
  void on_connected(std::unique_ptr<Stream> stream, Now now) override {
    timer_->set(deadline_);
    stream_->start(std::move(stream), now);
    inner_.reset();  // it calls us: the last thing here
  }
  void on_dial_failed(std::string text, Now now) override {
    dial_sink_.on_dial_failed(std::move(text), now);
  }
  void on_secured(Now now) override {
    timer_->cancel();
    dial_sink_.on_connected(std::move(stream_), now);
  }
  void on_handshake_failed(std::string text, Now now) override {
    timer_->cancel();
    dial_sink_.on_dial_failed(std::move(text), now);
  }
  void on_timer(Now now) override {
    stream_.reset();
    dial_sink_.on_dial_failed("TLS: the handshake timed out", now);
  }

  DialSink& dial_sink_;
  const Deadline deadline_;
  std::unique_ptr<TlsStream> stream_;  // until it is handed out
  std::unique_ptr<Timer> timer_;
  std::unique_ptr<Dial> inner_;  // null: connected
};

class TlsDialer final : public Dialer {
 public:
  TlsDialer(Loop& loop, std::unique_ptr<Dialer> inner, std::shared_ptr<const TlsContext> context)
      : loop_(loop), inner_(std::move(inner)), context_(std::move(context)) {}
  std::unique_ptr<Dial> dial(const Endpoint& endpoint, Deadline deadline, DialSink& dial_sink,
                             StreamSink& stream_sink) override {
    return std::make_unique<TlsDial>(loop_, *inner_, context_, endpoint, deadline, dial_sink,
                                     stream_sink);
  }

 private:
  Loop& loop_;
  std::unique_ptr<Dialer> inner_;
  std::shared_ptr<const TlsContext> context_;
};

}  // namespace

std::unique_ptr<Dialer> make_tls_dialer(Loop& loop, std::unique_ptr<Dialer> inner,
                                        std::shared_ptr<const TlsContext> context) {
  return std::make_unique<TlsDialer>(loop, std::move(inner), std::move(context));
}

}  // namespace sheaf::socket::tls

#include "socket/tls/tls_dialer.h"

#include <chrono>
#include <utility>

#include "socket/own_pause.h"
#include "socket/tls/tls_stream.h"

namespace sheaf::socket::tls {
namespace {

// The code that dialed may give up at its deadline, and knows less about the reason.
constexpr std::chrono::milliseconds before_deadline{1};

// What all dials of a dialer share.
struct Ways {
  Loop& loop;
  Dialer& inner;
  TlsFiles& files;
};

class TlsDial final : public Dial, private DialSink, private HandshakeSink, private TimerSink {
 public:
  TlsDial(const Ways& ways, const Endpoint& endpoint, Deadline deadline, DialSink& dial_sink,
          StreamSink& stream_sink)
      : ways_(ways),
        endpoint_(endpoint),
        deadline_(deadline),
        dial_sink_(dial_sink),
        stream_sink_(stream_sink),
        context_(ways.files.context()),
        server_(endpoint.host + ":" + std::to_string(endpoint.port)),
        timer_(ways.loop.timer(*this)) {
    dial();
  }

 private:
  void dial() {
    stream_.reset(
        new TlsStream(ways_.loop, context_, endpoint_.host, server_, *this, stream_sink_));
    inner_ = ways_.inner.dial(endpoint_, deadline_, *this, *stream_);
    timer_->set(deadline_ - before_deadline);
  }
  void on_connected(std::unique_ptr<Stream> stream, Now now) override {
    timer_->set(deadline_ - before_deadline);
    stream_->start(std::move(stream), now);
    inner_.reset();  // it is our caller, so this comes last
  }
  void on_dial_failed(DialFailure why, Now now) override {
    dial_sink_.on_dial_failed(std::move(why), now);
  }
  void on_secured(Now now) override {
    timer_->cancel();
    dial_sink_.on_connected(std::move(stream_), now);
  }
  void on_handshake_failed(DialFailure why, Now now) override {
    timer_->cancel();
    if (stream_->resumes()) {
      // Some servers issue tickets that they do not accept.
      context_->tickets().distrust(server_);
      dial();
      return;
    }
    stream_->found_useless();
    fail(std::move(why), now);
  }
  void on_timer(Now now) override {
    if (const auto excused = excused_deadline(ways_.loop, now)) {
      deadline_ = *excused;
      timer_->set(deadline_ - before_deadline);
      return;
    }
    if (inner_ != nullptr) return;  // it knows why it is not connected, and has the same deadline
    const bool silent = stream_->silent();
    stream_->found_useless();
    stream_.reset();
    fail({silent ? "TLS: the server did not answer the handshake in time; a server without TLS may "
                   "behave like this"
                 : "TLS: the handshake timed out"},
         now);
  }
  void fail(DialFailure why, Now now) {
    why.not_understood = true;
    const std::string& fault = ways_.files.fault();
    if (!fault.empty()) why.text += "; new files were not taken: " + fault;
    dial_sink_.on_dial_failed(std::move(why), now);
  }

  const Ways ways_;
  const Endpoint endpoint_;
  Deadline deadline_;
  DialSink& dial_sink_;
  StreamSink& stream_sink_;
  const std::shared_ptr<const TlsContext> context_;
  const std::string server_;  // the name under which tickets are kept
  std::unique_ptr<Timer> timer_;
  std::unique_ptr<TlsStream> stream_;  // until it is handed out
  std::unique_ptr<Dial> inner_;        // null once connected
};

class TlsDialer final : public Dialer {
 public:
  TlsDialer(Loop& loop, std::unique_ptr<Dialer> inner, std::unique_ptr<TlsFiles> files)
      : loop_(loop), inner_(std::move(inner)), files_(std::move(files)) {}
  std::unique_ptr<Dial> dial(const Endpoint& endpoint, Deadline deadline, DialSink& dial_sink,
                             StreamSink& stream_sink) override {
    return std::make_unique<TlsDial>(Ways{loop_, *inner_, *files_}, endpoint, deadline, dial_sink,
                                     stream_sink);
  }
  std::optional<std::chrono::milliseconds> certificate_end() override {
    return files_->context()->certificate_end();
  }

 private:
  Loop& loop_;
  std::unique_ptr<Dialer> inner_;
  std::unique_ptr<TlsFiles> files_;
};

}  // namespace

std::unique_ptr<Dialer> make_tls_dialer(Loop& loop, std::unique_ptr<Dialer> inner,
                                        std::unique_ptr<TlsFiles> files) {
  return std::make_unique<TlsDialer>(loop, std::move(inner), std::move(files));
}

}  // namespace sheaf::socket::tls

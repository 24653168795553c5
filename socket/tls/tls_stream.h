#pragma once

// TlsStream: stands between a stream of bytes and the sink of a session. To the one it is the sink,
// to the other the stream.
//
// Thread rule: belongs to one lane.

#include <memory>
#include <string>

#include "socket/seam.h"
#include "socket/tls/tls_session.h"

namespace sheaf::socket::tls {

// Who waits for the handshake. Gets one call, and may destroy the stream in it.
class HandshakeSink {
 public:
  virtual void on_secured(Now now) = 0;
  virtual void on_handshake_failed(DialFailure why, Now now) = 0;

 protected:
  ~HandshakeSink() = default;
};

class TlsStream final : public Stream, public StreamSink, private Deferred, private TimerSink {
 public:
  // `host` and `server`: as for TlsSession.
  TlsStream(Loop& loop, std::shared_ptr<const TlsContext> context, const std::string& host,
            std::string server, HandshakeSink& handshake_sink, StreamSink& sink);
  ~TlsStream() override;
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  // The connection stands: begins the handshake on it.
  void start(std::unique_ptr<Stream> inner, Now now);

  // To the session's sink.
  std::size_t write(std::span<const Bytes> parts) override;
  std::string_view failure() const override {
    return error_ != 0 ? std::string_view() : session_.failure();
  }
  bool refused() const override { return error_ == 0 && session_.refused(); }
  Encryption encryption() const override {
    return {session_.encryption(), session_.certificate_end()};
  }
  bool resumes() const noexcept { return session_.resumes(); }
  // Nothing has come from the peer.
  bool silent() const noexcept { return silent_; }

 private:
  // From the inner stream.
  std::span<std::byte> read_space() override;
  void on_read(std::size_t size, Now now) override;
  void on_writable(Now now) override;
  void on_closed(int error, Now now) override;
  bool expecting() const override { return handshake_sink_ != nullptr || sink_.expecting(); }

  void run_deferred(Now now) override { proceed(now); }
  void on_timer(Now now) override { proceed(now); }
  void flush();
  void proceed(Now now);
  bool end_handshake(Now now, const bool& gone);
  bool deliver(Now now, const bool& gone);
  bool report_room(Now now, const bool& gone);
  void report_end(Now now);

  Loop& loop_;
  TlsSession session_;
  HandshakeSink* handshake_sink_;  // null: the handshake has ended
  StreamSink& sink_;
  std::unique_ptr<Timer> retry_;  // offers plaintext again to a sink that had no space for it
  std::unique_ptr<Stream> inner_;
  bool silent_ = true;
  bool* guard_ = nullptr;  // while a sink is called: becomes true if it destroys this stream
  bool blocked_ = false;   // the inner stream took less than all
  bool owed_ = false;      // we took less than all: the sink hears when there is room
  bool cut_ = false;       // the inner stream has ended
  bool ended_ = false;     // the sink has had its last call
  int error_ = 0;          // of the inner stream
};

}  // namespace sheaf::socket::tls

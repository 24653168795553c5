#pragma once

// TlsStream: a layer between a byte stream and a session's sink. It is the sink of the stream and
// the stream of the sink.
//
// Thread rule: belongs to one lane.

#include <memory>
#include <string>

#include "socket/seam.h"
#include "socket/tls/tls_session.h"

namespace sheaf::socket::tls {

// Waits for the handshake. It gets one call, in which it may destroy the stream.
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

  // The connection is established: begins the handshake on it.
  void start(std::unique_ptr<Stream> inner, Now now);

  // The Stream of the session's sink.
  std::size_t write(std::span<const Bytes> parts) override;
  std::string_view failure() const override {
    return error_ != 0 ? std::string_view() : session_.failure();
  }
  bool refused() const override { return error_ == 0 && session_.refused(); }
  Encryption encryption() const override {
    return {session_.encryption(), session_.certificate_end()};
  }
  bool resumes() const noexcept { return session_.resumes(); }
  // True if nothing has come from the peer.
  bool silent() const noexcept { return silent_; }

 private:
  // The StreamSink of the inner stream.
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
  HandshakeSink* handshake_sink_;  // null after the handshake
  StreamSink& sink_;
  std::unique_ptr<Timer> retry_;  // offers plaintext again to a sink that had no space for it
  std::unique_ptr<Stream> inner_;
  bool silent_ = true;
  bool* guard_ = nullptr;  // set while a sink is called: becomes true if it destroys this stream
  bool blocked_ = false;   // the inner stream took only a part
  bool owed_ = false;      // we took only a part: the sink must be notified of room
  bool cut_ = false;       // the inner stream has ended
  bool ended_ = false;     // the sink has had its last call
  int error_ = 0;          // of the inner stream
};

}  // namespace sheaf::socket::tls

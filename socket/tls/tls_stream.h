#pragma once

// TlsStream: a layer between a byte stream and a session's sink. It is the sink of the stream and
// the stream of the sink.
//
// | phase       | input                           | then                      | next        |
// |-------------|---------------------------------|---------------------------|-------------|
// | waiting     | start()                         | begins the handshake      | handshaking |
// | handshaking | the handshake is complete       | HandshakeSink::on_secured | open        |
// | handshaking | it failed, or the inner stream  | on_handshake_failed       | ended       |
// |             | ended                           |                           |             |
// | open        | plaintext                       | StreamSink::on_read       | open        |
// | open        | room, after write() took a part | on_writable               | open        |
// | open        | the TLS session is over         | on_closed                 | ended       |
//
// Thread rule: belongs to one lane.

#include <cstdint>
#include <memory>
#include <optional>
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
    return error() != 0 ? std::string_view() : session_.failure();
  }
  bool refused() const override { return error() == 0 && session_.refused(); }
  Encryption encryption() const override {
    return {session_.encryption(), session_.certificate_end()};
  }
  void found_useless() override {
    if (inner_ != nullptr) inner_->found_useless();
  }
  bool resumes() const noexcept { return session_.resumes(); }
  // True if nothing has come from the peer.
  bool silent() const noexcept { return silent_; }

 private:
  enum class Phase : std::uint8_t { waiting, handshaking, open, ended };

  // The StreamSink of the inner stream.
  std::span<std::byte> read_space() override;
  void on_read(std::size_t size, Now now) override;
  void on_writable(Now now) override;
  void on_closed(int error, Now now) override;
  bool expecting() const override { return phase_ == Phase::handshaking || sink_.expecting(); }

  int error() const noexcept { return cut_.value_or(0); }
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
  HandshakeSink& handshake_sink_;  // until `open`
  StreamSink& sink_;
  std::unique_ptr<Timer> retry_;  // offers plaintext again to a sink that had no space for it
  std::unique_ptr<Stream> inner_;
  Phase phase_ = Phase::waiting;
  bool silent_ = true;
  bool* guard_ = nullptr;   // set while a sink is called: becomes true if it destroys this stream
  bool blocked_ = false;    // the inner stream took only a part
  bool owed_ = false;       // we took only a part: the sink must be notified of room
  std::optional<int> cut_;  // the inner stream has ended, with this error
};

}  // namespace sheaf::socket::tls

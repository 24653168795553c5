#include "socket/tls/tls_stream.h"

#include <cerrno>
#include <cstring>
#include <utility>

namespace sheaf::socket::tls {
namespace {

// A sink without space is asked again in a later turn, because this turn would never end.
constexpr std::chrono::milliseconds retry_after{1};

}  // namespace

TlsStream::TlsStream(Loop& loop, std::shared_ptr<const TlsContext> context, const std::string& host,
                     std::string server, HandshakeSink& handshake_sink, StreamSink& sink)
    : loop_(loop),
      session_(std::move(context), host, std::move(server)),
      handshake_sink_(handshake_sink),
      sink_(sink),
      retry_(loop.timer(*this)) {}

TlsStream::~TlsStream() {
  if (guard_ != nullptr) *guard_ = true;
  loop_.forget(*this);
  // Best effort: what the kernel does not take at once is lost.
  if (phase_ == Phase::waiting || cut_) return;
  session_.close();
  flush();
}

void TlsStream::start(std::unique_ptr<Stream> inner, Now now) {
  inner_ = std::move(inner);
  phase_ = Phase::handshaking;
  session_.start(now);
  flush();
  loop_.defer(*this);  // it may have failed already
}

std::size_t TlsStream::write(std::span<const Bytes> parts) {
  if (phase_ == Phase::ended || owed_) return 0;
  std::size_t total = 0;
  for (const Bytes part : parts) total += part.size();
  std::size_t taken = 0;
  std::size_t offset = 0;
  // Fills the buffer as often as the inner stream takes it.
  while (taken < total) {
    std::size_t some = 0;
    if (offset > 0) {
      const Bytes rest[] = {parts.front().subspan(offset)};
      some = session_.write(rest);
    } else {
      some = session_.write(parts);
    }
    flush();
    if (some == 0) break;
    taken += some;
    for (offset += some; !parts.empty() && offset >= parts.front().size();) {
      offset -= parts.front().size();
      parts = parts.subspan(1);
    }
  }
  owed_ = taken < total;
  if (owed_ && session_.state() != TlsSession::State::open) loop_.defer(*this);
  return taken;
}

void TlsStream::flush() {
  while (!blocked_ && !cut_) {
    const Bytes bytes = session_.output();
    if (bytes.empty()) return;
    const Bytes parts[] = {bytes};
    const std::size_t taken = inner_->write(parts);
    blocked_ = taken < bytes.size();
    if (taken > 0) session_.on_output(taken);
  }
}

std::span<std::byte> TlsStream::read_space() {
  if (phase_ == Phase::ended) return {};
  return session_.input_space();
}

void TlsStream::on_read(std::size_t size, Now now) {
  silent_ = false;
  session_.on_input(size);
  proceed(now);
}

void TlsStream::on_writable(Now now) {
  blocked_ = false;
  proceed(now);
}

void TlsStream::on_closed(int error, Now now) {
  cut_ = error;
  session_.on_eof();
  proceed(now);
}

// Reports to the sinks everything that has happened. Called only from the loop.
void TlsStream::proceed(Now now) {
  if (phase_ == Phase::waiting || phase_ == Phase::ended) return;
  bool gone = false;
  guard_ = &gone;
  flush();
  if (phase_ == Phase::handshaking && !end_handshake(now, gone)) return;
  if (phase_ == Phase::open) {
    if (!deliver(now, gone)) return;
    flush();
    if (!report_room(now, gone)) return;
    report_end(now);
    if (gone) return;
  }
  guard_ = nullptr;
}

// Returns false if this stream is gone or is about to be.
bool TlsStream::end_handshake(Now now, const bool& gone) {
  switch (session_.state()) {
    case TlsSession::State::handshaking:
      return true;
    case TlsSession::State::open:
    case TlsSession::State::ended:
      phase_ = Phase::open;
      handshake_sink_.on_secured(now);
      return !gone;
    case TlsSession::State::failed:
      break;
  }
  phase_ = Phase::ended;
  std::string text = session_.failure();
  if (error() != 0) text += std::string(": ") + std::strerror(error());
  handshake_sink_.on_handshake_failed({std::move(text), refused()}, now);
  if (!gone) guard_ = nullptr;
  return false;
}

// Decrypts straight into the sink's space. Returns false if the sink destroyed this stream.
bool TlsStream::deliver(Now now, const bool& gone) {
  while (session_.state() == TlsSession::State::open) {
    const std::span<std::byte> space = sink_.read_space();
    if (space.empty()) {
      if (session_.unread() || cut_) retry_->set(now.mono + retry_after);
      return true;
    }
    const std::size_t size = session_.read(space);
    if (size == 0) return true;
    sink_.on_read(size, now);
    if (gone) return false;
    // OpenSSL takes nearly as long to say that there is nothing as to decrypt a reply.
    if (!session_.unread() && !cut_) return true;
  }
  return true;
}

bool TlsStream::report_room(Now now, const bool& gone) {
  if (!owed_ || blocked_ || session_.state() != TlsSession::State::open || cut_) return true;
  owed_ = false;
  sink_.on_writable(now);
  return !gone;
}

void TlsStream::report_end(Now now) {
  const auto state = session_.state();
  if (state == TlsSession::State::open || state == TlsSession::State::handshaking) return;
  phase_ = Phase::ended;
  retry_->cancel();
  // The network's error is closer to the cause than the missing end of the TLS session.
  const int ours = state == TlsSession::State::ended ? 0 : EPROTO;
  sink_.on_closed(error() != 0 && ours != 0 ? error() : ours, now);
}

}  // namespace sheaf::socket::tls

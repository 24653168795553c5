#include "cli/listing/server_stream.h"

#include <cstring>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "base/secret.h"
#include "socket/dial/network_dialer.h"

namespace sheaf::cli {

ServerStream::ServerStream(std::unique_ptr<socket::UvLoop> loop,
                           std::unique_ptr<socket::Dialer> dialer,
                           std::chrono::milliseconds patience) noexcept
    : loop_(std::move(loop)), dialer_(std::move(dialer)), patience_(patience) {}

std::expected<std::unique_ptr<ServerStream>, std::string> ServerStream::connect(
    const ClusterConfig& config, const NodeConfig& server, std::chrono::milliseconds patience) {
  auto loop = socket::UvLoop::create({config.spin});
  if (!loop) return std::unexpected(std::move(loop.error()));
  auto dialer = socket::make_network_dialer(config, **loop);
  if (!dialer) return std::unexpected(std::move(dialer.error().text));
  std::unique_ptr<ServerStream> stream(
      new ServerStream(std::move(*loop), std::move(*dialer), patience));
  stream->dial_ = stream->dialer_->dial({server.host, server.port},
                                        stream->loop_->refresh().mono + patience, *stream, *stream);
  auto connected = stream->wait([&] { return stream->stream_ != nullptr; });
  if (!connected) return std::unexpected(std::move(connected.error()));
  return stream;
}

std::expected<void, std::string> ServerStream::send(std::string_view bytes) {
  output_.append(bytes);
  on_writable(loop_->refresh());
  auto sent = wait([&] { return output_.empty(); });
  wipe(output_);  // it may have been a password
  return sent;
}

std::expected<void, std::string> ServerStream::receive(std::string& text) {
  if (filled_ == 0) {
    if (auto waited = wait([&] { return filled_ > 0; }); !waited) return waited;
  }
  text.append(as_text(Bytes(input_).first(filled_)));
  filled_ = 0;
  return {};
}

template <class Done>
std::expected<void, std::string> ServerStream::wait(const Done& done) {
  const Deadline end = loop_->refresh().mono + patience_;
  while (!done()) {
    if (!failure_.empty()) return std::unexpected(failure_);
    if (loop_->refresh().mono >= end) return std::unexpected("it does not answer");
    loop_->turn(end);
  }
  return {};
}

void ServerStream::on_connected(std::unique_ptr<socket::Stream> stream, Now) {
  stream_ = std::move(stream);
}

void ServerStream::on_dial_failed(socket::DialFailure why, Now) { failure_ = std::move(why.text); }

// No space while the caller has not taken what arrived: the server waits, and nothing piles up.
std::span<std::byte> ServerStream::read_space() {
  return filled_ == 0 ? std::span<std::byte>(input_) : std::span<std::byte>();
}

void ServerStream::on_read(std::size_t size, Now) { filled_ = size; }

void ServerStream::on_writable(Now) {
  if (output_.empty() || !failure_.empty()) return;
  const Bytes part = as_bytes(output_);
  output_.erase(0, stream_->write({&part, 1}));
}

void ServerStream::on_closed(int error, Now) {
  failure_ = stream_->failure();
  if (failure_.empty()) failure_ = error == 0 ? "it closed the connection" : std::strerror(error);
}

}  // namespace sheaf::cli

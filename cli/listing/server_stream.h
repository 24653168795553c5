#pragma once

// ServerStream: a connection of the program's own to one server, over TCP, TLS or a Unix socket,
// for what the sessions of the client do not carry. Its calls block.
//
// Thread rule: one thread.

#include <array>
#include <chrono>
#include <cstddef>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include <sheaf/cluster_config.h>

#include "socket/seam.h"
#include "socket/uv/uv_loop.h"

namespace sheaf::cli {

class ServerStream final : private socket::DialSink, private socket::StreamSink {
 public:
  // `config`: how its servers are reached. `patience` bounds the connect and each wait. An error is
  // one clause.
  static std::expected<std::unique_ptr<ServerStream>, std::string> connect(
      const ClusterConfig& config, const NodeConfig& server, std::chrono::milliseconds patience);

  std::expected<void, std::string> send(std::string_view bytes);
  // Appends what has arrived; waits for at least one byte.
  std::expected<void, std::string> receive(std::string& text);

 private:
  ServerStream(std::unique_ptr<socket::UvLoop> loop, std::unique_ptr<socket::Dialer> dialer,
               std::chrono::milliseconds patience) noexcept;

  // Turns the loop until `done()` or the end of the connection.
  template <class Done>
  std::expected<void, std::string> wait(const Done& done);

  void on_connected(std::unique_ptr<socket::Stream> stream, Now now) override;
  void on_dial_failed(socket::DialFailure why, Now now) override;
  std::span<std::byte> read_space() override;
  void on_read(std::size_t size, Now now) override;
  void on_writable(Now now) override;
  void on_closed(int error, Now now) override;

  static constexpr std::size_t buffer_size = 64 * 1024;

  std::unique_ptr<socket::UvLoop> loop_;
  std::unique_ptr<socket::Dialer> dialer_;
  std::chrono::milliseconds patience_;
  std::string output_;
  std::string failure_;
  std::size_t filled_ = 0;
  std::array<std::byte, buffer_size> input_;
  std::unique_ptr<socket::Dial> dial_;
  std::unique_ptr<socket::Stream> stream_;
};

}  // namespace sheaf::cli

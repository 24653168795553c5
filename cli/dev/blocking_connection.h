#pragma once

// BlockingConnection: a blocking connection to a server of the Redis protocol on 127.0.0.1, for
// tests and tools. It only sends commands and reads replies.
//
// Thread rule: one thread at a time.

#include <chrono>
#include <cstdint>
#include <expected>
#include <initializer_list>
#include <span>
#include <string>

#include "protocol/output_queue.h"
#include "protocol/resp/wire/command_writer.h"
#include "protocol/resp/wire/reply_reader.h"

namespace sheaf::cli {

class BlockingConnection {
 public:
  using Reply = std::expected<protocol::resp::KeptReply, std::string>;
  static constexpr std::chrono::seconds patience{60};

  // `limit` bounds the connect, and later each single send and receive. Errors are sentences.
  static std::expected<BlockingConnection, std::string> open(
      std::uint16_t port, std::chrono::milliseconds limit = patience);
  BlockingConnection(BlockingConnection&& other) noexcept;
  BlockingConnection& operator=(BlockingConnection&&) = delete;
  ~BlockingConnection();

  // The queue for commands; flush() sends it.
  protocol::OutputQueue& output() noexcept { return output_; }
  std::expected<void, std::string> flush();
  // The next reply or push. After an error the connection is unusable.
  Reply read();

  Reply ask(protocol::resp::Command command);
  Reply ask(std::initializer_list<protocol::resp::Argument> command) {
    return ask(protocol::resp::Command(command.begin(), command.size()));
  }
  Reply ask(std::span<const std::string> words);

 private:
  BlockingConnection(int descriptor, std::uint16_t port) : descriptor_(descriptor), port_(port) {}
  std::unexpected<std::string> failure(const std::string& what) const;

  int descriptor_ = -1;
  std::uint16_t port_ = 0;
  protocol::OutputQueue output_;
  protocol::resp::ReplyReader reader_;
  std::string input_;
  std::size_t used_ = 0;  // consumed bytes of input_
};

}  // namespace sheaf::cli

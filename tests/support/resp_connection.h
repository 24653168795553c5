#pragma once

// RespConnection: BlockingConnection for tests. Errors are thrown as std::runtime_error, and each
// reply is available as one line of text.
//
// Thread rule: one thread at a time.

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cli/dev/blocking_connection.h"
#include "protocol/resp/greeting/handshake.h"
#include "tests/protocol/resp/reply_text.h"

namespace sheaf::test {

class RespConnection {
 public:
  using Words = std::vector<std::string>;
  using KeptReply = protocol::resp::KeptReply;

  explicit RespConnection(std::uint16_t port)
      : connection_(checked(cli::BlockingConnection::open(port))) {}

  KeptReply ask(std::initializer_list<protocol::resp::Argument> command) {
    return checked(connection_.ask(command));
  }
  KeptReply ask(const Words& command) { return checked(connection_.ask(command)); }
  // The reply as tests write it: `+OK`, `"value"`, `-MOVED 1 127.0.0.1:7000`, `null`.
  std::string text(std::initializer_list<protocol::resp::Argument> command) {
    return protocol::resp::reply_text(ask(command).root());
  }
  // Sends all commands in one piece; returns the replies in order.
  std::vector<KeptReply> ask_all(const std::vector<Words>& commands) {
    std::vector<std::vector<protocol::resp::Argument>> all;
    for (const Words& words : commands) all.emplace_back(words.begin(), words.end());
    const std::vector<protocol::resp::Command> together(all.begin(), all.end());
    protocol::resp::CommandWriter(connection_.output()).write_together(together);
    flush();
    std::vector<KeptReply> replies;
    while (replies.size() < commands.size()) replies.push_back(read());
    return replies;
  }

  // Carries out the product's handshake to its end.
  protocol::resp::Handshake greet(const protocol::resp::HandshakeOptions& options) {
    protocol::resp::Handshake handshake(options);
    handshake.begin();
    protocol::resp::CommandWriter writer(connection_.output());
    for (handshake.write(writer); handshake.owed() > 0; handshake.write(writer)) {
      flush();
      handshake.on_reply(read().root());
    }
    return handshake;
  }

 private:
  template <class Result>
  static Result checked(std::expected<Result, std::string> result) {
    if (!result) throw std::runtime_error(result.error());
    return *std::move(result);
  }
  void flush() {
    if (const auto sent = connection_.flush(); !sent) throw std::runtime_error(sent.error());
  }
  KeptReply read() { return checked(connection_.read()); }

  cli::BlockingConnection connection_;
};

}  // namespace sheaf::test

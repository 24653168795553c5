#pragma once

/// @file
/// Command: any command of a server of the Redis protocol, for Client::execute.

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sheaf/command_reply.h>
#include <sheaf/options.h>
#include <sheaf/result.h>

namespace sheaf {
inline namespace v0 {

/// A command as its server knows it: its name and its arguments, all of which may hold any bytes.
///
///     client.execute(Command{"ZADD", "scores", "12", "ann"});
///     client.execute(Command{"CUSTOM", "a", "b"}.keys({"b"}));
///     client.execute(Command{"INFO"}.at_node("10.0.0.7:6379"));
///
/// Thread rule: a plain value that owns its texts.
class Command {
 public:
  /// The name comes first; its case does not matter.
  Command(std::initializer_list<std::string_view> words) : words_(words.begin(), words.end()) {}
  explicit Command(std::vector<std::string> words) : words_(std::move(words)) {}

  /// Adds one argument.
  Command& add(std::string word) & {
    words_.push_back(std::move(word));
    return *this;
  }
  /// The same.
  Command&& add(std::string word) && { return std::move(add(std::move(word))); }

  /// Names the keys of the command, for commands whose keys the servers do not report themselves.
  /// All keys must be on one node. An empty list means that any node may run the command, whatever
  /// it is.
  Command& keys(std::vector<std::string> keys) & {
    keys_ = std::move(keys);
    return *this;
  }
  /// The same.
  Command&& keys(std::vector<std::string> names) && { return std::move(keys(std::move(names))); }

  /// Sends the command to this node (`host:port`), whatever its keys. A redirect from that node is
  /// returned as its answer, not followed.
  Command& at_node(std::string identity) & {
    node_ = std::move(identity);
    return *this;
  }
  /// The same.
  Command&& at_node(std::string identity) && { return std::move(at_node(std::move(identity))); }

  /// The name, followed by the arguments.
  const std::vector<std::string>& words() const noexcept { return words_; }
  /// What keys() set; nothing if it was not called.
  const std::optional<std::vector<std::string>>& keys() const noexcept { return keys_; }
  /// What at_node() set; empty if it was not called.
  const std::string& node() const noexcept { return node_; }

 private:
  std::vector<std::string> words_;
  std::optional<std::vector<std::string>> keys_;
  std::string node_;
};

/// What one node answered to Client::execute_on_all.
struct NodeReply {
  std::string node;            ///< Identity, `host:port`.
  Result<CommandReply> reply;  ///< The answer, or the error in its place.
};

/// Options of Client::execute, Client::execute_on_all and Client::execute_many.
struct CommandOptions {
  Timeout timeout{};  ///< See Timeout.
  Stop stop{};        ///< See Stop.
};

}  // namespace v0
}  // namespace sheaf

#pragma once

// FleetInquiry: asks the configuration endpoint of an ElastiCache cluster for the servers of its
// fleet, in memcached's text protocol:
//
//   config get cluster\r\n                  from version 1.4.14 on
//   CONFIG cluster 0 SIZE\r\n               the value has SIZE bytes
//   VERSION\nHOST|ADDRESS|PORT HOST|ADDRESS|PORT ...\n\r\nEND\r\n
//
// If that server does not know the command, it asks again with `get AmazonElastiCache:cluster`,
// whose answer begins with VALUE. The address may be empty.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sheaf::discovery {

struct FleetServer {
  std::string host;
  std::uint16_t port = 0;
  friend bool operator==(const FleetServer&, const FleetServer&) = default;
};

struct Fleet {
  std::uint64_t version = 0;  // grows with every change
  std::vector<FleetServer> servers;
  friend bool operator==(const Fleet&, const Fleet&) = default;

  // Parses the value alone. The error is one sentence.
  static std::expected<Fleet, std::string> parse(std::string_view value);
};

class FleetInquiry {
 public:
  static constexpr std::size_t max_value = 64u << 10;
  static constexpr std::size_t max_servers = 1'000;

  struct Refusal {
    bool by_server = true;  // else its answer cannot be read
    std::string text;       // one sentence
  };

  // The bytes to send now; they are returned once.
  std::string_view take_output();
  // Takes bytes from the server. Bytes that come before the output was taken, or after the end, are
  // ignored.
  void on_input(std::string_view bytes);

  bool over() const noexcept { return result_.has_value(); }
  // Only once it is over.
  std::expected<Fleet, Refusal>& result() noexcept { return *result_; }

 private:
  bool step();
  bool read_head();
  bool read_value();
  void ask_again(std::string_view answer);
  void end_malformed(std::string text);

  std::optional<std::expected<Fleet, Refusal>> result_;
  std::string input_;
  std::optional<std::size_t> size_;  // the value's size, once its head was read
  bool older_ = false;               // the older form was sent
  bool asked_ = false;
};

}  // namespace sheaf::discovery

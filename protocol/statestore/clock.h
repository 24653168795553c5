#pragma once

// Hybrid logical clocks: the version of every value, and the timestamp of every request.
// Text form: wall clock in milliseconds, counter, node; separated by colons.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <array>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/session.h"

namespace sheaf::protocol::statestore {

// How far ahead of a wall clock a timestamp may be, at both ends.
inline constexpr std::chrono::milliseconds max_drift{60'000};
inline constexpr std::size_t max_node_size = 256;
// Other clients keep the counter in a signed 32-bit number and add one to the counters they
// receive.
inline constexpr std::uint64_t max_counter = 2'147'483'646;

// A view: the node is stored elsewhere. Order: wall, counter, node by bytes.
struct Timestamp {
  std::uint64_t wall = 0;  // milliseconds since the Unix epoch
  std::uint64_t counter = 0;
  std::string_view node{};

  friend bool operator==(const Timestamp&, const Timestamp&) = default;
  friend std::strong_ordering operator<=>(const Timestamp&, const Timestamp&) = default;
};

// Parses two numbers of any width and a node, separated by two colons. Nothing if a number has a
// sign, a blank, a fraction or more than 64 bits, or if the node is empty, contains a colon or is
// longer than max_node_size.
std::optional<Timestamp> parse_timestamp(std::string_view text) noexcept;

// How version `a` compares with version `b`.
VersionOrder compare_versions(std::string_view a, std::string_view b) noexcept;

// True if it is more than max_drift ahead of `wall`. Being too old is always fine.
bool too_far_ahead(const Timestamp& timestamp, std::chrono::milliseconds wall) noexcept;

enum class TimestampForm : std::uint8_t {
  padded,   // 15 digits, 5 digits, node: the form that the SDKs send
  unpadded  // the form that the protocol page prints
};

// The text of a timestamp, in place. A node longer than max_node_size is cut.
class TimestampText {
 public:
  TimestampText() = default;
  explicit TimestampText(const Timestamp& timestamp,
                         TimestampForm form = TimestampForm::padded) noexcept;

  std::string_view view() const noexcept { return {text_.data(), size_}; }

 private:
  std::array<char, 42 + max_node_size> text_{};
  std::size_t size_ = 0;
};

// One clock per endpoint (never per process: a fast broker must not drag requests to a slow one). A
// failed call leaves the clock as it was, so that one wild timestamp does not spoil it.
//
// Thread rule: one thread at a time.
class HybridClock {
 public:
  enum class Error : std::uint8_t { too_far_ahead };  // the clock would be over max_drift ahead

  // `node` must not be empty and must have no colon; it is cut at max_node_size.
  explicit HybridClock(std::string node);

  // The next timestamp, greater than all returned and all observed before.
  std::expected<Timestamp, Error> tick(std::chrono::milliseconds wall) noexcept;
  // Adopts a remote timestamp. One with our own node changes nothing.
  std::expected<void, Error> observe(const Timestamp& remote,
                                     std::chrono::milliseconds wall) noexcept;
  // A tick() whose result is also greater than `remote`, whatever its node.
  std::expected<Timestamp, Error> tick_after(const Timestamp& remote,
                                             std::chrono::milliseconds wall) noexcept;
  // True if tick_after() would succeed now.
  bool can_tick_after(const Timestamp& remote, std::chrono::milliseconds wall) const noexcept;
  // Forgets everything: for a client whose timestamps are ahead, because the store said so or
  // because the wall clock was set back.
  void reset() noexcept { last_ = {}; }
  // Continues after a timestamp of an earlier life of this clock, however far ahead of the wall
  // clock. Never moves the clock back.
  void resume(const Timestamp& earlier) noexcept;

  // The newest timestamp. Its node is valid until the clock is moved or destroyed.
  Timestamp last() const noexcept { return {last_.wall, last_.counter, node_}; }

 private:
  struct Point {
    std::uint64_t wall = 0;
    std::uint64_t counter = 0;
  };
  std::expected<Point, Error> next(Point remote, std::chrono::milliseconds wall) const noexcept;
  std::expected<void, Error> advance(Point remote, std::chrono::milliseconds wall) noexcept;

  std::string node_;
  Point last_;
};

}  // namespace sheaf::protocol::statestore

// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/memcached/rules.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.h"
#include "protocol/memcached/header.h"

namespace sheaf::protocol::memcached {
namespace {

// Overhead of an item in a 64-bit server: header, CAS, and the line end after the value.
constexpr std::size_t item_overhead = 48 + 8 + 2;

bool is_blank_or_control(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte <= 0x20 || byte == 0x7f;
}

}  // namespace

std::expected<std::uint32_t, LocalError> expiry_of(std::chrono::milliseconds ttl, Now now,
                                                   std::int64_t last_second) {
  using std::chrono::ceil;
  using std::chrono::seconds;
  if (ttl.count() < 0) return std::unexpected(invalid("the time to live is negative"));
  const auto relative = ceil<seconds>(ttl);
  if (relative <= longest_relative_ttl) return static_cast<std::uint32_t>(relative.count());
  // The server reads a larger number as a point in time.
  const auto too_late = std::chrono::milliseconds(last_second * 1000) - now.wall;
  if (ttl > too_late) {
    return std::unexpected(invalid("the time to live ends after second " +
                                   std::to_string(last_second) +
                                   " of the Unix epoch, the last that the protocol can express"));
  }
  return static_cast<std::uint32_t>(ceil<seconds>(now.wall + ttl).count());
}

// Every key is checked here, so it takes sixteen bytes at a time; the last sixteen may overlap
// those before.
bool is_plain_key(std::string_view key) noexcept {
  using Bytes [[gnu::vector_size(16)]] = unsigned char;
  if (key.size() < sizeof(Bytes)) return std::ranges::none_of(key, is_blank_or_control);
  const auto found_at = [&](std::size_t at) {
    Bytes bytes;
    std::memcpy(&bytes, key.data() + at, sizeof bytes);
    return (bytes <= 0x20) | (bytes == 0x7f);
  };
  const std::size_t last = key.size() - sizeof(Bytes);
  auto found = found_at(last);
  for (std::size_t at = 0; at < last; at += sizeof(Bytes)) found |= found_at(at);
  std::array<std::uint64_t, 2> any{};
  std::memcpy(any.data(), &found, sizeof any);
  return (any[0] | any[1]) == 0;
}

std::optional<LocalError> check_binary_key(std::string_view key) {
  if (key.empty()) return invalid("the key is empty");
  if (key.size() > max_key_length) {
    return too_large("the key", key.size(), "memcached's longest key", max_key_length);
  }
  return std::nullopt;
}

std::optional<LocalError> check_meta_key(std::string_view key) {
  if (auto error = check_binary_key(key)) return error;
  if (key.size() > max_encoded_key && !is_plain_key(key)) {
    return too_large("the key with blanks or control characters", key.size(),
                     "the longest such key of the meta protocol", max_encoded_key);
  }
  return std::nullopt;
}

bool is_listable_key(std::string_view key) noexcept {
  return !key.empty() && key.size() <= max_key_length && is_plain_key(key);
}

std::size_t max_value(std::size_t item_size, std::size_t key_size, std::uint32_t flags) noexcept {
  const std::size_t around = item_overhead + key_size + 1 + (flags != 0 ? sizeof flags : 0);
  return item_size > around ? item_size - around : 0;
}

std::optional<LocalError> check_item(std::size_t item_size, std::size_t key_size,
                                     std::size_t value_size, std::uint32_t flags) {
  const std::size_t longest = max_value(item_size, key_size, flags);
  if (value_size <= longest) return std::nullopt;
  return too_large("the value", value_size, "the largest that fits into an item of the server,",
                   longest);
}

std::optional<std::uint64_t> parse_cas(std::string_view version) noexcept {
  const auto cas = parse_decimal(version);
  return cas == std::uint64_t{0} ? std::nullopt : cas;
}

std::uint64_t cas_of(const Operation& operation) noexcept {
  if (operation.condition != Condition::if_version) return 0;
  return parse_cas(operation.version).value_or(0);
}

bool is_stats_group(std::string_view group) noexcept {
  constexpr std::array<std::string_view, 7> groups{"",      "settings", "items",   "slabs",
                                                   "sizes", "conns",    "extstore"};
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

bool needs_key(Verb verb) noexcept {
  return verb != Verb::get_many && verb != Verb::probe && verb != Verb::server_version &&
         verb != Verb::stats;
}

std::optional<LocalError> bad_combination(const Operation& operation) {
  const Condition condition = operation.condition;
  const bool lives = operation.ttl.count() != 0;
  if (!operation.fence.empty()) return unsupported("memcached does not check fencing tokens");
  if (condition == Condition::if_version && !parse_cas(operation.version)) {
    return invalid("the version was not given by memcached");
  }
  if (operation.verb == Verb::set) {
    if (condition == Condition::if_absent_or_equal || condition == Condition::if_value) {
      return unsupported("memcached compares versions, not values");
    }
    return std::nullopt;
  }
  if (operation.flags != 0) return unsupported("only a set takes flags");
  if (operation.verb == Verb::remove) {
    if (condition != Condition::none && condition != Condition::if_version) {
      return unsupported("memcached can remove always or if the version is the same");
    }
    if (lives) return unsupported("a remove takes no time to live");
    return std::nullopt;
  }
  if (condition != Condition::none) {
    return unsupported("memcached has conditions for set and remove only");
  }
  switch (operation.verb) {
    case Verb::increment:
    case Verb::decrement:
      if (lives && !operation.initial) {
        return invalid("a counter takes a time to live only with its initial value");
      }
      return std::nullopt;
    case Verb::touch:
    case Verb::get_and_touch:
      return std::nullopt;
    case Verb::lease:
      if (operation.ttl.count() <= 0) return invalid("a lease needs a duration");
      return std::nullopt;
    case Verb::stats:
      if (is_stats_group(operation.key)) return std::nullopt;
      return invalid("groups of statistics are settings, items, slabs, sizes, conns, extstore");
    case Verb::get_many:
      if (operation.keys.empty()) return invalid("no keys are given");
      [[fallthrough]];
    case Verb::get:
    case Verb::append:
    case Verb::prepend:
    case Verb::probe:
    case Verb::server_version:
      if (lives) return unsupported("only writes, touches and leases take a time to live");
      return std::nullopt;
    default:
      return unsupported("memcached has no operation \"" + std::string(to_string(operation.verb)) +
                         "\"");
  }
}

std::optional<std::string> bad_login(std::string_view user, std::string_view password) {
  constexpr std::size_t longest = 1024;
  if (user.empty() && !password.empty()) return "there is a password without a user name";
  if (user.size() > longest || password.size() > longest) {
    return "user name or password is longer than 1024 bytes";
  }
  return std::nullopt;
}

}  // namespace sheaf::protocol::memcached

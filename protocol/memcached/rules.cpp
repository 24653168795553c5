// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/memcached/rules.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "protocol/memcached/header.h"

namespace sheaf::protocol::memcached {

bool is_listable_key(std::string_view key) noexcept {
  return !key.empty() && key.size() <= max_key_length && is_plain_key(key);
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

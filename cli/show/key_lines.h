#pragma once

// The lines of `keys` and `ttl`: a key, how long it lives, how large its value is.
//
// Thread rule: pure functions.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sheaf::cli {

// What is asked of each key.
struct KeyColumns {
  bool ttl = false;
  bool size = false;
};

using TimeToLive = std::optional<std::chrono::seconds>;  // none: it never expires

// `size`: of the value in bytes, on memcached of the whole item; none if the server does not say
// it.
struct ListedKey {
  std::string_view key;
  TimeToLive ttl{};
  std::optional<std::uint64_t> size{};
};

// "KEY<TAB>TTL<TAB>SIZE" with `-` for none; a raw key is written as it is, others as a word that
// cannot be confused with another.
std::string key_line(const ListedKey& key, const KeyColumns& columns, bool raw);
// "17", "-"
std::string ttl_text(const TimeToLive& ttl);

}  // namespace sheaf::cli

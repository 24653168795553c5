#pragma once

// What the tests of the meta protocol's get_many share.

#include <array>

#include "tests/protocol/memcached/many_harness.h"

namespace sheaf::protocol::memcached {

inline constexpr std::array kNames = {"k1"sv, "k2"sv, "k3"sv, "k4"sv, "k5"sv, "k6"sv, "k7"sv};
// Of the seven.
inline constexpr const char* kAsked = "gets k1 k2 k3 k4 k5 k6\r\nmg k7 v f c O2\r\n";

// A session that is ready, and one get_many of k1, k2, ...
class MetaList : public Many<MetaWire> {
 protected:
  void ask(std::size_t count) {
    keys.assign(kNames.begin(), kNames.begin() + static_cast<std::ptrdiff_t>(count));
    ticket = wire.submit(many(keys));
  }
  // The reply to the last key, whose opaque is 2, and the end that it is.
  void answer_last() {
    wire.feed("VA 4 f0 c1 O2\r\nlast\r\n");
    expect_item(static_cast<std::uint32_t>(keys.size() - 1), "last");
    expect_whole();
  }
};

// 41 keys of 250 bytes: six lists, and the last. Or some shorter.
inline std::vector<std::string> long_names(std::size_t shorter = 0) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < 41; ++i) {
    names.push_back(std::string(247 - shorter * (i % 3), 'k') + std::to_string(100 + i));
  }
  return names;
}

}  // namespace sheaf::protocol::memcached

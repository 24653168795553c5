#pragma once

// Shared by the tests of the meta protocol's get_many.

#include <array>

#include "tests/protocol/memcached/many_harness.h"

namespace sheaf::protocol::memcached {

inline constexpr std::array key_names = {"k1"sv, "k2"sv, "k3"sv, "k4"sv, "k5"sv, "k6"sv, "k7"sv};
// The request for all seven.
inline constexpr const char* asked_keys = "mg k1 v f c O2\r\ngets k2 k3 k4 k5 k6 k7\r\n";

// A ready session and one get_many of k1, k2, ...
class MetaList : public Many<MetaWire> {
 protected:
  void ask(std::size_t count) {
    keys.assign(key_names.begin(), key_names.begin() + static_cast<std::ptrdiff_t>(count));
    ticket = wire.submit(many(keys));
  }
};

}  // namespace sheaf::protocol::memcached

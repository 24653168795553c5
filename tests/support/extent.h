#pragma once

// How much a test tries that makes many attempts: seeds, kills, rounds.

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace sheaf::test {

inline std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

// `usual`, or the percentage of it that SHEAF_TEST_EXTENT names (tests/run.sh: quick 25, long
// 1000); at least one.
inline std::uint64_t extent_of(std::uint64_t usual) {
  return std::max<std::uint64_t>(usual * number_from_environment("SHEAF_TEST_EXTENT", 100) / 100,
                                 1);
}

}  // namespace sheaf::test

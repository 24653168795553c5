#pragma once

// Which seeds a simulation runs: SHEAF_SIM_SEED=1234 replays one, SHEAF_SIM_SEEDS=100000 runs more.

#include <cstdint>
#include <cstdlib>

#include "tests/support/sanitized.h"

namespace sheaf::sim {

inline std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

// `usual`, a quarter of them under a sanitizer, or as many as the environment says.
inline std::uint64_t seeds_to_run(std::uint64_t usual) {
  return number_from_environment("SHEAF_SIM_SEEDS", test::sanitized ? usual / 4 : usual);
}

}  // namespace sheaf::sim

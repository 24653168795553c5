#pragma once

// Which seeds a simulation runs: SHEAF_SIM_SEED=1234 replays one, SHEAF_SIM_SEEDS=100000 runs more.

#include <cstdint>
#include <cstdlib>

namespace sheaf::sim {

inline std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace sheaf::sim

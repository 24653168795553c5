#pragma once

// Which seeds a simulation runs: SHEAF_SIM_SEED=1234 replays one, SHEAF_SIM_SEEDS=100000 runs more.

#include <cstdint>

#include "tests/support/extent.h"
#include "tests/support/sanitized.h"

namespace sheaf::sim {

using test::number_from_environment;

// `usual` to the extent of the run, fewer of them under a sanitizer, or as many as the
// environment says.
inline std::uint64_t seeds_to_run(std::uint64_t usual) {
  return number_from_environment("SHEAF_SIM_SEEDS", test::extent_of(test::share_of(usual)));
}

}  // namespace sheaf::sim

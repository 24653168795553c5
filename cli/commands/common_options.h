#pragma once

// Options that several commands share.
//
// Thread rule: constants.

#include "cli/line/command_row.h"

namespace sheaf::cli::options {

inline constexpr OptionRow ttl{"--ttl", "DURATION", "time to live, for example 500ms, 10s, 5m, 1h"};
inline constexpr OptionRow persist{"--persist", "", "keep it on the store's disk (mqtt, embedded)"};
inline constexpr OptionRow fence{"--fence", "TOKEN",
                                 "fencing token: the version of a lock's first set"};
inline constexpr OptionRow raw{"--raw", "", "write bytes as they are, even on a terminal"};
inline constexpr OptionRow if_version{"--if-version", "VERSION",
                                      "only if the key still has this version (memcached, redis)"};

}  // namespace sheaf::cli::options

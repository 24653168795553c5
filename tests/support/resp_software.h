#pragma once

// The servers of the Redis protocol that tests start, as a table. Each is the program that its
// variable names, or the one in PATH, /usr/bin or /usr/local/bin. A test of a server that is not
// installed is skipped and says so:
//
//   if (!is_installed(RespSoftware::garnet)) GTEST_SKIP() << not_installed(RespSoftware::garnet);
//
// Thread rule: functions without state.

#include <cstdint>
#include <optional>
#include <string>

namespace sheaf::test {

enum class RespSoftware : std::uint8_t { redis, valkey, garnet };

struct SoftwareTraits {
  RespSoftware software;
  const char* name;      // in names of tests: "Redis"
  const char* program;   // "redis-server"
  const char* named_by;  // the variable that may name another program
};
const SoftwareTraits& traits_of(RespSoftware software);

// The path of its program, if installed.
std::optional<std::string> server_program(RespSoftware software);
inline bool is_installed(RespSoftware software) { return server_program(software).has_value(); }
// The sentence for a skipped test.
std::string not_installed(RespSoftware software);

// The software that an environment variable names, in lower case; nothing if the variable is not
// set. Ends the whole program as skipped, with the sentence, if that software is not installed.
// Throws std::runtime_error if no such software exists.
std::optional<RespSoftware> software_in(const char* variable);
// The software for tests of Redis: Redis, or Valkey if SHEAF_TEST_SOFTWARE names it.
RespSoftware usual_software();

}  // namespace sheaf::test

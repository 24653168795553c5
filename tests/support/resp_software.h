#pragma once

// The servers of the Redis protocol that tests start, as a table. Each is the program that its
// variable names, or the one in PATH, /usr/bin or /usr/local/bin. A test of one that is not there
// is skipped and says so:
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
  const char* named_by;  // the variable that may name another one
};
const SoftwareTraits& traits_of(RespSoftware software);

// The path of its program.
std::optional<std::string> server_program(RespSoftware software);
inline bool is_installed(RespSoftware software) { return server_program(software).has_value(); }
// The sentence for a test that is skipped.
std::string not_installed(RespSoftware software);

// What a variable of the environment names, in small letters; nothing if it is not set. Ends the
// whole program as skipped, with the sentence, if that is not there, and throws std::runtime_error
// if there is no such software.
std::optional<RespSoftware> software_in(const char* variable);
// What tests of Redis run on: Redis, or what SHEAF_TEST_SOFTWARE names in its place, Valkey.
RespSoftware usual_software();

}  // namespace sheaf::test

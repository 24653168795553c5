#pragma once

// Exit codes of the program, and how errors of the client map to them. docs/cli.md has the table.
//
// Thread rule: pure functions and plain values.

#include <cstddef>

#include <sheaf/result.h>

namespace sheaf::cli {

enum class ExitCode : int {
  done = 0,      // Done; for mget: every key has an answer, absent included.
  negative = 1,  // The key is absent, or the condition did not hold.
  usage = 2,     // Usage, invalid key, value, URI or configuration, not supported by the endpoint.
  failed = 3,    // Not reached, timed out, unknown, refused by the server, some keys failed.
};

// What one failed operation means for the caller of the program.
ExitCode exit_code(const Error& error) noexcept;

// Adds up how the keys of a batch ended.
class Tally {
 public:
  void add_success() noexcept { ++answered_; }
  void add_failure(const Error& error) noexcept;

  std::size_t total() const noexcept { return answered_ + misused_ + failed_; }
  std::size_t answered() const noexcept { return answered_; }
  std::size_t failures() const noexcept { return misused_ + failed_; }
  // done if nothing failed; usage if nothing was answered and every failure is the caller's own
  // mistake; failed otherwise.
  ExitCode exit_code() const noexcept;

 private:
  std::size_t answered_ = 0;
  std::size_t misused_ = 0;
  std::size_t failed_ = 0;
};

}  // namespace sheaf::cli

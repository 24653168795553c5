#pragma once

// Exit codes of the program, and how the client's errors map to them and to sentences. docs/cli.md
// has the table.
//
// Thread rule: pure functions and plain values.

#include <cstddef>
#include <string>

#include <sheaf/result.h>

namespace sheaf::cli {

enum class ExitCode : int {
  done = 0,      // Done; for mget: every key has an answer, absent included.
  negative = 1,  // The key is absent, or the condition did not hold.
  usage = 2,     // Usage, invalid key, value, URI or configuration, not supported by the endpoint.
  failed = 3,    // Not reached, timed out, refused by the server; some of several keys may be done.
                 // Or standard output could not be written, whatever was done before.
  unknown = 4,   // A write may have happened, or happen later.
  closed_pipe = 141,  // As if SIGPIPE had ended the program.
};

// As if `signal` had ended the program.
constexpr ExitCode ended_by(int signal) noexcept { return static_cast<ExitCode>(128 + signal); }

// The exit code for one failed operation.
ExitCode exit_code(const Error& error) noexcept;

// "not sent: timed out after 50 ms at b1:1883"; the text alone for an invalid request.
std::string sentence_of(const Error& error);

// Counts how the keys of a batch ended.
class Tally {
 public:
  void add_success() noexcept { ++answered_; }
  void add_failure(const Error& error) noexcept;

  std::size_t total() const noexcept { return answered_ + failures(); }
  std::size_t answered() const noexcept { return answered_; }
  std::size_t failures() const noexcept { return misused_ + failed_ + unknown_; }
  // done if nothing failed; unknown if that is the outcome of any key; usage if nothing was
  // answered and every failure is the caller's mistake; failed otherwise.
  ExitCode exit_code() const noexcept;

 private:
  std::size_t answered_ = 0;
  std::size_t misused_ = 0;
  std::size_t failed_ = 0;
  std::size_t unknown_ = 0;
};

}  // namespace sheaf::cli

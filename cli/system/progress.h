#pragma once

// How a long command shows its progress, and how Ctrl-C ends it between two parts.
//
// Thread rule: one thread.

#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>

namespace sheaf::cli {

// During its lifetime, the first SIGINT or SIGTERM is only recorded, and a second one ends the
// program. Reads of standard input return with EINTR.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // 0: no signal yet.
  static int signal() noexcept;

 private:
  struct sigaction before_[2]{};
};

// One line at the bottom of the terminal of standard error, at most four times a second: how many
// are done, how many per second, and how long the rest will take. Shows nothing if that is not a
// terminal.
class Progress {
 public:
  // `bytes`: the size of the input; 0: unknown.
  Progress(const char* noun, std::uint64_t bytes);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done` things are done; they came from `bytes` bytes of input.
  void show(std::uint64_t done, std::uint64_t bytes);

 private:
  using Clock = std::chrono::steady_clock;

  const char* noun_;
  std::uint64_t bytes_;
  bool shown_;
  Clock::time_point start_;
  Clock::time_point next_;
};

// "12,345"
std::string with_commas(std::uint64_t number);
// The line: "12,345 keys, 4,100 a second, 35 % of the input, 12 s left".
std::string progress_text(const char* noun, std::uint64_t done,
                          std::chrono::duration<double> passed, std::uint64_t read,
                          std::uint64_t bytes);

}  // namespace sheaf::cli

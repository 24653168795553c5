#pragma once

// What a long command shows while it works, and how Ctrl-C ends it between two parts.
//
// Thread rule: one thread.

#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>

namespace sheaf::cli {

// While it lives, SIGINT and SIGTERM do not end the program but are remembered, once: the second
// one ends it. Reads of standard input return with EINTR.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // 0: none came.
  static int signal() noexcept;

 private:
  struct sigaction before_[2]{};
};

// One line at the bottom of the terminal of standard error, at most four times a second: how many
// are done, how many a second, and how long the rest will take. Elsewhere it shows nothing.
class Progress {
 public:
  // `bytes` of input there are in all; 0: nobody knows.
  Progress(const char* noun, std::uint64_t bytes);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // So many things are done, which came from so many bytes of input.
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

#include "cli/system/progress.h"

#include <unistd.h>

#include <cmath>

#include "cli/system/output.h"

namespace sheaf::cli {

namespace {

volatile std::sig_atomic_t interrupted = 0;

constexpr int heeded[] = {SIGINT, SIGTERM};

void remember(int number) {
  interrupted = number;
  struct sigaction usual{};
  usual.sa_handler = SIG_DFL;
  sigaction(number, &usual, nullptr);
}

}  // namespace

Interrupts::Interrupts() {
  interrupted = 0;
  for (int i = 0; i < 2; ++i) {
    sigaction(heeded[i], nullptr, &before_[i]);
    if (before_[i].sa_handler == SIG_IGN) continue;
    struct sigaction ours{};
    ours.sa_handler = remember;
    sigaction(heeded[i], &ours, nullptr);
  }
}

Interrupts::~Interrupts() {
  for (int i = 0; i < 2; ++i) sigaction(heeded[i], &before_[i], nullptr);
}

int Interrupts::signal() noexcept { return interrupted; }

Progress::Progress(const char* noun, std::uint64_t bytes)
    : noun_(noun),
      bytes_(bytes),
      shown_(isatty(STDERR_FILENO) == 1),
      start_(Clock::now()),
      next_(start_ + std::chrono::milliseconds(500)) {}

Progress::~Progress() {
  if (shown_) show_status("");
}

void Progress::show(std::uint64_t done, std::uint64_t bytes) {
  const auto now = Clock::now();
  if (!shown_ || now < next_) return;
  next_ = now + std::chrono::milliseconds(250);
  show_status(progress_text(noun_, done, now - start_, bytes, bytes_));
}

std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::string progress_text(const char* noun, std::uint64_t done,
                          std::chrono::duration<double> passed, std::uint64_t read,
                          std::uint64_t bytes) {
  const double seconds = std::max(passed.count(), 0.001);
  std::string text = with_commas(done) + " " + noun + ", " +
                     with_commas(static_cast<std::uint64_t>(static_cast<double>(done) / seconds)) +
                     " a second";
  if (bytes == 0 || read == 0) return text;
  const double share = std::min(1.0, static_cast<double>(read) / static_cast<double>(bytes));
  const double left = std::ceil(seconds / share * (1 - share));
  return text + ", " + std::to_string(static_cast<int>(share * 100)) + " % of the input, " +
         with_commas(static_cast<std::uint64_t>(left)) + " s left";
}

}  // namespace sheaf::cli

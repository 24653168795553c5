#pragma once

// HedgePlan: when a read that has no answer yet is also sent to a second holder of its key.
//
//   The delay   95 % of the latest first attempts were answered in less. It is at least twice their
//               median, because less is not late, and at least `floor`. There is none before
//               `fewest` first attempts have been seen.
//   Tokens      Each first attempt adds a twentieth of a token, up to `most_tokens`, and each hedge
//               takes one. So hedges add 5 % to the reads at most. The last `reserve` tokens are
//               for reads that have waited for 8 delays, or noise would leave nothing for them.
//   The worth   A read that has waited for some time is expected to wait as long again. The second
//               holder must be expected to answer sooner than that. And a read must have waited
//               twice as long as half of the latest few took: if it has not, all nodes are slow,
//               and a hedge would only add to their load.
//
// Only first attempts teach, never hedges: otherwise a hedge would hide that a node is slow. A
// first attempt that was given up counts as if it had been answered then, if it was late.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: one thread at a time.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace sheaf::cluster {

class HedgePlan {
 public:
  using Duration = std::chrono::nanoseconds;

  static constexpr Duration floor = std::chrono::milliseconds(1);
  static constexpr std::size_t fewest = 64;
  static constexpr unsigned most_tokens = 10;
  static constexpr unsigned reserve = 2;
  static constexpr unsigned reads_per_token = 20;

  // A first attempt begins.
  void on_begin() noexcept {
    if (credit_ < most_tokens * reads_per_token) ++credit_;
  }
  // It was answered.
  void on_answer(Duration took) noexcept;
  // It was given up, because of its deadline, its caller or a second answer.
  void on_given_up(Duration waited) noexcept {
    if (waited >= delay_) on_answer(waited);
  }

  // How long a first attempt may take before decide() is asked; nothing if it is too early to say.
  std::optional<Duration> delay() const noexcept {
    return seen_ < fewest ? std::nullopt : std::optional(delay_);
  }
  // A first attempt has waited for the delay or longer. `expected`: what the second holder should
  // take. True: it is hedged, and the token is gone.
  bool decide(Duration waited, Duration expected) noexcept;

 private:
  static constexpr std::size_t kept = 256;     // samples
  static constexpr std::size_t latest = 8;     // of them, for the median of the latest few
  static constexpr std::size_t interval = 16;  // samples from one delay to the next

  Duration median_of_latest() const noexcept;
  void learn() noexcept;

  std::array<std::uint32_t, kept> samples_{};  // a ring, in microseconds
  std::size_t seen_ = 0;
  Duration delay_{0};
  unsigned credit_ = 0;  // in parts of a token
};

}  // namespace sheaf::cluster

#pragma once

// NumberHistory: judges what was read of a key that only one caller writes, with growing numbers
// and several calls in flight. Calls of one client on one key take effect in the order in which
// they were submitted, so each read has one right answer, except where a number may still come:
//
//   a set that was acknowledged   is what the next read returns
//   a set whose outcome is unknown  may take effect at any later time, once
//   a set that ended otherwise    has no effect
//
// A server that fails over by force may lose what it has acknowledged: LossTime says when.
//
// Thread rule: one thread at a time.

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace sheaf::test {

// How a read differs from what the order of the calls demands.
enum class Breach : std::uint8_t {
  foreign,    // the value is another cluster's
  wrong,      // another key's, one that was never sent, or one whose set had no effect
  reordered,  // the key has a number of this batch, but the calls did not run in their order
  stale       // an older number, although a later one was acknowledged
};
inline constexpr std::size_t breach_count = 4;
const char* name_of(Breach breach);

// A time in which servers could lose what they had acknowledged. It lasts until their cluster has
// said which server serves; no value: it has not yet.
struct LossTime {
  using Clock = std::chrono::steady_clock;

  Clock::time_point begun;
  std::optional<Clock::time_point> ended{};
};

// A call that has ended.
struct NumberedCall {
  using Clock = LossTime::Clock;
  enum class End : std::uint8_t { done, unknown, not_executed };

  bool writes = false;
  std::uint64_t number = 0;  // that was to be written, or was read; 0: the key is absent
  End end = End::done;
  Clock::time_point begun{};
  Clock::time_point ended{};
};

class NumberHistory {
 public:
  struct Finding {
    Breach breach;
    std::uint64_t read;
    std::uint64_t right;
  };

  // The number for the next set.
  std::uint64_t begin() { return ++begun_; }
  // Judges the calls since the last time, which have all ended, in the order of their submission.
  std::vector<Finding> judge(std::span<const NumberedCall> batch,
                             std::span<const LossTime> losses = {});

 private:
  void note_write(const NumberedCall& set);
  std::optional<Breach> judge_read(const NumberedCall& get, std::uint64_t first_of_batch,
                                   std::span<const LossTime> losses);
  bool may_be_lost(const NumberedCall& get, std::span<const LossTime> losses) const;

  std::uint64_t begun_ = 0;
  std::uint64_t latest_ = 0;                        // what the key holds
  NumberedCall::Clock::time_point latest_since_{};  // when its set was submitted, or it was read
  std::set<std::uint64_t> unknown_;
  std::set<std::uint64_t> without_effect_;
};

}  // namespace sheaf::test

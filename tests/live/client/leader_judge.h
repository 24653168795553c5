#pragma once

// LeaderJudge: a count that only leaders raise, by writes that the store checks. Processes share
// it. It finds two that could write: a number that two writes were acknowledged for, and a term
// that wrote again after a later one had.
//
// Thread rule: note() and the atomics from any process; findings() when all have ended.

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <new>
#include <set>
#include <stdexcept>
#include <string>

namespace sheaf::test {

class LeaderJudge {
 public:
  static constexpr std::size_t processes = 3;
  static constexpr std::size_t longest_count = 200'000;

  // In memory that forked processes share.
  static LeaderJudge& make() {
    void* const memory = ::mmap(nullptr, sizeof(LeaderJudge), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
    return *new (memory) LeaderJudge;
  }

  std::uint32_t begin_term() { return ++terms_; }
  // A write of this number, which began at `began`, was acknowledged.
  void note(std::size_t process, std::uint32_t term, std::size_t number, std::int64_t began) {
    if (number >= longest_count) return;
    if (writers_[number].exchange(term) != 0) twice_ = number;
    writes[process] = began;
    leader = static_cast<int>(process);
  }

  std::string findings() const {
    if (twice_ != 0) return "two writes of " + std::to_string(twice_) + " were acknowledged";
    std::set<std::uint32_t> ended;
    std::uint32_t now = 0;
    for (std::size_t number = 0; number < longest_count; ++number) {
      const std::uint32_t term = writers_[number];
      if (term == 0 || term == now) continue;  // 0: none was acknowledged
      if (ended.contains(term)) {
        return "term " + std::to_string(term) + " wrote " + std::to_string(number) +
               " after a later term had written";
      }
      ended.insert(now);
      now = term;
    }
    return {};
  }
  std::uint32_t terms() const { return terms_; }

  std::atomic<bool> over = false;                             // the processes end
  std::atomic<int> leader = -1;                               // who wrote last
  std::array<std::atomic<std::int64_t>, processes> writes{};  // when its last write began

 private:
  std::atomic<std::uint32_t> terms_ = 0;
  std::atomic<std::size_t> twice_ = 0;
  std::array<std::atomic<std::uint32_t>, longest_count> writers_{};
};

}  // namespace sheaf::test

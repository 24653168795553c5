#pragma once

// What all calls of a MigratingCache share: both fleets' clients, the stage, and the counters.
//
// Thread rule: any thread.

#include <array>
#include <atomic>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/migration.h>

#include "base/mutex.h"
#include "base/read_clocks.h"
#include "extras/migration/stage_clock.h"
#include "extras/migration/stage_rules.h"
#include "extras/migration/write_checks.h"

namespace sheaf {
inline namespace v0 {

class MigratingCache::State {
 public:
  using Fleet = migration::Fleet;

  // An admitted call.
  struct Call {
    MigrationStage stage;
    const migration::StageRules& rules;
    Deadline end;

    // True if the time is over: the call may have acted in an old stage, and proves nothing.
    bool over() const { return read_monotonic() > end; }
    // Nothing: no time is left.
    Timeout left() const {
      const auto time = end - read_monotonic();
      return time < shortest ? Timeout() : Timeout(time);
    }
    // For a first step: there was time a moment ago.
    Timeout all() const { return left().value_or(shortest); }

    static constexpr std::chrono::nanoseconds shortest = std::chrono::milliseconds(1);
  };

  State(Client from, Client to, Reader reader, std::chrono::milliseconds settle);

  // Reads the stage again if that is due. An admitted call has time for its first step.
  Result<Call> begin(const Timeout& timeout);
  Client& client(Fleet fleet) noexcept { return clients_[static_cast<std::size_t>(fleet)]; }
  // Checks a write before its first step.
  migration::StepChecks checks(std::span<const migration::WriteStep> steps) const {
    return {steps, clients_[0].config(), clients_[1].config()};
  }

  void count(MigrationStage stage, bool hit, bool second) noexcept;
  void note_stale(std::string_view key);

  MigrationStage stage() const;
  std::vector<MigrationCounts> counts() const;
  std::vector<std::string> take_stale();

 private:
  struct Tally {
    std::atomic<std::uint64_t> gets = 0;
    std::atomic<std::uint64_t> hits = 0;
    std::atomic<std::uint64_t> second_hits = 0;
  };

  void read_stage(Deadline now) SHEAF_REQUIRES(mutex_);
  Result<Migration> ask_reader() const;
  std::optional<Error> wrong_servers(const Migration& read) const;

  const Reader reader_;
  std::array<Client, 2> clients_;
  const std::array<std::vector<std::string>, 2> names_;
  mutable sync::Mutex mutex_;
  migration::StageClock clock_ SHEAF_GUARDED_BY(mutex_);
  MigrationStage stage_ SHEAF_GUARDED_BY(mutex_) = MigrationStage::before;
  bool reading_ SHEAF_GUARDED_BY(mutex_) = false;  // a thread is reading, without the mutex
  std::optional<Error> unread_ SHEAF_GUARDED_BY(mutex_);
  std::deque<std::string> stale_ SHEAF_GUARDED_BY(mutex_);
  std::array<Tally, migration::stage_count> tallies_;
};

}  // namespace v0
}  // namespace sheaf

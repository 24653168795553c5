#include "extras/migration/migrating_state.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/arguments.h"
#include "base/exception_name.h"
#include "base/local_error.h"
#include "extras/migration/stage_file.h"

namespace sheaf {
namespace {

constexpr std::size_t most_stale_keys = 10'000;

}  // namespace

inline namespace v0 {

using migration::rules_of;
using migration::stage_count;

MigratingCache::State::State(Client from, Client to, Reader reader,
                             std::chrono::milliseconds settle)
    : reader_(std::move(reader)),
      clients_{std::move(from), std::move(to)},
      names_{migration_servers(clients_[0].config()), migration_servers(clients_[1].config())},
      clock_(settle) {}

std::optional<Error> MigratingCache::State::wrong_servers(const Migration& read) const {
  const std::string_view other = migration::other_servers(read, names_[0], names_[1]);
  if (other.empty()) return std::nullopt;
  return local_error(
      Outcome::not_sent, Reason::bad_configuration,
      "the migration is between other servers: check \"" + std::string(other) + "\"");
}

Result<Migration> MigratingCache::State::ask_reader() const {
  try {
    auto read = reader_();
    if (!read) return read;
    if (auto wrong = wrong_servers(*read)) return Failure(std::move(*wrong));
    return read;
  } catch (...) {
    return Failure(local_error(
        Outcome::not_sent, Reason::bad_configuration,
        "the function that reads the stage of the migration threw " + exception_name()));
  }
}

// A failed reading keeps the known stage, for as long as that may be used.
void MigratingCache::State::read_stage(Deadline now) {
  reading_ = true;
  mutex_.unlock();
  auto read = ask_reader();
  mutex_.lock();
  reading_ = false;
  unread_ = read ? std::nullopt : std::optional(std::move(read.error()));
  if (!read) return;
  stage_ = read->stage;
  clock_.on_read(now);
  if (read->settle) clock_.limit(*read->settle);
}

Result<MigratingCache::State::Call> MigratingCache::State::begin(const Timeout& timeout) {
  if (auto error = arguments::check_timeout(timeout)) return Failure(std::move(*error));
  const sync::MutexLock lock(mutex_);
  const Deadline started = read_monotonic();
  if (clock_.due(started) && !reading_) read_stage(started);
  const Deadline now = read_monotonic();
  if (!clock_.usable(now)) {
    Error error = unread_ ? *unread_
                          : local_error(Outcome::not_sent, Reason::bad_configuration,
                                        "the stage of the migration could not be read in time");
    error.outcome = Outcome::not_sent;
    error.reason = Reason::bad_configuration;
    return Failure(std::move(error));
  }
  const auto wanted = timeout.value_or(clients_[0].config().timeout);
  const Call call{stage_, rules_of(stage_), started + std::min(wanted, clock_.longest_call())};
  if (call.left()) return call;
  return Failure(local_error(Outcome::not_sent, Reason::timed_out,
                             "the deadline came while the stage of the migration was read"));
}

void MigratingCache::State::count(MigrationStage stage, bool hit, bool second) noexcept {
  Tally& tally = tallies_[static_cast<std::size_t>(stage) % stage_count];
  tally.gets.fetch_add(1, std::memory_order_relaxed);
  if (hit) tally.hits.fetch_add(1, std::memory_order_relaxed);
  if (hit && second) tally.second_hits.fetch_add(1, std::memory_order_relaxed);
}

void MigratingCache::State::note_stale(std::string_view key) {
  const sync::MutexLock lock(mutex_);
  if (std::ranges::find(stale_, key) != stale_.end()) return;
  if (stale_.size() == most_stale_keys) stale_.pop_front();
  stale_.emplace_back(key);
}

std::vector<std::string> MigratingCache::State::take_stale() {
  const sync::MutexLock lock(mutex_);
  std::vector<std::string> keys(std::make_move_iterator(stale_.begin()),
                                std::make_move_iterator(stale_.end()));
  stale_.clear();
  return keys;
}

std::vector<MigrationCounts> MigratingCache::State::counts() const {
  std::vector<MigrationCounts> all;
  for (std::size_t i = 0; i < stage_count; ++i) {
    const Tally& tally = tallies_[i];
    const std::uint64_t gets = tally.gets.load(std::memory_order_relaxed);
    if (gets == 0) continue;
    all.push_back({static_cast<MigrationStage>(i), gets, tally.hits.load(std::memory_order_relaxed),
                   tally.second_hits.load(std::memory_order_relaxed)});
  }
  return all;
}

MigrationStage MigratingCache::State::stage() const {
  const sync::MutexLock lock(mutex_);
  return stage_;
}

}  // namespace v0
}  // namespace sheaf

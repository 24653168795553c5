#include <utility>

#include <sheaf/migration.h>

#include "base/local_error.h"
#include "base/read_clocks.h"
#include "extras/migration/answers.h"
#include "extras/migration/migrating_batches.h"
#include "extras/migration/stage_file.h"
#include "extras/migration/write_progress.h"

namespace sheaf {

using migration::Fleet;
using migration::WriteProgress;
using migration::WriteStep;

namespace {

constexpr std::chrono::milliseconds shortest_settle{100};
constexpr std::chrono::milliseconds longest_settle = std::chrono::hours(1);

// Takes the steps of a write one after another. `step` carries one out, in the time left.
template <class Call, class Step>
WriteProgress take(const Call& call, std::span<const WriteStep> steps, const Step& step) {
  WriteProgress progress;
  for (const WriteStep& next : steps) {
    if (!progress.takes(next)) continue;
    if (const Timeout left = call.left()) {
      step(next, left, progress);
    } else {
      progress.on_deadline();
    }
  }
  if (call.over()) progress.on_deadline();
  return progress;
}

}  // namespace

inline namespace v0 {

MigratingCache::MigratingCache(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
MigratingCache::MigratingCache(MigratingCache&&) noexcept = default;
MigratingCache& MigratingCache::operator=(MigratingCache&&) noexcept = default;
MigratingCache::~MigratingCache() = default;

// A file that existed and is gone is an error: it does not mean that the migration went back.
Result<MigratingCache> MigratingCache::open(Client from, Client to, const std::string& file,
                                            const MigrationOptions& options) {
  const auto read = [file, seen = false]() mutable -> Result<Migration> {
    auto found = migration::read_if_there(file);
    if (!found) return Failure(std::move(found.error()));
    if (*found) seen = true;
    if (!seen || *found) return std::move(*found).value_or(Migration{});
    return Failure(local_error(Outcome::invalid, Reason::bad_configuration,
                               "the migration file " + file + " is gone"));
  };
  return open(std::move(from), std::move(to), Reader(read), options);
}

Result<MigratingCache> MigratingCache::open(Client from, Client to, Reader reader,
                                            const MigrationOptions& options) {
  if (options.settle < shortest_settle || options.settle > longest_settle) {
    return Failure(local_error(
        Outcome::invalid, Reason::bad_argument,
        "settle is " + std::to_string(options.settle.count()) + " ms; it must be 100 ms to 1 h"));
  }
  for (const Client* const client : {&from, &to}) {
    if (client->supports(Feature::ttl_left)) continue;
    return Failure(local_error(Outcome::unsupported, Reason::bad_argument,
                               "a cache can move between fleets of memcached only"));
  }
  for (const Client* const client : {&from, &to}) {
    if (client->config().failover != FailoverMode::rehash) continue;
    return Failure(local_error(Outcome::invalid, Reason::bad_configuration,
                               std::string(migration::no_rehash)));
  }
  if (const auto shared = migration::shared_server(from.config(), to.config()); !shared.empty()) {
    return Failure(local_error(Outcome::invalid, Reason::bad_configuration,
                               shared + " is a server of both fleets"));
  }
  auto state =
      std::make_unique<State>(std::move(from), std::move(to), std::move(reader), options.settle);
  if (auto first = state->begin({}); !first) return Failure(std::move(first.error()));
  return MigratingCache(std::move(state));
}

Result<GetResult> MigratingCache::get(std::string_view key, const GetOptions& options) {
  const auto call = state_->begin(options.timeout);
  if (!call) return Failure(call.error());
  const std::span<const Fleet> fleets = call->rules.reads;
  GetOptions each = options;
  each.timeout = call->all();
  Result<GetResult> got = state_->client(fleets[0]).get(key, each);
  const bool second = fleets.size() > 1 && migration::missing(got);
  if (second) {
    each.timeout = call->left();
    if (each.timeout) {
      migration::take_second(got, state_->client(fleets[1]).get(key, each));
    } else {
      migration::take_nothing(got);
    }
  }
  if (call->over()) migration::take_nothing(got);
  migration::finish(got);
  if (got) state_->count(call->stage, got->has_value(), second);
  return got;
}

Result<SetResult> MigratingCache::set(std::string_view key, std::string_view value,
                                      const SetOptions& options) {
  if (auto error = migration::refusal_of(value, options)) return Failure(std::move(*error));
  const auto call = state_->begin(options.timeout);
  if (!call) return Failure(call.error());
  if (auto error = state_->checks(call->rules.set).of_set(key, value, options, read_clocks())) {
    return Failure(std::move(*error));
  }
  const WriteProgress done = take(
      *call, call->rules.set,
      [&](const WriteStep& step, const Timeout& left, WriteProgress& progress) {
        Client& client = state_->client(step.fleet);
        if (!step.stores) {
          return progress.on_removed(client.remove(key, {.timeout = left, .stop = options.stop}));
        }
        SetOptions each = options;
        each.timeout = left;
        progress.on_stored(client.set(key, value, each));
      });
  if (done.unknown()) state_->note_stale(key);
  if (done.error() != nullptr) return Failure(*done.error());
  return SetResult{true, {}};
}

Result<RemoveResult> MigratingCache::remove(std::string_view key, const RemoveOptions& options) {
  if (auto error = migration::refusal_of(options)) return Failure(std::move(*error));
  const auto call = state_->begin(options.timeout);
  if (!call) return Failure(call.error());
  if (auto error = state_->checks(call->rules.remove).of_remove(key)) {
    return Failure(std::move(*error));
  }
  const WriteProgress done =
      take(*call, call->rules.remove,
           [&](const WriteStep& step, const Timeout& left, WriteProgress& progress) {
             RemoveOptions each = options;
             each.timeout = left;
             progress.on_removed(state_->client(step.fleet).remove(key, each));
           });
  if (done.unknown()) state_->note_stale(key);
  if (done.error() != nullptr) return Failure(*done.error());
  return RemoveResult{done.removed() ? RemoveResult::removed : RemoveResult::absent, {}};
}

std::vector<KeyResult<GetResult>> MigratingCache::get_many(std::span<const std::string_view> keys,
                                                           const BatchOptions& options) {
  return migration::get_many(*state_, keys, options);
}

std::vector<KeyResult<SetResult>> MigratingCache::set_many(std::span<const SetItem> items,
                                                           const BatchSetOptions& options) {
  return migration::set_many(*state_, items, options);
}

std::vector<KeyResult<RemoveResult>> MigratingCache::remove_many(
    std::span<const std::string_view> keys, const BatchOptions& options) {
  return migration::remove_many(*state_, keys, options);
}

MigrationStage MigratingCache::stage() const { return state_->stage(); }
std::vector<MigrationCounts> MigratingCache::counts() const { return state_->counts(); }
std::vector<std::string> MigratingCache::possibly_stale() { return state_->take_stale(); }

}  // namespace v0
}  // namespace sheaf

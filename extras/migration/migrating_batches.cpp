#include "extras/migration/migrating_batches.h"

#include <string>
#include <unordered_map>
#include <utility>

#include <sheaf/migration.h>

#include "base/local_error.h"
#include "base/read_clocks.h"
#include "extras/migration/answers.h"
#include "extras/migration/write_progress.h"

namespace sheaf {

using migration::Fleet;
using migration::WriteProgress;
using migration::WriteStep;

namespace {

// One entry for each distinct key, in the order in which each first appears. If a key has several
// values, the last counts.
struct DistinctItems {
  std::vector<std::string_view> keys;
  std::vector<std::string_view> values;

  void add(std::string_view key, std::string_view value) {
    const auto [known, fresh] = places_.emplace(key, keys.size());
    if (fresh) {
      keys.push_back(key);
      values.push_back(value);
    } else {
      values[known->second] = value;
    }
  }

 private:
  std::unordered_map<std::string_view, std::size_t> places_;
};

template <class T>
std::vector<KeyResult<T>> all_failed(std::span<const std::string_view> keys, const Error& error) {
  std::vector<KeyResult<T>> all;
  all.reserve(keys.size());
  for (const std::string_view key : keys) all.push_back({std::string(key), Failure(error)});
  return all;
}

template <class T>
Result<T> outcome_of(const WriteProgress& progress, T done) {
  if (progress.error() != nullptr) return Failure(*progress.error());
  return done;
}

// Takes the steps of a write, each with all keys that still need it. `step` carries one out for the
// items at these places, and reports the progress of each.
template <class Call, class Step>
std::vector<WriteProgress> take(const Call& call, std::span<const WriteStep> steps,
                                std::vector<WriteProgress> all, const Step& step) {
  std::vector<std::size_t> places;
  for (const WriteStep& next : steps) {
    places.clear();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].takes(next)) places.push_back(i);
    }
    if (places.empty()) continue;
    if (const Timeout left = call.left()) {
      step(next, left, places, all);
    } else {
      for (const std::size_t place : places) all[place].on_deadline();
    }
  }
  if (call.over()) {
    for (WriteProgress& progress : all) progress.on_deadline();
  }
  return all;
}

void remove_at(Client& client, const std::vector<std::string_view>& keys,
               const std::vector<std::size_t>& places, const BatchOptions& options,
               std::vector<WriteProgress>& all) {
  std::vector<std::string_view> wanted;
  wanted.reserve(places.size());
  for (const std::size_t place : places) wanted.push_back(keys[place]);
  const auto results = client.remove_many(wanted, options);
  for (std::size_t i = 0; i < places.size(); ++i) all[places[i]].on_removed(results[i].result);
}

void store_at(Client& client, const DistinctItems& items, const std::vector<std::size_t>& places,
              const BatchSetOptions& options, std::vector<WriteProgress>& all) {
  std::vector<SetItem> wanted;
  wanted.reserve(places.size());
  for (const std::size_t place : places) wanted.push_back({items.keys[place], items.values[place]});
  const auto results = client.set_many(wanted, options);
  for (std::size_t i = 0; i < places.size(); ++i) all[places[i]].on_stored(results[i].result);
}

}  // namespace

namespace migration {

std::vector<KeyResult<GetResult>> get_many(MigratingCache::State& state,
                                           std::span<const std::string_view> keys,
                                           const BatchOptions& options) {
  const auto call = state.begin(options.timeout);
  if (!call) {
    DistinctItems items;
    for (const std::string_view key : keys) items.add(key, {});
    return all_failed<GetResult>(items.keys, call.error());
  }
  const std::span<const Fleet> fleets = call->rules.reads;
  auto all = state.client(fleets[0]).get_many(keys, {call->all(), options.stop});
  std::vector<std::size_t> places;
  std::vector<std::string_view> again;
  for (std::size_t i = 0; fleets.size() > 1 && i < all.size(); ++i) {
    if (!missing(all[i].result)) continue;
    places.push_back(i);
    again.push_back(all[i].key);
  }
  std::vector<KeyResult<GetResult>> seconds;
  const Timeout left = call->left();
  if (!again.empty() && left) {
    seconds = state.client(fleets[1]).get_many(again, {left, options.stop});
  }
  const bool over = call->over();
  std::size_t next = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Result<GetResult>& got = all[i].result;
    const bool second = next < places.size() && places[next] == i;
    if (second && left) take_second(got, std::move(seconds[next].result));
    if (second && !left) take_nothing(got);
    next += second ? 1 : 0;
    if (over) take_nothing(got);
    finish(got);
    if (got) state.count(call->stage, got->has_value(), second);
  }
  return all;
}

std::vector<KeyResult<SetResult>> set_many(MigratingCache::State& state,
                                           std::span<const SetItem> items,
                                           const BatchSetOptions& options) {
  DistinctItems distinct;
  for (const SetItem& item : items) distinct.add(item.key, item.value);
  const auto call = state.begin(options.timeout);
  if (!call) return all_failed<SetResult>(distinct.keys, call.error());
  std::vector<WriteProgress> before(distinct.keys.size());
  const StepChecks checks = state.checks(call->rules.set);
  const SetOptions each{.ttl = options.ttl};
  const Now now = read_clocks();
  for (std::size_t i = 0; i < before.size(); ++i) {
    auto error = refusal_of(distinct.values[i], each);
    if (!error) error = checks.of_set(distinct.keys[i], distinct.values[i], each, now);
    if (error) before[i].on_stored(Failure(std::move(*error)));
  }
  const auto ends =
      take(*call, call->rules.set, std::move(before),
           [&](const WriteStep& step, const Timeout& left, const std::vector<std::size_t>& places,
               std::vector<WriteProgress>& all) {
             Client& client = state.client(step.fleet);
             if (step.stores) {
               store_at(client, distinct, places,
                        {.ttl = options.ttl,
                         .persist = options.persist,
                         .timeout = left,
                         .stop = options.stop},
                        all);
             } else {
               remove_at(client, distinct.keys, places, {left, options.stop}, all);
             }
           });
  std::vector<KeyResult<SetResult>> results;
  results.reserve(ends.size());
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i].unknown()) state.note_stale(distinct.keys[i]);
    results.push_back({std::string(distinct.keys[i]), outcome_of(ends[i], SetResult{true, {}})});
  }
  return results;
}

std::vector<KeyResult<RemoveResult>> remove_many(MigratingCache::State& state,
                                                 std::span<const std::string_view> keys,
                                                 const BatchOptions& options) {
  DistinctItems distinct;
  for (const std::string_view key : keys) distinct.add(key, {});
  const auto call = state.begin(options.timeout);
  if (!call) return all_failed<RemoveResult>(distinct.keys, call.error());
  std::vector<WriteProgress> before(distinct.keys.size());
  const StepChecks checks = state.checks(call->rules.remove);
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (auto error = checks.of_remove(distinct.keys[i])) {
      before[i].on_removed(Failure(std::move(*error)));
    }
  }
  const auto ends =
      take(*call, call->rules.remove, std::move(before),
           [&](const WriteStep& step, const Timeout& left, const std::vector<std::size_t>& places,
               std::vector<WriteProgress>& all) {
             remove_at(state.client(step.fleet), distinct.keys, places, {left, options.stop}, all);
           });
  std::vector<KeyResult<RemoveResult>> results;
  results.reserve(ends.size());
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i].unknown()) state.note_stale(distinct.keys[i]);
    const RemoveResult done{ends[i].removed() ? RemoveResult::removed : RemoveResult::absent, {}};
    results.push_back({std::string(distinct.keys[i]), outcome_of(ends[i], done)});
  }
  return results;
}

}  // namespace migration
}  // namespace sheaf

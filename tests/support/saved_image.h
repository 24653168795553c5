#pragma once

// The contents of a store's file, in memory. A journal is written into it, and a new engine is
// restored from it.
//
// Thread rule: a plain value.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "store/engine/journal.h"

namespace sheaf::test {

struct SavedFence {
  std::uint64_t wall = 0;
  std::uint64_t counter = 0;
  std::string node;

  friend bool operator==(const SavedFence&, const SavedFence&) = default;
};

struct SavedRow {
  std::string value;
  std::string owner;
  std::pair<std::uint64_t, std::uint64_t> version;
  std::optional<SavedFence> fence;
  Deadline until = never;

  friend bool operator==(const SavedRow&, const SavedRow&) = default;
};

struct SavedImage {
  std::map<std::string, SavedRow> records;
  std::map<std::string, SavedRow> fences;
  std::pair<std::uint64_t, std::uint64_t> clock;

  friend bool operator==(const SavedImage&, const SavedImage&) = default;

  void apply(const store::Change& change) {
    using Kind = store::Change::Kind;
    const std::string key(change.key);
    if (change.kind == Kind::remove) {
      records.erase(key);
    } else if (change.kind == Kind::forget_fence) {
      fences.erase(key);
    } else {
      SavedRow row{std::string(change.value),
                   std::string(change.owner),
                   {change.version.wall, change.version.counter},
                   {},
                   change.until};
      if (change.fence) {
        row.fence = {change.fence->wall, change.fence->counter, std::string(change.fence->node)};
      }
      (change.kind == Kind::put ? records : fences)[key] = row;
    }
  }

  // Polls all changes; the caller reports whether they are saved.
  void write(store::Journal& journal) {
    store::Change change;
    while (journal.poll(change)) apply(change);
    clock = {journal.clock().wall, journal.clock().counter};
  }

  void restore(store::Journal& journal) const {
    for (const auto& [key, row] : records) {
      journal.restore(change_of(store::Change::Kind::put, key, row));
    }
    std::vector<const std::pair<const std::string, SavedRow>*> by_age;
    for (const auto& entry : fences) by_age.push_back(&entry);
    std::ranges::sort(by_age, {}, [](const auto* entry) { return entry->second.until; });
    for (const auto* entry : by_age) {
      journal.restore(change_of(store::Change::Kind::keep_fence, entry->first, entry->second));
    }
    journal.resume({clock.first, clock.second, {}});
  }

  // The change refers to the row.
  static store::Change change_of(store::Change::Kind kind, const std::string& key,
                                 const SavedRow& row) {
    store::Change change{.kind = kind,
                         .key = key,
                         .value = row.value,
                         .owner = row.owner,
                         .version = {row.version.first, row.version.second},
                         .fence = {},
                         .until = row.until};
    if (row.fence) change.fence = {row.fence->wall, row.fence->counter, row.fence->node};
    return change;
  }
};

}  // namespace sheaf::test

#pragma once

// The planner: works out what to read and write to change a list. It knows heads and segments but
// no stores, so every kind of endpoint uses it, each with its own register.
//
// Nothing that a head names ever changes: an edit writes new items and new segments under new ids,
// and the new head names them. Items and segments that only the old head names are the new head's
// garbage. They are deleted after the next commit, so that readers of the old head can finish.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: pure functions and plain values.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/list/format.h"
#include "client/list/list_controls.h"

namespace sheaf::client::list {

struct Edit {
  enum class Kind : std::uint8_t {
    push,
    insert,
    update,
    remove,
    clear,
    drop  // removes references to missing items
  };
  Kind kind = Kind::push;
  std::int64_t index = 0;             // insert, update, remove; negative: from the end
  std::vector<std::string> values{};  // push: any number; insert, update: one
  Id segment = 0;                     // drop: the segment of the items; 0 = the tail
  std::vector<Id> items{};            // drop; empty: the segment itself is missing, with its items
  bool persist = false;               // decides if the list was never written
};

// The result of one edit, if the plan is committed.
struct EditResult {
  bool found = true;         // insert, update, remove: the index exists; drop: an id was dropped
  std::uint64_t length = 0;  // after this edit and those before it
  std::uint64_t dropped = 0;
};

struct NewItem {
  Id id = 0;
  const std::string* value = nullptr;  // points into the edit
};
struct NewSegment {
  Id id = 0;
  std::vector<Id> ids;
};

struct Plan {
  bool changes = false;  // false: nothing has to be written
  Head head;
  std::vector<NewItem> items;
  std::vector<NewSegment> segments;
  std::optional<Id> removed;        // the item that a remove takes out
  std::vector<EditResult> results;  // one for each edit
};

struct PlanOptions {
  std::size_t tail = 32;                // items kept in the head itself; 0 .. segment_limit / 2
  std::size_t segment = segment_limit;  // items; 2 .. segment_limit
  ListControls controls{};
};

// The one segment that must be read before the edits can be planned. `edits` are pushes, or one
// edit of another kind.
std::optional<SegmentRef> needed_segment(const Head& head, std::span<const Edit* const> edits,
                                         const PlanOptions& options = {});

// `ids`: the contents of needed_segment; empty if no segment is needed, or if a push finds it
// missing. The plan points into the edits.
Plan make_plan(const Head& head, const std::vector<Id>& ids, std::span<const Edit* const> edits,
               const PlanOptions& options = {});

// The items that a range covers in a list of `length`: [begin, end). `first` and `last` are both
// included; negative ones count from the end; indexes beyond either end are cut to it.
struct Slice {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool empty() const noexcept { return begin >= end; }
};
Slice make_slice(std::int64_t first, std::int64_t last, std::uint64_t length);

}  // namespace sheaf::client::list

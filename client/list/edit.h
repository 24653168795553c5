#pragma once

// The planner: what has to be read and written so that a list changes. It knows heads and segments
// and nothing of stores: every kind of endpoint uses it, each with a register of its own.
//
// Nothing that a head names is ever changed: an edit writes new items and new segments under new
// ids, and the new head names them. What the old head named and the new one does not is its
// garbage, to be deleted after the next commit, so that readers of the old head may finish.
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
    drop  // takes out what is missing
  };
  Kind kind = Kind::push;
  std::int64_t index = 0;             // insert, update, remove; negative: counts from the end
  std::vector<std::string> values{};  // push: any number; insert, update: one
  Id segment = 0;                     // drop: of these items; 0 = of the tail
  std::vector<Id> items{};  // drop; none: the segment itself is missing, with all its items
};

// What became of one edit, if the plan is committed.
struct EditResult {
  bool found = true;         // insert, update, remove: there is such an index; drop: such an id
  std::uint64_t length = 0;  // with this edit and those before it
  std::uint64_t dropped = 0;
};

struct NewItem {
  Id id = 0;
  const std::string* value = nullptr;  // of the edit
};
struct NewSegment {
  Id id = 0;
  std::vector<Id> ids;
};

struct Plan {
  bool changes = false;  // else nothing is to be written
  Head head;
  std::vector<NewItem> items;
  std::vector<NewSegment> segments;
  std::optional<Id> removed;        // the item that a remove takes out
  std::vector<EditResult> results;  // one for each edit
};

struct PlanOptions {
  std::size_t tail = 32;  // items that stand in the head itself; 0 .. segment_limit / 2
  std::size_t segment = segment_limit;  // items; 2 .. segment_limit
  ListControls controls{};
};

// The one segment that must be read before the edits can be planned. `edits` are pushes, or one
// edit of another kind.
std::optional<SegmentRef> needed_segment(const Head& head, std::span<const Edit* const> edits,
                                         const PlanOptions& options = {});

// `ids`: of needed_segment; else, and if a push finds that segment missing, empty. The plan points
// into the edits.
Plan make_plan(const Head& head, const std::vector<Id>& ids, std::span<const Edit* const> edits,
               const PlanOptions& options = {});

// Which items from `first` to `last`, both included and negative ones counted from the end, there
// are in a list of `length`: [begin, end). Indexes beyond either end are cut to it.
struct Slice {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool empty() const noexcept { return begin >= end; }
};
Slice make_slice(std::int64_t first, std::int64_t last, std::uint64_t length);

}  // namespace sheaf::client::list

// Pure: no socket, clock, entropy, thread or callback.

#include "client/list/edit.h"

#include <algorithm>
#include <utility>

namespace sheaf::client::list {
namespace {

// A place in the table of segments. The tail counts as the segment after the last one.
struct Place {
  std::size_t segment = 0;
  unsigned offset = 0;
};

// The index counted from the front; nothing if it is outside 0 .. `end`, both included.
std::optional<std::uint64_t> from_front(std::int64_t index, std::uint64_t length,
                                        std::uint64_t end) {
  if (index < 0) {
    const std::uint64_t back = ~static_cast<std::uint64_t>(index) + 1;
    if (back > length) return std::nullopt;
    return length - back;
  }
  if (static_cast<std::uint64_t>(index) > end) return std::nullopt;
  return static_cast<std::uint64_t>(index);
}

Place find(const Head& head, std::uint64_t index) {
  Place place;
  while (place.segment < head.segments.size() && index >= head.segments[place.segment].count) {
    index -= head.segments[place.segment++].count;
  }
  place.offset = static_cast<unsigned>(index);
  return place;
}

// Where an edit of one item applies; nothing if the index does not exist.
std::optional<Place> place_of(const Head& head, const Edit& edit) {
  const std::uint64_t length = head.length();
  const bool insert = edit.kind == Edit::Kind::insert;
  if (!insert && length == 0) return std::nullopt;
  const auto index = from_front(edit.index, length, insert ? length : length - 1);
  return index ? std::optional(find(head, *index)) : std::nullopt;
}

std::size_t pushed_items(std::span<const Edit* const> edits) {
  std::size_t items = 0;
  for (const Edit* edit : edits) items += edit->values.size();
  return items;
}

// True if the tail has no room for `more` items, so that it is moved into segments.
bool spills(const Head& head, std::size_t more, const PlanOptions& options) {
  return more > 0 && head.tail.size() + more > options.tail;
}

class Planner {
 public:
  Planner(const Head& head, std::span<const Edit* const> edits, const PlanOptions& options)
      : edits_(edits), options_(options) {
    plan_.head = head;
    plan_.head.garbage.clear();
    for (const Garbage& each : head.garbage) {
      if (each.kind == Garbage::Kind::tree) plan_.head.garbage.push_back(each);
    }
    length_ = head.length();
    if (head.revision == 0) plan_.head.persist = edits_.front()->persist;
  }

  Plan run(const std::vector<Id>& ids) {
    switch (edits_.front()->kind) {
      case Edit::Kind::push:
        push_all(ids);
        break;
      case Edit::Kind::clear:
        clear();
        break;
      case Edit::Kind::drop:
        drop(ids);
        break;
      case Edit::Kind::insert:
      case Edit::Kind::update:
      case Edit::Kind::remove:
        change_one(ids);
        break;
    }
    if (plan_.changes) ++plan_.head.revision;
    return std::move(plan_);
  }

 private:
  void discard(Garbage::Kind kind, Id id) { plan_.head.garbage.push_back({kind, id}); }

  Id new_item(const std::string& value) {
    plan_.items.push_back({plan_.head.next, &value});
    return plan_.head.next++;
  }

  SegmentRef new_segment(std::vector<Id> ids) {
    const SegmentRef ref{plan_.head.next++, static_cast<unsigned>(ids.size())};
    plan_.segments.push_back({ref.id, std::move(ids)});
    return ref;
  }

  // Pushes go into the tail. When it is full, all of it moves to the last segment and to new ones
  // after it.
  void push_all(const std::vector<Id>& last) {
    plan_.changes = pushed_items(edits_) > 0;
    const bool spill = spills(plan_.head, pushed_items(edits_), options_);
    std::vector<Id>& tail = plan_.head.tail;
    for (const Edit* edit : edits_) {
      for (const std::string& value : edit->values) tail.push_back(new_item(value));
      length_ += edit->values.size();
      plan_.results.push_back({true, length_, 0});
    }
    if (!spill) return;
    std::vector<Id> ids = last;
    ids.insert(ids.end(), tail.begin(), tail.end());
    tail.clear();
    std::vector<SegmentRef>& table = plan_.head.segments;
    Id reused = 0;
    if (!last.empty()) {
      if (!options_.controls.new_segments) {
        reused = table.back().id;
      } else {
        discard(Garbage::Kind::segment, table.back().id);
      }
      table.pop_back();
    }
    for (auto at = ids.begin(); at != ids.end();) {
      const auto size =
          std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(options_.segment), ids.end() - at);
      table.push_back(new_segment({at, at + size}));
      if (reused != 0) plan_.segments.back().id = table.back().id = std::exchange(reused, 0);
      at += size;
    }
  }

  // Clearing discards whole segments with their items, so the head stays small however long the
  // list was.
  void clear() {
    plan_.changes = true;
    for (const SegmentRef& segment : plan_.head.segments) {
      discard(Garbage::Kind::tree, segment.id);
    }
    for (const Id id : plan_.head.tail) discard(Garbage::Kind::item, id);
    plan_.head.segments.clear();
    plan_.head.tail.clear();
    plan_.results.push_back({true, 0, 0});
  }

  void drop(std::vector<Id> ids) {
    const Edit& edit = *edits_.front();
    std::vector<SegmentRef>& table = plan_.head.segments;
    const auto place = std::ranges::find(table, edit.segment, &SegmentRef::id);
    const auto at = static_cast<std::size_t>(place - table.begin());
    std::uint64_t dropped = 0;
    if (edit.segment == 0) {
      dropped = take_out(plan_.head.tail, edit.items);
    } else if (place != table.end() && edit.items.empty()) {
      dropped = place->count;
      table.erase(place);
    } else if (place != table.end()) {
      dropped = take_out(ids, edit.items);
      if (dropped > 0) replace(at, std::move(ids));
    }
    plan_.changes = dropped > 0;
    length_ -= dropped;
    plan_.results.push_back({dropped > 0, length_, dropped});
  }

  static std::uint64_t take_out(std::vector<Id>& ids, const std::vector<Id>& items) {
    return std::erase_if(ids, [&](Id id) { return std::ranges::find(items, id) != items.end(); });
  }

  void change_one(std::vector<Id> ids) {
    const Edit& edit = *edits_.front();
    const auto place = place_of(plan_.head, edit);
    if (!place) {
      plan_.results.push_back({false, length_, 0});
      return;
    }
    plan_.changes = true;
    const bool in_tail = place->segment == plan_.head.segments.size();
    if (in_tail) ids = plan_.head.tail;
    const auto at = ids.begin() + place->offset;
    if (edit.kind == Edit::Kind::insert) {
      ids.insert(at, new_item(edit.values.front()));
      ++length_;
    } else {
      discard(Garbage::Kind::item, *at);
      if (edit.kind == Edit::Kind::update) {
        *at = new_item(edit.values.front());
      } else {
        plan_.removed = *at;
        ids.erase(at);
        --length_;
      }
    }
    if (in_tail && ids.size() <= 2 * options_.tail) {
      plan_.head.tail = std::move(ids);
    } else {
      if (in_tail) plan_.head.tail.clear();
      replace(place->segment, std::move(ids));
    }
    plan_.results.push_back({true, length_, 0});
  }

  // Replaces the segment at `at` in the table with one that holds `ids`, with two halves if they
  // are too many, or with nothing if there are none.
  void replace(std::size_t at, std::vector<Id> ids) {
    std::vector<SegmentRef> fresh;
    if (ids.size() > options_.segment) {
      const auto middle = ids.begin() + static_cast<std::ptrdiff_t>(ids.size() / 2);
      fresh.push_back(new_segment({ids.begin(), middle}));
      fresh.push_back(new_segment({middle, ids.end()}));
    } else if (!ids.empty()) {
      fresh.push_back(new_segment(std::move(ids)));
    }
    std::vector<SegmentRef>& table = plan_.head.segments;
    auto place = table.begin() + static_cast<std::ptrdiff_t>(at);
    if (place != table.end()) {
      discard(Garbage::Kind::segment, place->id);
      place = table.erase(place);
    }
    table.insert(place, fresh.begin(), fresh.end());
  }

  std::span<const Edit* const> edits_;
  const PlanOptions& options_;
  std::uint64_t length_ = 0;
  Plan plan_;
};

}  // namespace

std::optional<SegmentRef> needed_segment(const Head& head, std::span<const Edit* const> edits,
                                         const PlanOptions& options) {
  const Edit& edit = *edits.front();
  const bool table = !head.segments.empty();
  switch (edit.kind) {
    case Edit::Kind::push:
      if (!spills(head, pushed_items(edits), options)) return std::nullopt;
      if (!table || head.segments.back().count >= options.segment) return std::nullopt;
      return head.segments.back();
    case Edit::Kind::clear:
      return std::nullopt;
    case Edit::Kind::drop: {
      const auto found = std::ranges::find(head.segments, edit.segment, &SegmentRef::id);
      if (edit.items.empty() || found == head.segments.end()) return std::nullopt;
      return *found;
    }
    case Edit::Kind::insert:
    case Edit::Kind::update:
    case Edit::Kind::remove:
      break;
  }
  const auto place = place_of(head, edit);
  if (!place || place->segment >= head.segments.size()) return std::nullopt;
  return head.segments[place->segment];
}

Plan make_plan(const Head& head, const std::vector<Id>& ids, std::span<const Edit* const> edits,
               const PlanOptions& options) {
  return Planner(head, edits, options).run(ids);
}

Slice make_slice(std::int64_t first, std::int64_t last, std::uint64_t length) {
  const auto cut = [length](std::int64_t index) -> std::uint64_t {
    if (index >= 0) return std::min(static_cast<std::uint64_t>(index), length);
    const std::uint64_t back = ~static_cast<std::uint64_t>(index) + 1;
    return back > length ? 0 : length - back;
  };
  Slice slice{cut(first), cut(last)};
  const bool before_all = last < 0 && ~static_cast<std::uint64_t>(last) + 1 > length;
  if (!before_all && slice.end < length) ++slice.end;  // `last` is included
  return slice;
}

}  // namespace sheaf::client::list

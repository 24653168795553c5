#pragma once

// How a list is stored: its keys, the head, the segments. docs/lists.md describes it.
//
//   sheaf/list/{NAME}/head   the head: its segments in order, and what may be deleted
//   sheaf/list/{NAME}/lock   held by the writer that is changing the list, for a short time
//   sheaf/list/{NAME}/s<id>  a segment: the ids of up to 256 items, in order; never changed
//   sheaf/list/{NAME}/i<id>  one item's bytes; never changed
//
// The braces around NAME keep all the keys on one node. Blanks, control characters, `%`, `{` and
// `}` in a name are written as %XX.
//
//   head     format u8, revision, next id, n, n x (id, count), t, t x id, g, g x (kind u8, id)
//   segment  format u8 = 1, n, n x id
//
// The head's format is 2 if the list is kept on the store's disk, else 1.
//
// The t items of the tail are the last ones. They are in no segment yet, so that most pushes write
// only an item and the head.
//
// Where writers do not exclude each other (memcached), ids are drawn at random instead of counted:
// next id is 0, there is no lock, and a key that exists is never overwritten.
//
// Numbers are LEB128 without padding; a sequence of ids is written as zigzag differences, each to
// the one before. Parsers accept exactly what the writers write.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: pure functions and plain values.

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace sheaf::client::list {

// Items and segments are numbered from one sequence; an id that a head has named is never used for
// something else.
using Id = std::uint64_t;
enum class Ids : std::uint8_t {
  counted,  // the head has the next id
  drawn     // each writer counts from a random start
};
inline constexpr Id last_id = Id{1} << 60;

inline constexpr unsigned segment_limit = 256;  // items
inline constexpr std::size_t name_limit = 4'096;
inline constexpr std::uint8_t format_number = 1;
inline constexpr std::uint8_t kept_head_format = 2;

class Keys {
 public:
  explicit Keys(std::string_view name, Ids ids = Ids::counted);
  Ids ids() const noexcept { return ids_; }
  // A key that places the whole list on one node, even where hash tags are not read: the name as it
  // appears in the keys.
  const std::string& route() const noexcept { return route_; }
  // The size of the longest key, in bytes.
  std::size_t longest() const noexcept { return base_.size() + 20; }
  const std::string& head() const noexcept { return head_; }
  const std::string& lock() const noexcept { return lock_; }
  std::string item(Id id) const { return base_ + 'i' + std::to_string(id); }
  std::string segment(Id id) const { return base_ + 's' + std::to_string(id); }

 private:
  Ids ids_;
  std::string route_;
  std::string base_;
  std::string head_;
  std::string lock_;
};

struct SegmentRef {
  Id id = 0;
  unsigned count = 0;  // 1 .. segment_limit
  friend bool operator==(const SegmentRef&, const SegmentRef&) = default;
};

// Something that no head names any more.
struct Garbage {
  enum class Kind : std::uint8_t {
    item = 0,
    segment = 1,
    tree = 2  // a segment and all its items; kept here until it was seen to be gone
  };
  Kind kind = Kind::item;
  Id id = 0;
  friend bool operator==(const Garbage&, const Garbage&) = default;
};

struct Head {
  std::uint64_t revision = 0;
  Id next = 1;  // written as 0 where ids are drawn
  std::vector<SegmentRef> segments;
  std::vector<Id> tail;  // at most segment_limit
  std::vector<Garbage> garbage;
  // All keys of the list are kept on the store's disk, as its first edit decided: one of them
  // without the others would be a damaged list after a restart.
  bool persist = false;

  std::uint64_t length() const noexcept;
  friend bool operator==(const Head&, const Head&) = default;
};

std::string encode_head(const Head& head);
std::string encode_segment(const std::vector<Id>& ids);
// The error is a sentence: "the key holds no sheaf list (format 7)", "the list's head is damaged:
// ...".
std::expected<Head, std::string> parse_head(std::string_view bytes, Ids ids = Ids::counted);
// `count` as the head gives it; 0 accepts any number of items.
std::expected<std::vector<Id>, std::string> parse_segment(std::string_view bytes, unsigned count);

// "the list is damaged: its item 7 is missing", and what to do about it.
std::string missing_text(Ids ids, std::string_view what, Id id);

}  // namespace sheaf::client::list

// Pure: no socket, clock, entropy, thread or callback.

#include "client/list/format.h"

#include <algorithm>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "base/text.h"

namespace sheaf::client::list {
namespace {

void write_number(ByteWriter& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.u8(static_cast<std::uint8_t>(value | 0x80));
  out.u8(static_cast<std::uint8_t>(value));
}

// Fails on a number that does not fit, or that is not in its shortest form.
std::uint64_t read_number(ByteReader& in) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint64_t byte = in.u8();
    if (shift == 63 && byte > 1) break;
    value |= (byte & 0x7F) << shift;
    if (byte < 0x80) {
      if (byte == 0 && shift > 0) break;
      return value;
    }
  }
  in.fail();
  return 0;
}

// Writes each id as its difference to the one before.
class IdWriter {
 public:
  explicit IdWriter(ByteWriter& out) : out_(out) {}
  void write(Id id) {
    const auto step = static_cast<std::int64_t>(id - before_);
    write_number(out_,
                 static_cast<std::uint64_t>(step) << 1 ^ static_cast<std::uint64_t>(step >> 63));
    before_ = id;
  }

 private:
  ByteWriter& out_;
  Id before_ = 0;
};

class IdReader {
 public:
  explicit IdReader(ByteReader& in) : in_(in) {}
  // Fails unless 1 <= id < `end`.
  Id read(Id end) {
    const std::uint64_t coded = read_number(in_);
    before_ += (coded >> 1) ^ (~(coded & 1) + 1);
    if (before_ == 0 || before_ >= end) in_.fail();
    return before_;
  }

 private:
  ByteReader& in_;
  Id before_ = 0;
};

template <class Element, class Project>
bool all_different(const std::vector<Element>& elements, Project project) {
  std::vector<Id> ids;
  ids.reserve(elements.size());
  for (const Element& element : elements) ids.push_back(project(element));
  std::ranges::sort(ids);
  return std::ranges::adjacent_find(ids) == ids.end();
}

bool needs_escape(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte <= 0x20 || byte == 0x7F || c == '%' || c == '{' || c == '}';
}

std::string wrong_format(std::string_view bytes) {
  return bytes.empty() ? "the key holds no sheaf list (empty)"
                       : "the key holds no sheaf list (format " +
                             std::to_string(static_cast<unsigned char>(bytes.front())) + ")";
}

// Each entry takes at least `size` bytes, so an impossible count is refused before anything is
// allocated for it.
std::size_t read_count(ByteReader& in, std::size_t size) {
  const std::uint64_t count = read_number(in);
  if (count > in.left() / size) return in.fail(), 0;
  return static_cast<std::size_t>(count);
}

}  // namespace

Keys::Keys(std::string_view name, Ids ids) : ids_(ids) {
  for (const char c : name) {
    if (needs_escape(c)) {
      route_ += '%';
      hex_append(route_, std::string_view(&c, 1));
    } else {
      route_ += c;
    }
  }
  base_ = "sheaf/list/{" + route_ + "}/";
  head_ = base_ + "head";
  lock_ = base_ + "lock";
}

std::uint64_t Head::length() const noexcept {
  std::uint64_t length = tail.size();
  for (const SegmentRef& segment : segments) length += segment.count;
  return length;
}

std::string encode_head(const Head& head) {
  std::string bytes;
  ByteWriter out(bytes);
  out.u8(head.persist ? kept_head_format : format_number);
  write_number(out, head.revision);
  write_number(out, head.next);
  write_number(out, head.segments.size());
  IdWriter segments(out);
  for (const SegmentRef& segment : head.segments) {
    segments.write(segment.id);
    write_number(out, segment.count);
  }
  write_number(out, head.tail.size());
  IdWriter tail(out);
  for (const Id id : head.tail) tail.write(id);
  write_number(out, head.garbage.size());
  IdWriter garbage(out);
  for (const Garbage& each : head.garbage) {
    out.u8(static_cast<std::uint8_t>(each.kind));
    garbage.write(each.id);
  }
  return bytes;
}

std::string encode_segment(const std::vector<Id>& ids) {
  std::string bytes;
  ByteWriter out(bytes);
  out.u8(format_number);
  write_number(out, ids.size());
  IdWriter writer(out);
  for (const Id id : ids) writer.write(id);
  return bytes;
}

std::expected<Head, std::string> parse_head(std::string_view bytes, Ids ids) {
  ByteReader in(bytes);
  const std::uint8_t format = in.u8();
  if (format != format_number && format != kept_head_format) {
    return std::unexpected(wrong_format(bytes));
  }
  Head head;
  head.persist = format == kept_head_format;
  head.revision = read_number(in);
  head.next = read_number(in);
  if ((head.next == 0) != (ids == Ids::drawn) || head.next > last_id) in.fail();
  const Id end = ids == Ids::drawn ? last_id : head.next;
  head.segments.resize(read_count(in, 2));
  IdReader segments(in);
  for (SegmentRef& segment : head.segments) {
    segment.id = segments.read(end);
    const std::uint64_t count = read_number(in);
    if (count == 0 || count > segment_limit) in.fail();
    segment.count = static_cast<unsigned>(count);
  }
  head.tail.resize(read_count(in, 1));
  IdReader tail(in);
  for (Id& id : head.tail) id = tail.read(end);
  if (head.tail.size() > segment_limit) in.fail();
  head.garbage.resize(read_count(in, 2));
  IdReader garbage(in);
  for (Garbage& each : head.garbage) {
    const std::uint8_t kind = in.u8();
    if (kind > static_cast<std::uint8_t>(Garbage::Kind::tree)) in.fail();
    each.kind = static_cast<Garbage::Kind>(kind);
    each.id = garbage.read(end);
  }
  if (!in.done()) {
    return std::unexpected("the list's head is damaged at byte " + std::to_string(in.position()) +
                           " of " + std::to_string(bytes.size()));
  }
  if (!all_different(head.segments, [](const SegmentRef& segment) { return segment.id; })) {
    return std::unexpected("the list's head is damaged: it names a segment twice");
  }
  if (!all_different(head.tail, [](Id id) { return id; })) {
    return std::unexpected("the list's head is damaged: it names an item twice");
  }
  return head;
}

std::expected<std::vector<Id>, std::string> parse_segment(std::string_view bytes, unsigned count) {
  ByteReader in(bytes);
  if (in.u8() != format_number) return std::unexpected(wrong_format(bytes));
  std::vector<Id> ids(read_count(in, 1));
  IdReader reader(in);
  for (Id& id : ids) id = reader.read(last_id);
  if (!in.done() || ids.empty() || ids.size() > segment_limit) {
    return std::unexpected("a segment of the list is damaged");
  }
  if (count != 0 && ids.size() != count) {
    return std::unexpected("a segment of the list has " + std::to_string(ids.size()) +
                           " items instead of " + std::to_string(count));
  }
  if (!all_different(ids, [](Id id) { return id; })) {
    return std::unexpected("a segment of the list is damaged: it names an item twice");
  }
  return ids;
}

std::string missing_text(Ids ids, std::string_view what, Id id) {
  std::string text =
      "the list is damaged: its " + std::string(what) + " " + std::to_string(id) + " is missing";
  if (ids == Ids::drawn)
    text += "; the server may have dropped it to make room, drop_holes takes it out";
  return text;
}

}  // namespace sheaf::client::list

#pragma once

// A line of memcached's list after `lru_crawler metadump`: "key=a%20b exp=-1 la=17 cas=4 ...".
//
// Thread rule: pure functions.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sheaf::cli {

// An item as the list has it.
struct DumpedItem {
  std::string key;
  std::optional<std::int64_t> expiry;  // a second of the server's wall clock; none: never
  std::optional<std::uint64_t> size;   // of the whole item, with key and header; none: not said
};
// Nothing if the line is not an item's, or its key is not encoded correctly.
std::optional<DumpedItem> item_of_dump_line(std::string_view line);

// The meaning of a line.
struct DumpLine {
  enum class Kind : std::uint8_t {
    begin,  // the list follows; not sent by servers before memcached 1.6.45
    item,
    end,
    busy,   // the server is busy with another list
    login,  // the server requires a login first
    other   // not part of a list
  };
  Kind kind = Kind::other;
  DumpedItem item{};  // Kind::item
};
DumpLine read_dump_line(std::string_view line);

}  // namespace sheaf::cli

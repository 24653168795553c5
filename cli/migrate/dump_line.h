#pragma once

// A line of memcached's list after `lru_crawler metadump`: "key=a%20b exp=-1 la=17 cas=4 ...".
//
// Thread rule: pure functions.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sheaf::cli {

// Nothing if the line is not an item's, or its key is not encoded correctly.
std::optional<std::string> key_of_dump_line(std::string_view line);

// The meaning of a line.
struct DumpLine {
  enum class Kind : std::uint8_t {
    begin,  // the list follows; not sent by servers before memcached 1.6.45
    key,
    end,
    busy,  // the server is busy with another list
    other  // not part of a list
  };
  Kind kind = Kind::other;
  std::string key{};  // Kind::key
};
DumpLine read_dump_line(std::string_view line);

// The encoding of those lines: everything except letters, digits and -._~ becomes %XX.
std::string encode_key(std::string_view key);
std::optional<std::string> decode_key(std::string_view text);

}  // namespace sheaf::cli

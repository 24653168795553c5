#pragma once

// A line of what memcached lists with `lru_crawler metadump`: "key=a%20b exp=-1 la=17 cas=4 ...".
//
// Thread rule: pure functions.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sheaf::cli {

// Nothing if the line is not that of an item, or its key is not encoded as it should be.
std::optional<std::string> key_of_dump_line(std::string_view line);

// What a line means.
struct DumpLine {
  enum class Kind : std::uint8_t {
    begin,  // the list follows; servers before memcached 1.6.45 do not send it
    key,
    end,
    busy,  // the server is making another list
    other  // not part of a list
  };
  Kind kind = Kind::other;
  std::string key{};  // Kind::key
};
DumpLine read_dump_line(std::string_view line);

// As in those lines: what is no letter, digit, or one of -._~ as %XX.
std::string encode_key(std::string_view key);
std::optional<std::string> decode_key(std::string_view text);

}  // namespace sheaf::cli

#pragma once

// A line of what memcached lists with `lru_crawler metadump`: "key=a%20b exp=-1 la=17 cas=4 ...".
//
// Thread rule: pure functions.

#include <optional>
#include <string>
#include <string_view>

namespace sheaf::cli {

// Nothing: it is no line of an item, or its key is not encoded as it should be.
std::optional<std::string> key_of_dump_line(std::string_view line);

// As in those lines: what is no letter, digit, or one of -._~ as %XX.
std::string encode_key(std::string_view key);
std::optional<std::string> decode_key(std::string_view text);

}  // namespace sheaf::cli

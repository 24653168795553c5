#pragma once

// The words of `list` commands. An error is one sentence.
//
// Thread rule: pure functions and plain values.

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "cli/line/parser.h"

namespace sheaf::cli {

// NAME
struct ListWords {
  std::string name;
};
std::expected<ListWords, std::string> read_list_words(const ParsedLine& line);

// NAME INDEX, NAME INDEX VALUE
struct ListItemWords {
  std::string name;
  std::int64_t index = 0;  // negative: from the end
  std::string value;
};
std::expected<ListItemWords, std::string> read_list_item_words(const ParsedLine& line);

// NAME FIRST LAST
struct ListRangeWords {
  std::string name;
  std::int64_t first = 0;
  std::int64_t last = 0;
  bool raw = false;  // --raw
};
std::expected<ListRangeWords, std::string> read_list_range_words(const ParsedLine& line);

// NAME VALUE...|-
struct ListPushWords {
  std::string name;
  std::vector<std::string> values;
  bool from_stdin = false;  // one item on each line of standard input
  bool persist = false;     // --persist
};
std::expected<ListPushWords, std::string> read_list_push_words(const ParsedLine& line);

}  // namespace sheaf::cli

#pragma once

// The arguments of `list`: which action, on which list, with what.
//
// Thread rule: pure functions and plain values.

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace sheaf::cli {

enum class ListAction : std::uint8_t {
  push,
  insert,
  update,
  remove,
  range,
  length,
  clear,
  drop_holes
};

struct ListArguments {
  ListAction action = ListAction::length;
  std::string name;
  std::int64_t index = 0;           // insert, update, remove; range: the first
  std::int64_t last = 0;            // range
  std::vector<std::string> values;  // push: any number; insert, update: one
  bool from_stdin = false;          // push -: one item a line
};

// `rest`: what follows the list's name, as many words as the action wants. `piped`: they are "-",
// which stands for standard input. The error is one sentence.
std::expected<ListArguments, std::string> read_list_words(std::string_view action,
                                                          const std::string& name,
                                                          std::vector<std::string> rest,
                                                          bool piped);

}  // namespace sheaf::cli

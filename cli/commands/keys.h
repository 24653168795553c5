#pragma once

// The keys of a command that takes many: from the command line or one a line from standard input.
//
// Thread rule: one thread.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/command.h"
#include "cli/line/key_words.h"

namespace sheaf::cli {

// The most bytes taken from standard input.
inline constexpr std::size_t most_input = 1u << 30;

// Distinct keys in the order in which each first appears. The views point into `text` or into
// `words`, so the object stays where it is.
struct KeyList {
  KeyList() = default;
  KeyList(const KeyList&) = delete;
  KeyList& operator=(const KeyList&) = delete;

  std::string text;
  std::vector<std::string_view> keys;
};

// Reads and checks the keys before anything is asked of a node. Null: a key is not allowed or
// standard input could not be read; one sentence, naming the line where there is one, has been
// printed, in `--json` mode also its line.
std::unique_ptr<KeyList> read_keys(Context& context, const KeysWords& words);

}  // namespace sheaf::cli

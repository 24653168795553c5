#pragma once

// The keys of a command that takes many: from the command line, or one per line of standard input.
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

// The most bytes read from standard input.
inline constexpr std::size_t most_input = 1u << 30;

// Distinct keys in the order in which each first appears. The views point into `text` or into
// `words`, so the object must not move.
struct KeyList {
  KeyList() = default;
  KeyList(const KeyList&) = delete;
  KeyList& operator=(const KeyList&) = delete;

  std::string text;
  std::vector<std::string_view> keys;
};

// Reads and checks the keys before any node is asked. Null: a key is not allowed, or standard input
// could not be read. Then one sentence was printed, with the line number if there is one, and with
// `--json` also its line.
std::unique_ptr<KeyList> read_keys(Context& context, const KeysWords& words);

}  // namespace sheaf::cli

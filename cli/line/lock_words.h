#pragma once

// The words of `lock`.
//
// Thread rule: pure functions and plain values.

#include <chrono>
#include <expected>
#include <string>
#include <vector>

#include "cli/line/parser.h"

namespace sheaf::cli {

struct LockWords {
  std::string name;                         // NAME
  std::vector<std::string> words;           // CMD and its arguments; at least one
  std::chrono::milliseconds lease{10'000};  // --lease: 100ms .. 24h
  std::chrono::milliseconds wait{5'000};    // --wait: 0ms .. 8760h; 0 = tries once
};
// An error is one sentence.
std::expected<LockWords, std::string> read_lock_words(const ParsedLine& line);

}  // namespace sheaf::cli

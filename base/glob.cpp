#include "base/glob.h"

#include <algorithm>
#include <cstddef>

namespace sheaf {
namespace {

// A part of a pattern that stands for one byte.
struct Step {
  bool matches = false;
  std::size_t size = 1;  // in the pattern
};

unsigned char at(std::string_view text, std::size_t index) noexcept {
  return static_cast<unsigned char>(text[index]);
}

// `pattern` begins after the bracket.
Step read_list(std::string_view pattern, unsigned char byte) noexcept {
  const bool inverted = pattern.starts_with('^');
  bool found = false;
  std::size_t i = inverted ? 1 : 0;
  for (; i < pattern.size() && pattern[i] != ']'; ++i) {
    if (pattern[i] == '\\' && i + 1 < pattern.size()) {
      ++i;
      found = found || at(pattern, i) == byte;
    } else if (i + 2 < pattern.size() && pattern[i + 1] == '-') {
      const auto [low, high] = std::minmax({at(pattern, i), at(pattern, i + 2)});
      found = found || (byte >= low && byte <= high);
      i += 2;
    } else {
      found = found || at(pattern, i) == byte;
    }
  }
  return {found != inverted, std::min(i + 1, pattern.size())};
}

// `pattern` is not empty and does not begin with `*`.
Step read_step(std::string_view pattern, unsigned char byte) noexcept {
  if (pattern.front() == '?') return {true, 1};
  if (pattern.front() == '[') {
    const Step list = read_list(pattern.substr(1), byte);
    return {list.matches, list.size + 1};
  }
  if (pattern.front() == '\\' && pattern.size() > 1) return {at(pattern, 1) == byte, 2};
  return {at(pattern, 0) == byte, 1};
}

}  // namespace

// After a mismatch only the last star need take one byte more: what an earlier one took may stay.
bool matches_glob(std::string_view pattern, std::string_view text) noexcept {
  std::string_view after_star;
  std::string_view rest;  // that the last star has not taken
  bool star = false;
  while (!text.empty()) {
    if (pattern.starts_with('*')) {
      pattern.remove_prefix(1);
      after_star = pattern;
      rest = text;
      star = true;
      continue;
    }
    const Step step = pattern.empty() ? Step{} : read_step(pattern, at(text, 0));
    if (step.matches) {
      pattern.remove_prefix(step.size);
      text.remove_prefix(1);
    } else if (star) {
      rest.remove_prefix(1);
      pattern = after_star;
      text = rest;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*') == pattern.npos;
}

}  // namespace sheaf

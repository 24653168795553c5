#pragma once

// Statistics of a server: lines "NAME VALUE\n".
//
// Thread rule: a pure function.

#include <string_view>

namespace sheaf::cli {

// Calls `take(name, value)` for each line; a value may contain blanks.
template <class Take>
void for_each_stat(std::string_view lines, const Take& take) {
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(line.size() == lines.size() ? line.size() : line.size() + 1);
    const std::size_t blank = line.find(' ');
    const bool has_value = blank != std::string_view::npos;
    if (!line.empty()) {
      take(line.substr(0, blank), has_value ? line.substr(blank + 1) : std::string_view());
    }
  }
}

}  // namespace sheaf::cli

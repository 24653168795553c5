#pragma once

// Standard input of the program, and how it is cut into lines.
//
// Thread rule: functions without state.

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace sheaf::cli {

// Everything up to the end of input. The error is one sentence: more than `limit` bytes, or what
// the kernel said.
std::expected<std::string, std::string> read_all(int descriptor, std::size_t limit);

// The lines of `text` without their '\n'; no empty line after a final '\n'. Nothing else separates
// lines and nothing is trimmed: a key may hold any byte but '\n' here.
std::vector<std::string_view> split_lines(std::string_view text);

}  // namespace sheaf::cli

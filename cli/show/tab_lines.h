#pragma once

// Lines KEY<TAB>VALUE, which `mget` prints and `mset` reads.
//
// Thread rule: pure functions.

#include <expected>
#include <string>
#include <string_view>

#include "cli/show/json_lines.h"

namespace sheaf::cli {

// The form of the lines that `mset` reads; the first line decides it.
enum class LineForm { json, tab };
// An error is a phrase without the line's number.
std::expected<LineForm, std::string> form_of_line(std::string_view first);

// Key and value are separated by the first tab. An error is a phrase without the line's number.
std::expected<KeyValue, std::string> parse_tab_line(std::string_view line);

}  // namespace sheaf::cli

#pragma once

// Text in lines of a certain width.
//
// Thread rule: pure function.

#include <cstddef>
#include <string>
#include <string_view>

namespace sheaf {

// The words of `text` in lines of at most `width` columns, each indented, with a line end. A longer
// word has a line of its own. `first`: columns that the first line has already.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent = 0,
                    std::size_t first = 0);

}  // namespace sheaf

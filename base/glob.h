#pragma once

// Patterns for keys, with the rules of Redis: `*` is any number of bytes, `?` one byte, `[a-z_]` a
// byte of a list, `[^a-z]` one that is not in it; a backslash takes the next byte as it is. A list
// without its `]` ends with the pattern.
//
// Thread rule: pure functions.

#include <string_view>

namespace sheaf {

// Takes at most pattern.size() * text.size() steps.
bool matches_glob(std::string_view pattern, std::string_view text) noexcept;

}  // namespace sheaf

#pragma once

// Bytes written as %XX: RFC 3986, section 2.1.
//
// Thread rule: pure functions.

#include <optional>
#include <string>
#include <string_view>

namespace sheaf {

// Letters, digits, `-._~` and the characters of `kept` stay as they are.
std::string percent_encode(std::string_view text, std::string_view kept = {});
// Nothing if a % is not followed by two hexadecimal digits. A result that is moved leaves no copy
// behind, as it may be a password.
std::optional<std::string> percent_decode(std::string_view text);

}  // namespace sheaf

#pragma once

// Topic filters of MQTT 5 section 4.7.
//
// Thread rule: free functions.
// Pure: no socket, clock, entropy, thread or callback.

#include <string_view>

namespace sheaf::store::server {

// Section 4.7.1: wildcards only as whole levels, '#' only as the last; no NUL.
bool valid_filter(std::string_view filter) noexcept;

// A wildcard at the first level does not match topics that begin with '$' (section 4.7.2).
bool matches(std::string_view filter, std::string_view topic) noexcept;

}  // namespace sheaf::store::server

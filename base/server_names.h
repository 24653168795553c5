#pragma once

// Which names servers may have: the rules of a configuration for hosts, in one place for all who
// read lists of servers.
//
// Thread rule: pure functions.

#include <optional>
#include <string>
#include <string_view>

namespace sheaf::server_names {

inline constexpr std::size_t max_nodes = 1'024;
inline constexpr std::string_view port_rule = "an integer from 1 to 65535";

// Writes the 16 bytes of an IPv6 address or the 4 of an IPv4 address to `out`.
bool is_address(int family, std::string_view text, void* out) noexcept;
// True for an IPv6 address; one of a link (fe80::/10) may have a zone, "fe80::1%eth0" (RFC 4007).
bool is_ipv6(std::string_view host) noexcept;

// What is wrong with a host, in one sentence; nothing if it may be configured. It has no brackets;
// `bracketed`: it had some.
std::optional<std::string> fault_of_host(std::string_view host, bool bracketed);

// An identity for comparison: host names that differ only in case are one server (RFC 4343); paths
// are compared exactly.
std::string folded(std::string_view identity);

}  // namespace sheaf::server_names

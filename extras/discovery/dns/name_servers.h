#pragma once

// Which name servers are asked: those of the file /etc/resolv.conf (resolv.conf(5)), or those that
// a program names.
//
// Thread rule: pure functions.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sheaf::discovery::dns {

inline constexpr std::uint16_t default_port = 53;
// As many as the C library asks; the file may list more.
inline constexpr std::size_t max_name_servers = 3;

struct NameServer {
  std::string address;  // numeric; IPv6 without brackets, with an optional zone: "fe80::1%eth0"
  std::uint16_t port = default_port;
  friend bool operator==(const NameServer&, const NameServer&) = default;
};

// Reads the lines `nameserver ADDRESS`. Without one it returns 127.0.0.1, as the C library does.
std::vector<NameServer> read_resolver_file(std::string_view text);
// Parses ADDRESS, ADDRESS:PORT, [ADDRESS] or [ADDRESS]:PORT; nothing for any other form. The
// address itself is checked when it is used.
std::optional<NameServer> read_name_server(std::string_view text);

}  // namespace sheaf::discovery::dns

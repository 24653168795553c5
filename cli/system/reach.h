#pragma once

// The way to a server, one step at a time: the addresses of its name, and connecting to one.
//
// Thread rule: any thread; both functions block.

#include <chrono>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace sheaf::cli {

// The addresses of a host name as text, each once, in the order of the resolver. An error is one
// clause: "Name or service not known".
std::expected<std::vector<std::string>, std::string> addresses_of(const std::string& host);

// Connects and hangs up. The path of a Unix socket has no port. An error is one clause: "Connection
// refused".
std::expected<void, std::string> reach(const std::string& address, std::uint16_t port,
                                       std::chrono::milliseconds timeout);

}  // namespace sheaf::cli

// Pure: no socket, clock, entropy, thread or callback.

#include "extras/discovery/dns/name_servers.h"

#include <algorithm>

#include "base/text.h"

namespace sheaf::discovery::dns {
namespace {

std::string_view take_word(std::string_view& line) {
  constexpr std::string_view blanks = " \t\r";
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(blanks));
  line.remove_prefix(word.size());
  return word;
}

}  // namespace

std::vector<NameServer> read_resolver_file(std::string_view text) {
  std::vector<NameServer> servers;
  while (!text.empty() && servers.size() < max_name_servers) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (take_word(line) != "nameserver") continue;
    const std::string_view address = take_word(line);
    if (!address.empty()) servers.push_back({std::string(address)});
  }
  if (servers.empty()) servers.push_back({"127.0.0.1"});
  return servers;
}

std::optional<NameServer> read_name_server(std::string_view text) {
  NameServer server;
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == text.npos) return std::nullopt;
    server.address = text.substr(1, end - 1);
    port = text.substr(end + 1);
  } else if (text.find(':') == text.rfind(':')) {
    server.address = text.substr(0, text.find(':'));
    port = text.substr(server.address.size());
  } else {
    server.address = text;
  }
  if (server.address.empty()) return std::nullopt;
  if (port.empty()) return server;
  const auto number = port.front() == ':' ? parse_decimal(port.substr(1)) : std::nullopt;
  if (!number || *number == 0 || *number > 65'535) return std::nullopt;
  server.port = static_cast<std::uint16_t>(*number);
  return server;
}

}  // namespace sheaf::discovery::dns

#include "base/server_names.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.h"

namespace sheaf::server_names {
namespace {

constexpr std::size_t max_host = 253;  // RFC 1035 §2.3.4, as text

constexpr bool is_name_char(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_';
}

bool is_host_name(std::string_view host) noexcept {
  if (host.size() > max_host || !std::ranges::all_of(host, is_name_char)) return false;
  // Only digits and dots make an address, and a wrong one must not be looked up in the DNS.
  if (host.find_first_not_of("0123456789.") != host.npos) return true;
  in_addr address{};
  return is_address(AF_INET, host, &address);
}

// The name of an interface (Linux, IFNAMSIZ) or its number; RFC 4007 §11.
bool is_zone(std::string_view zone) noexcept {
  constexpr std::size_t longest = 15;
  return !zone.empty() && zone.size() <= longest && std::ranges::all_of(zone, is_name_char);
}

// A link-local address is one on each link, so without a zone it cannot be connected to.
bool lacks_zone(std::string_view host) noexcept {
  in6_addr address{};
  return is_address(AF_INET6, host, &address) && IN6_IS_ADDR_LINKLOCAL(&address);
}

}  // namespace

bool is_address(int family, std::string_view text, void* out) noexcept {
  std::array<char, INET6_ADDRSTRLEN + 1> buffer{};
  if (text.size() >= buffer.size() || text.find('\0') != text.npos) return false;
  std::memcpy(buffer.data(), text.data(), text.size());
  return inet_pton(family, buffer.data(), out) == 1;
}

bool is_ipv6(std::string_view host) noexcept {
  in6_addr address{};
  const std::size_t percent = host.find('%');
  if (!is_address(AF_INET6, host.substr(0, percent), &address)) return false;
  if (percent == host.npos) return true;
  return IN6_IS_ADDR_LINKLOCAL(&address) && is_zone(host.substr(percent + 1));
}

std::optional<std::string> fault_of_host(std::string_view host, bool bracketed) {
  if (host.empty()) return "the host is empty";
  if (bracketed && !is_ipv6(host)) return "the text in brackets is not an IPv6 address";
  if (lacks_zone(host)) {
    return "a link-local address needs the interface that it is reached by: " + std::string(host) +
           "%eth0";
  }
  if (!bracketed && !is_host_name(host)) return "the host is neither a name nor an address";
  return std::nullopt;
}

std::string folded(std::string_view identity) {
  std::string out(identity);
  if (is_path(identity)) return out;
  for (char& c : out) c = lower(c);
  return out;
}

}  // namespace sheaf::server_names

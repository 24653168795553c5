#include "cluster/config/config_uri.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/percent.h"
#include "base/secret.h"
#include "base/text.h"

namespace sheaf::cluster {
namespace {

Checked read_login(std::string_view login, ConfigBuilder& builder) {
  if (login.find(',') != login.npos) {
    return refusal(
        "user and password are given once, before the first host; write %2C for a comma");
  }
  const bool with_password = login.find(':') != login.npos;
  const auto user = percent_decode(take_until(login, ':'));
  auto password = percent_decode(login);
  if (!user || !password) {
    return refusal("in user and password a % must be followed by two hexadecimal digits");
  }
  if (user->empty() && password->empty()) return refusal("there is no user before the @");
  if (auto set = builder.set_user(*user); !set) return refusal("the user " + set.error().text);
  if (!with_password) return {};
  auto set = builder.set_password(*password);
  wipe(*password);
  if (!set) return refusal("the password " + set.error().text);
  return {};
}

// Reads a whole number that obeys one of the two rules above; 0 if the text is not one.
std::uint16_t read_small(std::string_view text) {
  const auto number = parse_decimal(text);
  return number && *number <= 65'535 ? static_cast<std::uint16_t>(*number) : std::uint16_t{0};
}

// Reads the path of a Unix socket as a host.
Checked read_path(std::string_view text, ServerParts server, const std::string& where,
                  ConfigBuilder& builder) {
  const auto path = percent_decode(text);
  if (!path) return refusal(where + ": in a path a % must be followed by two hexadecimal digits");
  server.host = *path;
  return builder.add_server(server, where);
}

// RFC 6874 writes the % before the zone of an address as %25; many write it as it is.
std::string without_escape(std::string_view address) {
  std::string out(address);
  if (const std::size_t at = out.find("%25"); at != out.npos) out.erase(at + 1, 2);
  return out;
}

// True for ":PORT:WEIGHT", as other clients write a weight. No IPv6 address ends like that without
// further colons.
bool is_port_and_weight(std::string_view text) {
  if (!text.starts_with(':')) return false;
  text.remove_prefix(1);
  const std::string_view port = take_until(text, ':');
  return parse_decimal(port) && parse_decimal(text);
}

// host[:port][*weight] or /path[*weight]
Checked read_server(std::string_view text, const std::string& where, ConfigBuilder& builder) {
  if (text.empty()) return refusal(where + " is empty");
  ServerParts server;
  if (const std::size_t star = text.find('*'); star != text.npos) {
    server.weight = read_small(text.substr(star + 1));
    if (server.weight == 0)
      return refusal(where + ": the weight is not " + std::string(weight_rule));
    text = text.substr(0, star);
  }
  if (is_path(text)) return read_path(text, server, where, builder);
  server.bracketed = text.starts_with('[');
  std::string address;
  if (server.bracketed) {
    text.remove_prefix(1);
    if (text.find(']') == text.npos) return refusal(where + ": a bracket is not closed");
    address = without_escape(take_until(text, ']'));
    server.host = address;
    if (!text.empty() && text.front() != ':') {
      return refusal(where + ": only a port may follow the bracket");
    }
  } else {
    server.host = text.substr(0, text.find(':'));
    text.remove_prefix(server.host.size());
  }
  if (is_port_and_weight(text)) {
    return refusal(where + ": a weight is written after a star, HOST:PORT*WEIGHT");
  }
  if (text.find(':') != text.rfind(':')) {
    return refusal(where + ": an IPv6 address must be in brackets");
  }
  if (!text.empty()) {
    server.port = read_small(text.substr(1));
    if (server.port == 0) return refusal(where + ": the port is not " + std::string(port_rule));
  }
  return builder.add_server(server, where);
}

Checked read_servers(std::string_view text, ConfigBuilder& builder) {
  std::size_t number = 1;
  for (bool more = true; more; ++number) {
    more = text.find(',') != text.npos;
    const std::string_view server = take_until(text, ',');
    if (auto read = read_server(server, "server " + std::to_string(number), builder); !read) {
      return read;
    }
  }
  return {};
}

// A path may contain any byte.
Checked read_option(std::string_view name, std::string_view value, ConfigBuilder& builder) {
  const Option* const option = find_option(name);
  if (option == nullptr || option->type != OptionType::path) {
    return builder.set_option(name, value, Written::uri);
  }
  const auto path = percent_decode(value);
  if (!path) return refusal("has a % that is not followed by two hexadecimal digits");
  return builder.set_option(name, *path, Written::uri);
}

Checked read_options(std::string_view text, ConfigBuilder& builder) {
  std::size_t number = 1;
  for (bool more = true; more; ++number) {
    more = text.find('&') != text.npos;
    std::string_view option = take_until(text, '&');
    if (option.find('=') == option.npos) {
      const std::string place = "option " + std::to_string(number) + " is not name=value";
      const bool weight = number == 1 && parse_decimal(option);
      return refusal(weight ? place + "; a weight is written after a star, HOST:PORT*WEIGHT"
                            : place);
    }
    const std::string_view name = take_until(option, '=');
    // An unknown name is quoted only if it cannot be a part of something else, such as a password.
    if (!is_name(name)) return refusal("the name of an option is not " + std::string(name_rule));
    if (auto set = read_option(name, option, builder); !set) {
      return refusal("option " + std::string(name) + " " + set.error().text);
    }
  }
  return {};
}

// A "/" may only begin the path of a Unix socket. A "#" is allowed nowhere.
bool check_slashes(std::string_view authority) {
  if (authority.find('#') != authority.npos) return false;
  if (const std::size_t at = authority.find('@'); at != authority.npos) {
    if (authority.substr(0, at).find('/') != authority.npos) return false;
    authority.remove_prefix(at + 1);
  }
  while (!authority.empty()) {
    const std::string_view server = take_until(authority, ',');
    if (!is_path(server) && server.find('/') != server.npos) return false;
  }
  return true;
}

// Removes "/DATABASE" from the end. Everyone writes redis://host/0.
Checked take_database(std::string_view& authority) {
  const std::size_t server = authority.find_last_of(",@") + 1;  // 0: the only server
  const std::size_t slash = authority.rfind('/');
  if (slash == authority.npos || is_path(authority.substr(server))) return {};
  const auto database = parse_decimal(authority.substr(slash + 1));
  if (!database) return {};
  if (*database != 0) {
    return refusal("database " + std::to_string(*database) +
                   " cannot be selected: " + std::string(only_database));
  }
  authority.remove_suffix(authority.size() - slash);
  return {};
}

// Finds characters that are allowed nowhere. This is done before the URI is split, because a
// reserved character inside a password must not cut it in two.
Checked check_characters(std::string_view authority, std::string_view options) {
  const auto bare = [](char c) { return (c >= '\0' && c <= ' ') || c == '\x7f'; };
  if (authority.contains(", ") && !authority.contains('@')) {
    return refusal("only a comma may be between two servers, without a blank");
  }
  if (std::ranges::any_of(authority, bare) || std::ranges::any_of(options, bare)) {
    return refusal(
        "in user and password write blanks and control characters as %XX; elsewhere they are not "
        "allowed");
  }
  if (authority.find('@') != authority.rfind('@') || options.find('@') != options.npos) {
    return refusal("in user and password write \"?\" as %3F and \"@\" as %40");
  }
  if (!check_slashes(authority)) {
    return refusal(
        "\"/\" and \"#\" may not follow the servers; in user and password write them as %2F and "
        "%23");
  }
  return {};
}

}  // namespace

Checked read_uri(std::string_view uri, ConfigBuilder& builder) {
  if (uri.size() > max_config_bytes) return refusal("the URI is longer than 1 MiB");
  const std::size_t colon = uri.find("://");
  if (colon == uri.npos)
    return refusal("the URI does not begin with " + protocol::list_schemes("://") +
                   ", or with TLS " + protocol::list_tls_schemes("://"));
  if (auto known = builder.set_scheme(uri.substr(0, colon)); !known) return known;
  std::string_view rest = uri.substr(colon + 3);
  const bool with_options = rest.find('?') != rest.npos;
  std::string_view authority = take_until(rest, '?');
  if (authority.ends_with('/') && authority.size() > 1) authority.remove_suffix(1);
  const bool has_databases = builder.traits().options == protocol::OptionGroup::redis;
  if (has_databases) {
    if (auto taken = take_database(authority); !taken) return taken;
  }
  if (auto clean = check_characters(authority, rest); !clean) return clean;
  if (authority.find('@') != authority.npos) {
    if (auto login = read_login(take_until(authority, '@'), builder); !login) return login;
  }
  const bool engines = builder.traits().transport == protocol::Transport::engines;
  const auto servers = engines ? builder.set_engines(authority) : read_servers(authority, builder);
  if (!servers) return servers;
  return with_options ? read_options(rest, builder) : Checked{};
}

}  // namespace sheaf::cluster

// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/cluster/server_facts.h"

#include <algorithm>

namespace sheaf::protocol::resp {
namespace {

std::string_view text_at(const Value& map, std::string_view key) noexcept {
  const auto value = map.find(key);
  return value ? value->text() : std::string_view{};
}

std::optional<Role> role_of(std::string_view text) noexcept {
  if (text == "master" || text == "primary") return Role::primary;
  if (text == "slave" || text == "replica") return Role::replica;
  return std::nullopt;
}

}  // namespace

std::string ServerFacts::name() const {
  std::string text;
  if (!version) return text;
  switch (software) {
    case Software::unknown:
      break;
    case Software::redis:
      text = "Redis ";
      break;
    case Software::valkey:
      text = "Valkey ";
      break;
    case Software::garnet:
      text = "Garnet ";
      break;
  }
  return text.append(version->text());
}

ServerFacts ServerFacts::of_hello(const Value& reply) {
  ServerFacts facts;
  const std::string_view server = text_at(reply, "server");
  const std::string_view garnet_version = text_at(reply, "garnet_version");
  if (server == "redis") facts.software = Software::redis;
  if (server == "valkey") facts.software = Software::valkey;
  if (!garnet_version.empty()) facts.software = Software::garnet;
  facts.version =
      ServerVersion::parse(garnet_version.empty() ? text_at(reply, "version") : garnet_version);
  facts.role = role_of(text_at(reply, "role"));
  facts.cluster = text_at(reply, "mode") == "cluster";
  const auto protocol = reply.find("proto");  // a text in Garnet before November 2024
  if (protocol && protocol->number() == 3) facts.protocol = 3;
  return facts;
}

// Parses lines of NAME:VALUE; other lines begin with "#".
void ServerFacts::add_info(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, size);
    text.remove_prefix(std::min(size + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t colon = std::min(line.find(':'), line.size());
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = line.substr(std::min(colon + 1, line.size()));
    const bool own_version = is(Software::unknown) || is(Software::redis);
    if (name == "garnet_version") {
      software = Software::garnet;
      version = ServerVersion::parse(value);
    } else if (name == "valkey_version") {
      software = Software::valkey;
      version = ServerVersion::parse(value);
    } else if (name == "redis_version" && own_version) {
      software = Software::redis;
      version = ServerVersion::parse(value);
    } else if (name == "redis_mode" || name == "server_mode") {
      cluster = value == "cluster";
    } else if (name == "role") {
      role = role_of(value);
    }
  }
}

}  // namespace sheaf::protocol::resp

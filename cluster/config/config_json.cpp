#include "cluster/config/config_json.h"

#include "base/strict_json.h"
#include "base/text.h"
#include "cluster/config/config_builder.h"
#include "cluster/config/config_uri.h"

namespace sheaf::cluster {
namespace {

constexpr std::size_t max_clusters = 256;

// A sentence whose subject is the field itself.
std::unexpected<Problem> at(const std::string& path, const std::string& predicate) {
  return refusal(path + " " + predicate);
}
// A sentence about something inside the field.
std::unexpected<Problem> within(const std::string& path, Problem bad) {
  bad.text = path + ": " + bad.text;
  return std::unexpected(std::move(bad));
}

std::expected<std::uint32_t, Problem> read_number(const JsonValue& value, const std::string& path,
                                                  std::string_view rule) {
  const std::uint64_t number = value.whole.value_or(0);
  if (number < 1 || number > 65'535) return at(path, "must be " + std::string(rule));
  return static_cast<std::uint32_t>(number);
}

// {"host":"b1","port":1883,"weight":2}
Checked read_server(const JsonValue& server, const std::string& path, ConfigBuilder& builder) {
  if (!server.is_object()) return at(path, "must be an object with host, port and weight");
  ServerParts parts;
  bool has_host = false;
  for (const auto& [name, value] : server.members) {
    const std::string place = json_field(path, name);
    if (name == "host") {
      if (!value.is_text()) return at(place, "must be a JSON string");
      parts.host = value.text;
      has_host = true;
    } else if (name == "port" || name == "weight") {
      const auto number = read_number(value, place, name == "port" ? port_rule : weight_rule);
      if (!number) return std::unexpected(number.error());
      if (name == "port") parts.port = static_cast<std::uint16_t>(*number);
      if (name == "weight") parts.weight = *number;
    } else {
      constexpr std::string_view fields[] = {"host", "port", "weight"};
      return at(place, "is not a field of a server" + guess(name, fields));
    }
  }
  if (!has_host) return at(json_field(path, "host"), "is missing");
  parts.bracketed = !is_path(parts.host) && parts.host.find(':') != parts.host.npos;
  return builder.add_server(parts, path);
}

Checked read_server_list(const JsonValue& cluster, const std::string& path,
                         ConfigBuilder& builder) {
  const JsonValue* const kind = cluster.find("kind");
  const std::string kind_path = json_field(path, "kind");
  if (kind == nullptr) return at(kind_path, "is missing next to a list of servers");
  if (!kind->is_text()) return at(kind_path, "must be a JSON string");
  const auto& scheme = kind->text;
  if (auto known = builder.set_scheme(scheme); !known) return within(kind_path, known.error());
  if (builder.traits().transport == protocol::Transport::engines) {
    const std::string known(builder.traits().scheme);
    return at(kind_path, "is " + known + ", which has no list of servers: write \"servers\": \"" +
                             known + "://N\"");
  }
  const std::vector<JsonValue>& servers = cluster.find("servers")->elements;
  const std::string servers_path = json_field(path, "servers");
  for (std::size_t i = 0; i < servers.size(); ++i) {
    if (auto read = read_server(servers[i], json_element(servers_path, i), builder); !read)
      return read;
  }
  return {};
}

Checked read_servers(const JsonValue& cluster, const std::string& path, ConfigBuilder& builder) {
  const JsonValue* const servers = cluster.find("servers");
  const std::string place = json_field(path, "servers");
  if (servers == nullptr) return at(place, "is missing");
  if (servers->is_array()) return read_server_list(cluster, path, builder);
  if (!servers->is_text()) return at(place, "must be a URI or a list of servers");
  if (cluster.find("kind") != nullptr) {
    return at(json_field(path, "kind"), "is allowed only next to a list of servers");
  }
  auto read = read_uri(servers->text, builder);
  if (!read) return within(place, read.error());
  return {};
}

Checked read_option(const std::string& name, const JsonValue& value, ConfigBuilder& builder) {
  if (value.is_text()) {
    return builder.set_option(name, value.text, Written::json_text);
  }
  if (value.kind == JsonValue::Kind::boolean) {
    return builder.set_option(name, value.boolean ? "true" : "false", Written::json_boolean);
  }
  if (value.kind == JsonValue::Kind::number)
    return builder.set_option(name, value.text, Written::json_number);
  return refusal("must be a string, a number or a boolean");
}

Checked read_field(const std::string& name, const JsonValue& value, ConfigBuilder& builder) {
  if (name == "user" || name == "password") {
    if (!value.is_text()) return refusal("must be a JSON string");
    const auto& text = value.text;
    return name == "user" ? builder.set_user(text) : builder.set_password(text);
  }
  if (find_option(name) == nullptr) {
    return refusal("is not a field of a cluster" + guess_option(name));
  }
  return read_option(name, value, builder);
}

std::expected<ClusterConfig, Problem> read_cluster(const JsonValue& cluster,
                                                   const std::string& path) {
  if (!cluster.is_object()) return at(path, "must be an object");
  ConfigBuilder builder;
  if (auto read = read_servers(cluster, path, builder); !read) {
    return std::unexpected(read.error());
  }
  for (const auto& [name, value] : cluster.members) {
    if (name == "servers" || name == "kind") continue;
    if (auto read = read_field(name, value, builder); !read) {
      return at(json_field(path, name), read.error().text);
    }
  }
  auto config = builder.finish();
  if (!config) return within(path, config.error());
  return config;
}

}  // namespace

std::expected<Clusters, Problem> read_json(std::string_view text) {
  if (text.size() > max_config_bytes) return refusal("the configuration is longer than 1 MiB");
  const auto document = parse_strict_json(text);
  if (!document) return refusal(document.error());
  if (!document->is_object()) return refusal("the configuration must be a JSON object");
  for (const auto& [name, value] : document->members) {
    if (name != "clusters") return at(json_field({}, name), "is not a field of the configuration");
  }
  const JsonValue* const clusters = document->find("clusters");
  if (clusters == nullptr) return refusal("clusters is missing");
  if (!clusters->is_object()) return refusal("clusters must be an object of named clusters");
  if (clusters->members.empty()) return refusal("clusters names no cluster");
  if (clusters->members.size() > max_clusters) {
    return refusal("clusters names more than " + std::to_string(max_clusters) + " clusters");
  }
  Clusters out;
  for (const auto& [name, value] : clusters->members) {
    const std::string path = json_field("clusters", name);
    if (!is_name(name)) return at(path, "is not a name of " + std::string(name_rule));
    auto config = read_cluster(value, path);
    if (!config) return std::unexpected(std::move(config.error()));
    out.emplace_back(name, std::move(*config));
  }
  return out;
}

}  // namespace sheaf::cluster

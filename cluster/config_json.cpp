#include "cluster/config_json.h"

// Two passes: a checker that refuses what a JSON
// document may contain but a configuration may not (repeated fields, deep nesting) with the place,
// then the reader. Texts of the JSON library are not shown: they quote the document, and it may
// hold a password.

#include <nlohmann/json.hpp>

#include <algorithm>
#include <unordered_set>

#include "base/text.h"
#include "cluster/config_builder.h"
#include "cluster/config_uri.h"

namespace sheaf::cluster {
namespace {

using Json = nlohmann::ordered_json;  // keeps the order of the document

constexpr std::size_t max_depth = 8;
constexpr std::size_t max_clusters = 256;

std::unexpected<Problem> problem(std::string text) {
  return std::unexpected(Problem{std::move(text)});
}

// A sentence whose subject is the field itself.
std::unexpected<Problem> at(const std::string& path, const std::string& predicate) {
  return problem(path + " " + predicate);
}
// A sentence about something within the field.
std::unexpected<Problem> within(const std::string& path, Problem bad) {
  bad.text = path + ": " + bad.text;
  return std::unexpected(std::move(bad));
}

// A field's place: "clusters.main" + "servers". A name that is no plain word is quoted and escaped.
std::string field(const std::string& path, std::string_view name) {
  std::string own = is_name(name) && name.find('.') == name.npos ? std::string(name)
                                                                 : "\"" + printable(name) + "\"";
  return path.empty() ? own : path + "." + own;
}
std::string element(const std::string& path, std::size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

// Follows the parser and stops it at the first fault.
class Checker {
 public:
  explicit Checker(std::string_view text) : text_(text) {}
  const std::string& fault() const noexcept { return fault_; }

  bool null() { return value(); }
  bool boolean(bool) { return value(); }
  bool number_integer(Json::number_integer_t) { return value(); }
  bool number_unsigned(Json::number_unsigned_t) { return value(); }
  bool number_float(Json::number_float_t, const std::string&) { return value(); }
  bool string(std::string&) { return value(); }
  bool binary(Json::binary_t&) { return value(); }
  bool start_object(std::size_t) { return open(false); }
  bool start_array(std::size_t) { return open(true); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    Level& level = levels_.back();
    level.path = field(levels_.size() > 1 ? place(levels_.size() - 2) : std::string{}, name);
    if (level.names.insert(name).second) return true;
    return fail(level.path + " is given twice");
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) {
    const std::string_view before = text_.substr(0, position == 0 ? 0 : position - 1);
    const auto lines = std::ranges::count(before, '\n');
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 = 0
    return fail("line " + std::to_string(lines + 1) + ", column " +
                std::to_string(before.size() - line_start + 1) + ": this is not JSON");
  }

 private:
  struct Level {
    bool array = false;
    std::size_t index = 0;
    std::string path;  // objects: of the current field
    std::unordered_set<std::string> names;
  };

  // The place of the value that is being read at a level.
  std::string place(std::size_t depth) const {
    const Level& level = levels_[depth];
    if (!level.array) return level.path;
    return element(depth == 0 ? std::string{} : place(depth - 1), level.index);
  }
  bool open(bool array) {
    if (levels_.size() == max_depth) {
      return fail(place(levels_.size() - 1) + " is nested deeper than " +
                  std::to_string(max_depth) + " levels");
    }
    levels_.push_back({array, 0, {}, {}});
    return true;
  }
  bool close() {
    levels_.pop_back();
    return value();
  }
  bool value() {
    if (!levels_.empty() && levels_.back().array) ++levels_.back().index;
    return true;
  }
  bool fail(std::string text) {
    fault_ = std::move(text);
    return false;
  }

  std::string_view text_;
  std::string fault_;
  std::vector<Level> levels_;
};

std::expected<std::uint32_t, Problem> read_number(const Json& value, const std::string& path,
                                                  std::string_view rule) {
  const bool whole = value.is_number_unsigned();
  const std::uint64_t number = whole ? value.get<std::uint64_t>() : 0;
  if (number < 1 || number > 65'535) return at(path, "must be " + std::string(rule));
  return static_cast<std::uint32_t>(number);
}

// {"host":"b1","port":1883,"weight":2}
Checked read_server(const Json& server, const std::string& path, ConfigBuilder& builder) {
  if (!server.is_object()) return at(path, "must be an object with host, port and weight");
  ServerParts parts;
  bool has_host = false;
  for (const auto& [name, value] : server.items()) {
    const std::string place = field(path, name);
    if (name == "host") {
      if (!value.is_string()) return at(place, "must be a JSON string");
      parts.host = value.get_ref<const std::string&>();
      has_host = true;
    } else if (name == "port" || name == "weight") {
      const auto number = read_number(value, place, name == "port" ? port_rule : weight_rule);
      if (!number) return std::unexpected(number.error());
      if (name == "port") parts.port = static_cast<std::uint16_t>(*number);
      if (name == "weight") parts.weight = *number;
    } else {
      return at(place, "is no field of a server");
    }
  }
  if (!has_host) return at(field(path, "host"), "is missing");
  parts.bracketed = parts.host.find(':') != parts.host.npos;
  return builder.add_server(parts, path);
}

Checked read_server_list(const Json& cluster, const std::string& path, ConfigBuilder& builder) {
  const auto kind = cluster.find("kind");
  const std::string kind_path = field(path, "kind");
  if (kind == cluster.end()) return at(kind_path, "is missing beside a list of servers");
  if (!kind->is_string()) return at(kind_path, "must be a JSON string");
  const auto& scheme = kind->get_ref<const std::string&>();
  if (auto known = builder.set_scheme(scheme); !known) return within(kind_path, known.error());
  if (builder.traits().transport == protocol::Transport::engines) {
    const std::string known(builder.traits().scheme);
    return at(kind_path, "is " + known + ", which has no list of servers: write \"servers\": \"" +
                             known + "://N\"");
  }
  const Json& servers = cluster.at("servers");
  const std::string servers_path = field(path, "servers");
  for (std::size_t i = 0; i < servers.size(); ++i) {
    if (auto read = read_server(servers[i], element(servers_path, i), builder); !read) return read;
  }
  return {};
}

Checked read_servers(const Json& cluster, const std::string& path, ConfigBuilder& builder) {
  const auto servers = cluster.find("servers");
  const std::string place = field(path, "servers");
  if (servers == cluster.end()) return at(place, "is missing");
  if (servers->is_array()) return read_server_list(cluster, path, builder);
  if (!servers->is_string()) return at(place, "must be a URI or a list of servers");
  if (cluster.contains("kind")) {
    return at(field(path, "kind"), "stands only beside a list of servers");
  }
  auto read = read_uri(servers->get_ref<const std::string&>(), builder);
  if (!read) return within(place, read.error());
  return {};
}

Checked read_option(const std::string& name, const Json& value, ConfigBuilder& builder) {
  if (value.is_string()) {
    return builder.set_option(name, value.get_ref<const std::string&>(), Written::json_text);
  }
  if (value.is_boolean()) {
    return builder.set_option(name, value.get<bool>() ? "true" : "false", Written::json_boolean);
  }
  if (value.is_number()) return builder.set_option(name, value.dump(), Written::json_number);
  return problem("must be a string, a number or a boolean");
}

Checked read_field(const std::string& name, const Json& value, ConfigBuilder& builder) {
  if (name == "user" || name == "password") {
    if (!value.is_string()) return problem("must be a JSON string");
    const auto& text = value.get_ref<const std::string&>();
    return name == "user" ? builder.set_user(text) : builder.set_password(text);
  }
  if (find_option(name) == nullptr) return problem("is no field of a cluster");
  return read_option(name, value, builder);
}

std::expected<ClusterConfig, Problem> read_cluster(const Json& cluster, const std::string& path) {
  if (!cluster.is_object()) return at(path, "must be an object");
  ConfigBuilder builder;
  if (auto read = read_servers(cluster, path, builder); !read) {
    return std::unexpected(read.error());
  }
  for (const auto& [name, value] : cluster.items()) {
    if (name == "servers" || name == "kind") continue;
    if (auto read = read_field(name, value, builder); !read) {
      return at(field(path, name), read.error().text);
    }
  }
  auto config = builder.finish();
  if (!config) return within(path, config.error());
  return config;
}

}  // namespace

std::expected<Clusters, Problem> read_json(std::string_view text) {
  if (text.size() > max_config_bytes) return problem("the configuration is longer than 1 MiB");
  Checker checker(text);
  if (!Json::sax_parse(text, &checker)) return problem(checker.fault());
  const Json document = Json::parse(text, nullptr, false);
  if (!document.is_object()) return problem("the configuration must be a JSON object");
  for (const auto& [name, value] : document.items()) {
    if (name != "clusters") return at(field({}, name), "is no field of the configuration");
  }
  const auto clusters = document.find("clusters");
  if (clusters == document.end()) return problem("clusters is missing");
  if (!clusters->is_object()) return problem("clusters must be an object of named clusters");
  if (clusters->empty()) return problem("clusters names no cluster");
  if (clusters->size() > max_clusters) {
    return problem("clusters names more than " + std::to_string(max_clusters) + " clusters");
  }
  Clusters out;
  for (const auto& [name, value] : clusters->items()) {
    const std::string path = field("clusters", name);
    if (!is_name(name)) return at(path, "is not a name of " + std::string(name_rule));
    auto config = read_cluster(value, path);
    if (!config) return std::unexpected(std::move(config.error()));
    out.emplace_back(name, std::move(*config));
  }
  return out;
}

}  // namespace sheaf::cluster

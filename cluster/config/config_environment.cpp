#include "cluster/config/config_environment.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/strict_json.h"
#include "base/text.h"
#include "cluster/config/config_builder.h"
#include "cluster/config/config_options.h"

namespace sheaf::cluster {
namespace {

enum class Setting : std::uint8_t {
  host,
  port,
  use_tls,
  ca,
  certificate,
  key,
  key_password,
  token,
  user,
  password,
  client_id,
  clean_start,
  keep_alive,
  session_expiry,
  in_flight,
  connector
};
constexpr std::size_t setting_count = 16;

struct SettingRow {
  std::string_view variable;  // AIO_...
  std::string_view name;      // in a connection string
  std::string_view option;    // the option that takes the value as it is; empty: apply() reads it
};
// In the order of the enumerators.
constexpr std::array<SettingRow, setting_count> rows{{
    {hostname_variable, "HostName", ""},
    {"AIO_BROKER_TCP_PORT", "TcpPort", ""},
    {"AIO_MQTT_USE_TLS", "UseTls", ""},
    {"AIO_TLS_CA_FILE", "CaFile", "tls_ca"},
    {"AIO_TLS_CERT_FILE", "CertFile", "tls_cert"},
    {"AIO_TLS_KEY_FILE", "KeyFile", "tls_key"},
    {"AIO_TLS_KEY_PASSWORD_FILE", "KeyPasswordFile", "tls_key_password_file"},
    {"AIO_SAT_FILE", "SatAuthFile", "token_file"},
    {"AIO_MQTT_USERNAME", "Username", ""},
    {"AIO_MQTT_PASSWORD_FILE", "PasswordFile", "password_file"},
    {"AIO_MQTT_CLIENT_ID", "ClientId", "client_id_exact"},  // as in the SDKs
    {"AIO_MQTT_CLEAN_START", "CleanStart", ""},
    {"AIO_MQTT_KEEP_ALIVE", "KeepAlive", ""},
    {"AIO_MQTT_SESSION_EXPIRY", "SessionExpiry", ""},
    {"", "", "max_in_flight"},
    {"", "", "client_id"},  // replicas of a connector may share the variable
}};

constexpr std::string_view token_mount = "BROKER_SAT_MOUNT_PATH";
constexpr std::string_view authority_mount = "BROKER_TLS_TRUST_BUNDLE_CACERT_MOUNT_PATH";
constexpr std::string_view connector_id = "CONNECTOR_ID";

// A setting as it was found: its name, for sentences, and its value. An empty one is not set.
struct Given {
  std::string place;
  std::string value;
};

class Settings {
 public:
  Given& operator[](Setting setting) { return all_[static_cast<std::size_t>(setting)]; }
  const Given& operator[](Setting setting) const { return all_[static_cast<std::size_t>(setting)]; }
  bool has(Setting setting) const { return !(*this)[setting].value.empty(); }
  // The first of these that is set.
  std::optional<Setting> first_of(std::initializer_list<Setting> settings) const {
    const auto* const found =
        std::ranges::find_if(settings, [&](Setting each) { return has(each); });
    return found == settings.end() ? std::nullopt : std::optional(*found);
  }

 private:
  std::array<Given, setting_count> all_;
};

using FoundSettings = std::expected<Settings, Problem>;

std::unexpected<Problem> is_not(const Given& given, std::string_view rule) {
  return refusal(given.place + " is \"" + printable(given.value) + "\", not " + std::string(rule));
}

// ---- where settings are found

std::string_view value_of(const Variables& variables, std::string_view name) {
  const auto found = variables.find(name);
  return found == variables.end() ? std::string_view() : found->second;
}

Settings of_variables(const Variables& variables) {
  Settings settings;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string_view name = rows[i].variable;
    settings[static_cast<Setting>(i)] = {std::string(name), std::string(value_of(variables, name))};
  }
  return settings;
}

// NAME=VALUE;... with names in any case, and blanks around both. The variable may be meant for
// another program and have a password, so no value of an unknown name is quoted.
FoundSettings of_string(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  Settings settings;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].name.empty()) names.push_back(rows[i].name);
    settings[static_cast<Setting>(i)].place = rows[i].name;
  }
  while (!text.empty()) {
    std::string_view value = trimmed(take_until(text, ';'), blanks);
    if (value.empty()) continue;
    const bool has_value = value.contains('=');
    const std::string name(trimmed(take_until(value, '='), blanks));
    if (!has_value || !is_name(name)) return refusal("a part of it is not NAME=VALUE");
    const auto row = std::ranges::find(names, folded(name), folded);
    if (row == names.end()) {
      return refusal(name + " is not a setting of a broker" + guess(name, names));
    }
    Given& given = settings[static_cast<Setting>(row - names.begin())];
    if (!given.value.empty()) return refusal(given.place + " is given twice");
    given.value = trimmed(value, blanks);
  }
  if (!settings.has(Setting::host)) return refusal("HostName is missing");
  return settings;
}

// A text or a number of the mounted file. Null counts as not set.
Checked read_mounted(const JsonValue& object, std::string_view name, bool is_text, Given& given) {
  given.place = json_field(given.place, name);
  const JsonValue* const field = object.find(name);
  if (field == nullptr || field->kind == JsonValue::Kind::null) return {};
  if (field->kind != (is_text ? JsonValue::Kind::text : JsonValue::Kind::number)) {
    return refusal(given.place + (is_text ? " must be a JSON string" : " must be a JSON number"));
  }
  given.value = field->text;
  return {};
}

// HOST:PORT
Checked split_host(Settings& settings) {
  Given& host = settings[Setting::host];
  const std::size_t colon = host.value.rfind(':');
  if (colon == host.value.npos || colon == 0) return is_not(host, "HOST:PORT");
  settings[Setting::port] = {host.place + ": the port", host.value.substr(colon + 1)};
  host.value.resize(colon);
  return {};
}

Checked read_tls_mode(const JsonValue& document, Settings& settings) {
  const JsonValue none;
  const JsonValue* const tls = document.find("tls");
  Given& mode = settings[Setting::use_tls];
  mode.place = json_field(std::string(mounted_file), "tls");
  auto read = read_mounted(tls == nullptr ? none : *tls, "mode", true, mode);
  if (!read) return read;
  const std::string word = folded(mode.value);
  const bool off = word == "disabled";
  if (!word.empty() && !off && word != "enabled") return is_not(mode, "Enabled or Disabled");
  mode.value = off ? "false" : "true";
  return {};
}

// The fields of the mounted file that are settings.
Checked read_document(const JsonValue& document, Settings& settings) {
  constexpr std::pair<Setting, std::string_view> fields[] = {
      {Setting::host, "host"},
      {Setting::keep_alive, "keepAliveSeconds"},
      {Setting::session_expiry, "sessionExpirySeconds"},
      {Setting::in_flight, "maxInflightMessages"}};
  for (const auto& [setting, name] : fields) {
    settings[setting].place = mounted_file;
    auto read = read_mounted(document, name, setting == Setting::host, settings[setting]);
    if (!read) return read;
  }
  if (auto read = read_tls_mode(document, settings); !read) return read;
  return split_host(settings);
}

// The mounts of a connector. The operator mounts authorities also where TLS is off.
FoundSettings of_mounts(const Variables& variables, std::string_view text) {
  const auto document = parse_strict_json(text);
  if (!document) return refusal(std::string(mounted_file) + ": " + document.error());
  Settings settings;
  if (auto read = read_document(*document, settings); !read) return std::unexpected(read.error());
  const auto take = [&](Setting setting, std::string_view name) {
    settings[setting] = {std::string(name), std::string(value_of(variables, name))};
  };
  take(Setting::token, token_mount);
  take(Setting::connector, connector_id);
  if (settings[Setting::use_tls].value == "true") take(Setting::ca, authority_mount);
  return settings;
}

// ---- what they become

std::expected<bool, Problem> read_flag(const Given& given, bool fallback) {
  const std::string word = folded(given.value);
  if (word.empty()) return fallback;
  if (word == "true" || word == "1") return true;
  if (word == "false" || word == "0") return false;
  return is_not(given, "true, false, 1 or 0");
}

std::expected<std::uint64_t, Problem> read_whole(const Given& given, std::uint64_t low,
                                                 std::uint64_t high, std::uint64_t fallback) {
  if (given.value.empty()) return fallback;
  const auto number = parse_decimal(given.value);
  if (number && *number >= low && *number <= high) return *number;
  return is_not(given, "an integer from " + std::to_string(low) + " to " + std::to_string(high));
}

// Settings that exclude or need each other.
Checked check_together(const Settings& settings, bool tls) {
  using enum Setting;
  const auto place = [&](Setting setting) { return settings[setting].place; };
  if (const auto file = settings.first_of({ca, certificate, key, key_password}); file && !tls) {
    return refusal(place(*file) + " needs TLS, which " + place(use_tls) + " turns off");
  }
  if (settings.has(certificate) && !settings.has(key)) {
    return refusal(place(certificate) + " needs " + place(key));
  }
  if (settings.has(key) && !settings.has(certificate)) {
    return refusal(place(key) + " needs " + place(certificate));
  }
  if (settings.has(key_password) && !settings.has(key)) {
    return refusal(place(key_password) + " needs " + place(key));
  }
  if (const auto other = settings.first_of({user, password}); other && settings.has(token)) {
    return refusal(place(token) + " cannot be combined with " + place(*other));
  }
  return {};
}

Checked add_broker(const Settings& settings, ConfigBuilder& builder) {
  const Given& host = settings[Setting::host];
  const auto port = read_whole(settings[Setting::port], 1, 65'535, 8'883);
  if (!port) return std::unexpected(port.error());
  ServerParts server{.host = host.value, .port = static_cast<std::uint16_t>(*port)};
  if (server.host.starts_with('[') && server.host.ends_with(']')) {
    server.host = server.host.substr(1, server.host.size() - 2);
  }
  if (is_path(server.host)) return is_not(host, "a name or an address");
  server.bracketed = server.host.contains(':');
  return builder.add_server(server, host.place);
}

// Checks what has no effect, and sets what has another form than our option.
Checked apply_converted(const Settings& settings, ConfigBuilder& builder) {
  constexpr std::uint64_t longest_expiry = 0xFFFF'FFFF;  // MQTT 5 §3.1.2.11.2
  if (auto ok = read_flag(settings[Setting::clean_start], true); !ok) {
    return std::unexpected(std::move(ok.error()));
  }
  if (auto ok = read_whole(settings[Setting::session_expiry], 0, longest_expiry, 0); !ok) {
    return std::unexpected(std::move(ok.error()));
  }
  const auto seconds = read_whole(settings[Setting::keep_alive], 1, 65'535, 0);
  if (!seconds) return std::unexpected(seconds.error());
  if (*seconds != 0) {
    auto set = builder.set_option("keep_alive", std::to_string(*seconds) + "s", Written::uri);
    if (!set) return set;
  }
  const Given& user = settings[Setting::user];
  if (user.value.empty()) return {};
  auto set = builder.set_user(user.value);
  if (!set) return refusal(user.place + " " + set.error().text);
  return {};
}

std::expected<ClusterConfig, Problem> apply(const Settings& settings) {
  ConfigBuilder builder;
  const Given& use_tls = settings[Setting::use_tls];
  const auto tls = read_flag(use_tls, true);
  if (!tls) return std::unexpected(tls.error());
  auto done = check_together(settings, *tls);
  if (done) done = builder.set_scheme(*tls ? "mqtts" : "mqtt");
  if (done) done = add_broker(settings, builder);
  if (done) done = apply_converted(settings, builder);
  for (std::size_t i = 0; done && i < rows.size(); ++i) {
    const Given& given = settings[static_cast<Setting>(i)];
    if (given.value.empty() || rows[i].option.empty()) continue;
    done = builder.set_option(rows[i].option, given.value, Written::uri);
    if (!done) done.error().text = given.place + " " + done.error().text;
  }
  if (!done) return std::unexpected(done.error());
  auto config = builder.finish();
  // Only a login without TLS is left to refuse.
  if (!config && !*tls)
    config.error().text = use_tls.place + " turns TLS off: " + config.error().text;
  return config;
}

// Where the settings are; none if no variable names a broker.
FoundSettings find_settings(const Variables& variables, std::string_view mounted) {
  const std::string_view source = broker_variable(variables);
  if (source == hostname_variable) return of_variables(variables);
  if (source == mount_variable) return of_mounts(variables, mounted);
  if (source == string_variable) return of_string(value_of(variables, source));
  std::string text = "the environment names no broker: set ";
  const auto names = environment_names();
  const auto other = std::ranges::find_if(
      names, [&](std::string_view name) { return !value_of(variables, name).empty(); });
  if (other == names.end()) return refusal(text + std::string(hostname_variable));
  text += other->starts_with("AIO_") ? hostname_variable : mount_variable;
  return refusal(text + " as well as " + std::string(*other));
}

}  // namespace

std::vector<std::string_view> environment_names() {
  std::vector<std::string_view> names{mount_variable, string_variable, token_mount, authority_mount,
                                      connector_id};
  for (const SettingRow& row : rows) {
    if (!row.variable.empty()) names.push_back(row.variable);
  }
  return names;
}

std::string_view broker_variable(const Variables& variables) {
  const auto* const found = std::ranges::find_if(
      broker_variables, [&](std::string_view name) { return !value_of(variables, name).empty(); });
  return found == broker_variables.end() ? std::string_view() : *found;
}

std::string mounted_path(const Variables& variables) {
  if (broker_variable(variables) != mount_variable) return {};
  return std::string(value_of(variables, mount_variable)) + "/" + std::string(mounted_file);
}

std::expected<ClusterConfig, Problem> read_environment(const Variables& variables,
                                                       std::string_view mounted) {
  const auto settings = find_settings(variables, mounted);
  auto config = settings ? apply(*settings) : std::unexpected(settings.error());
  if (!config && broker_variable(variables) == string_variable) {
    config.error().text = std::string(string_variable) + ": " + config.error().text;
  }
  return config;
}

}  // namespace sheaf::cluster

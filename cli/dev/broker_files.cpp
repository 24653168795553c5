#include "cli/dev/broker_files.h"

#include <system_error>

#include "cli/dev/programs.h"

// CMake sets SHEAF_INSTALL_PREFIX and SHEAF_INSTALL_LIBDIR, where `cmake --install` puts files.

namespace sheaf::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view plugin_name = "libsheaf_statestore.so";

// A bridge that never connects. It is the only reader of the plugin's sink topic, so that requests
// are acknowledged with 0x00 (docs/wire/mosquitto.md). The plugin's own tests use
// store/plugin/sink.h.
constexpr std::string_view sink_bridge =
    "connection sheaf-sink\n"
    "topic $sheaf/statestore/sink out 0\n"
    "address 127.0.0.1:9\n"
    "start_type lazy\n"
    "threshold 1000000000\n"
    "try_private false\n"
    "notifications false\n"
    "cleansession true\n";

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

// mosquitto.conf has no quoting: a line break in a name would start another line.
std::expected<fs::path, std::string> usable_name(fs::path path) {
  if (path.string().find('\n') == std::string::npos) return path;
  return std::unexpected(
      "the plugin's path has a line break, which mosquitto.conf cannot express.");
}

}  // namespace

std::expected<fs::path, std::string> find_mosquitto(const std::string& given,
                                                    std::string_view path) {
  return find_program({.name = "mosquitto",
                       .given = given,
                       .path = path,
                       .places = {"/usr/sbin", "/usr/local/sbin"},
                       .advice = "mosquitto is neither in PATH nor in /usr/sbin or "
                                 "/usr/local/sbin; install it (Debian: mosquitto) or name it with "
                                 "--mosquitto FILE."});
}

std::expected<fs::path, std::string> find_memcached(std::string_view path) {
  return find_program({.name = "memcached",
                       .given = "",
                       .path = path,
                       .places = {"/usr/bin", "/usr/local/bin"},
                       .advice = "memcached is neither in PATH nor in /usr/bin or /usr/local/bin; "
                                 "install it (Debian: memcached)."});
}

std::vector<fs::path> plugin_places(const fs::path& program_folder) {
  const fs::path up = program_folder.parent_path();
  const fs::path prefix = SHEAF_INSTALL_PREFIX;
  std::vector<fs::path> places;
  for (const fs::path& folder :
       {up / "store/plugin", up / SHEAF_INSTALL_LIBDIR "/sheaf", up / "lib/sheaf",
        up / "lib64/sheaf", prefix / SHEAF_INSTALL_LIBDIR "/sheaf", prefix / "lib/sheaf"}) {
    places.push_back(folder / plugin_name);
  }
  return places;
}

std::expected<fs::path, std::string> find_plugin(const std::string& given,
                                                 const fs::path& program_folder) {
  if (!given.empty()) {
    std::error_code ignored;
    if (is_file(given)) return usable_name(fs::absolute(given, ignored));
    return std::unexpected("--plugin " + given + ": there is no such file.");
  }
  for (const fs::path& place : plugin_places(program_folder)) {
    if (is_file(place)) return usable_name(place);
  }
  return std::unexpected(
      "the plugin libsheaf_statestore.so is neither in the build tree nor installed; build it "
      "(it needs mosquitto-dev) or name it with --plugin FILE.");
}

// With tokens, too, it allows anonymous clients, because the plugin refuses them. Otherwise
// Mosquitto would end, at each reload, the connections of clients that logged in with a token.
std::string broker_configuration(const BrokerFile& file) {
  std::string text;
  if (file.root) text += "user root\n";
  text += "listener " + std::to_string(file.port) + " 127.0.0.1\n";
  if (!file.login.certificate.empty()) {
    text += "certfile " + file.login.certificate.string() + "\n";
    text += "keyfile " + file.login.key.string() + "\n";
  }
  text +=
      "allow_anonymous true\n"
      "persistence false\n"
      "set_tcp_nodelay true\n"
      "max_inflight_messages 65534\n"
      "max_packet_size 17825792\n"
      "log_dest stderr\n"
      "log_timestamp false\n";
  text += "plugin " + file.plugin.string() + "\n";
  if (!file.spelling.empty()) text += "plugin_opt_spelling " + file.spelling + "\n";
  if (!file.login.tokens.empty()) text += "plugin_opt_tokens " + file.login.tokens.string() + "\n";
  text += sink_bridge;
  return text;
}

}  // namespace sheaf::cli

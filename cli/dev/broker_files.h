#pragma once

// The files of a development broker: where the program and the plugin are, and its configuration.
//
// Thread rule: functions without state.

#include <cstdint>
#include <expected>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sheaf::cli {

// `given` if not empty, else mosquitto in the folders of `path` (as in PATH), /usr/sbin and
// /usr/local/sbin. The error is one sentence.
std::expected<std::filesystem::path, std::string> find_mosquitto(const std::string& given,
                                                                 std::string_view path);

// The same for memcached: the folders of `path`, /usr/bin and /usr/local/bin.
std::expected<std::filesystem::path, std::string> find_memcached(std::string_view path);

// Where the plugin may be, best first, for a program in `program_folder`: the build tree, an
// install next to the program, the install that this program was configured for.
std::vector<std::filesystem::path> plugin_places(const std::filesystem::path& program_folder);
// `given` if not empty, else the first of plugin_places() that exists. The error is one sentence.
std::expected<std::filesystem::path, std::string> find_plugin(
    const std::string& given, const std::filesystem::path& program_folder);

// The files by which a broker proves who it is, and lets clients in. An empty path: it does not.
struct BrokerLogin {
  std::filesystem::path certificate;
  std::filesystem::path key;
  std::filesystem::path tokens;  // what the plugin accepts
};

struct BrokerFile {
  std::uint16_t port = 0;
  std::filesystem::path plugin;
  std::string spelling;  // empty: the plugin's default
  BrokerLogin login{};
  bool root = false;  // the broker would otherwise become a user that may not read the plugin
};
// The text of its mosquitto.conf.
std::string broker_configuration(const BrokerFile& file);

}  // namespace sheaf::cli

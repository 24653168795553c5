#pragma once

// Reads the settings that a pod of Azure IoT Operations gets: docs/configuration.md, "Environment".
//
// Thread rule: pure functions and plain values, except for the last two.

#include <array>
#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/cluster_config.h>

#include "cluster/config/config_check.h"

namespace sheaf::cluster {

// The variables that name a broker. The first that is set decides where all settings come from.
inline constexpr std::string_view hostname_variable = "AIO_BROKER_HOSTNAME";
inline constexpr std::string_view mount_variable = "CONNECTOR_CONFIGURATION_MOUNT_PATH";
inline constexpr std::string_view string_variable = "ConnectionStrings__Default";
inline constexpr std::array broker_variables{hostname_variable, mount_variable, string_variable};
// The file in the folder of `mount_variable`.
inline constexpr std::string_view mounted_file = "MQTT_CONNECTION_CONFIGURATION";

// Variables with their values. An empty one counts as not set.
using Variables = std::map<std::string, std::string, std::less<>>;

// Every variable that is read.
std::vector<std::string_view> environment_names();
// The one of `broker_variables` that decides; empty if none is set.
std::string_view broker_variable(const Variables& variables);
// `mounted` is the text of the file, if `mount_variable` decides.
std::expected<ClusterConfig, Problem> read_environment(const Variables& variables,
                                                       std::string_view mounted);
// The path of that file; empty if another variable decides.
std::string mounted_path(const Variables& variables);

// In cluster_config.cpp, not pure: the variables of this process that are read; and the
// configuration of such variables, with the file.
Variables environment_variables();
Result<ClusterConfig> load_environment(const Variables& variables);

}  // namespace sheaf::cluster

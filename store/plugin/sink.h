#pragma once

// The topic that requests are sent to after they were answered, so that the broker delivers them to
// no client. Its only subscriber is a bridge that never connects; without a subscriber mosquitto
// acknowledges requests with 0x10 "no matching subscribers". docs/wire/mosquitto.md has the
// reasons.
//
// Thread rule: free functions.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sheaf::store::plugin {

// Begins with '$', so that no wildcard at the first level matches it (MQTT 5 section 4.7.2).
inline constexpr std::string_view sink_topic = "$sheaf/statestore/sink";

// The lines of mosquitto.conf that subscribe a bridge to the sink.
inline constexpr std::string_view sink_bridge =
    "connection sheaf-sink\n"
    "topic $sheaf/statestore/sink out 0\n"
    "address 127.0.0.1:9\n"
    "start_type lazy\n"
    "threshold 1000000000\n"
    "try_private false\n"
    "notifications false\n"
    "cleansession true\n";

enum class SinkState : std::uint8_t {
  declared,  // the configuration has a bridge topic line for the sink
  missing,   // it has no such line
  unknown    // the configuration cannot be read from here
};

// The sink's bridge, as the configuration describes it.
struct SinkBridge {
  std::string name;
  std::string remote_id;  // empty: the broker derives it from the host's name
  std::string local_id;   // empty: the broker derives it from the remote ID

  // The client ID that the broker uses for this bridge.
  std::string client_id(std::string_view host) const;
};

struct Sink {
  SinkState state = SinkState::missing;
  SinkBridge bridge;  // valid if it is declared
};

// Reads one configuration file; folders of include_dir lines are added to `include_dirs`.
std::optional<SinkBridge> declared_sink(std::string_view configuration,
                                        std::vector<std::string>& include_dirs);

// The store's numbers are published below this topic, retained.
inline constexpr std::string_view numbers_root = "$SYS/broker/sheaf/";
// Mosquitto's default.
inline constexpr std::chrono::seconds default_sys_interval{10};

// The last `sys_interval` of one configuration file; nothing if it has none that is a number.
std::optional<std::chrono::seconds> declared_sys_interval(std::string_view configuration);

// What the store follows of the broker's configuration. A plugin cannot ask the broker for
// subscribers, so the configuration is the best evidence of the sink.
struct BrokerSettings {
  Sink sink;
  std::chrono::seconds sys_interval = default_sys_interval;  // 0: no numbers are published
};
// Reads the configuration file that a broker's command line names (arguments separated by NUL).
BrokerSettings read_settings(std::string_view command_line);

}  // namespace sheaf::store::plugin

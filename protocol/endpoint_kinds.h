#pragma once

// The kinds of endpoint, as a table: one row for each, with everything that the layers above need
// to know about it. No other code compares an EndpointKind: code that depends on what a kind does
// reads that one property from its row. ARCHITECTURE.md, "Adding an endpoint kind".
//
// Thread rule: constant data and pure functions.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <sheaf/cluster_config.h>
#include <sheaf/feature.h>

#include "base/random.h"
#include "protocol/server_commands.h"
#include "protocol/server_map.h"
#include "protocol/session.h"
#include "protocol/session_factory.h"

namespace sheaf::protocol {

// How the servers of a kind are reached.
enum class Transport : std::uint8_t {
  tcp,     // host and port
  engines  // state store engines in this process; a server is the number of one
};

// What a kind's conditional requests compare. It decides how locks are taken and renewed, how the
// head of a list is committed, and how the right to compute a value is granted.
enum class Compares : std::uint8_t {
  values,   // and fencing tokens, if it has Feature::fencing
  versions  // compare-and-set
};

// Options of a configuration: those of every kind, and those that only few kinds have.
enum class OptionGroup : std::uint8_t {
  common,
  mqtt,
  memcached,
  engines,
  redis,
  extra_connections,  // of kinds that may have them
  tls                 // not of a kind, but of every connection over TLS
};

// A set of a few values of an enum.
template <class Item>
class SetOf {
 public:
  constexpr SetOf(std::initializer_list<Item> items) {
    for (const Item item : items) bits_ |= bit(item);
  }
  constexpr bool has(Item item) const noexcept { return (bits_ & bit(item)) != 0; }

 private:
  static constexpr std::uint32_t bit(Item item) noexcept {
    return 1u << static_cast<unsigned>(item);
  }
  std::uint32_t bits_ = 0;
};
using FeatureSet = SetOf<Feature>;
using VerbSet = SetOf<Verb>;

// A row.
struct EndpointTraits {
  using MakeSessions = std::unique_ptr<SessionFactory>(const ClusterConfig&, const Seed&);
  using MakeMap = std::unique_ptr<ServerMap>(const ClusterConfig&);
  using MakeCommands = std::unique_ptr<ServerCommands>();
  using LargestValue = std::uint64_t(const ClusterConfig&, std::size_t key_size);

  EndpointKind kind;
  std::string_view scheme;  // in a URI; also the `kind` of a JSON cluster
  std::string_view system;  // its name in traces: db.system.name of OpenTelemetry
  Transport transport = Transport::tcp;
  std::uint16_t default_port = 0;  // Transport::tcp
  std::string_view tls_scheme{};   // over TLS; empty: never
  std::uint16_t tls_port = 0;      // the default port over TLS
  MakeSessions* make_sessions = nullptr;
  MakeMap* make_map = nullptr;            // returns null if the configuration decides who owns what
  MakeCommands* make_commands = nullptr;  // for kinds with Feature::commands
  FeatureSet features = {};
  FeatureSet one_home = {};  // features that are missing with failover=rehash
  Compares compares = Compares::values;
  // What one connection returned, a version or a lock, may mean nothing on another one.
  bool binds_connections = true;
  // Operations that a client makes of several others where a kind's sessions do not have them.
  VerbSet shortcuts = {};
  bool lists_fleet = false;               // a server can list the members of its fleet
  std::size_t longest_key = 0;            // bytes; 0 = longer than any key of a list
  LargestValue* largest_value = nullptr;  // bytes next to a key of this size; null = value_limit
  OptionGroup options = OptionGroup::common;
  // Operations on one server may use several connections at once.
  bool takes_extra_connections = false;
  // Batches of up to so many keys of one server, from many threads, are faster together on one
  // connection, because the server then takes less time for each; 0: none.
  std::size_t largest_merged_batch = 0;
  bool takes_tokens = false;  // a token may log in instead of user and password
  bool needs_user = false;    // a password alone is not a login
  // Which of two versions of a key, from notifications and reads, is newer.
  CompareVersions compare_versions = [](std::string_view, std::string_view) noexcept {
    return VersionOrder::unknown;
  };
};

// True if the kind's configurations may have options of the group, with TLS or without.
constexpr bool has_group(const EndpointTraits& traits, bool tls, OptionGroup group) noexcept {
  return group == OptionGroup::common || group == traits.options ||
         (group == OptionGroup::extra_connections && traits.takes_extra_connections) ||
         (group == OptionGroup::tls && tls);
}

// The rows of this program, in a file of their own: a test program that defines this function has
// another table (docs/design/0019-link-seams.md).
std::span<const EndpointTraits> endpoint_kinds() noexcept;
// The rows of the product.
std::span<const EndpointTraits> product_kinds() noexcept;

// The row of a kind. A number outside the enum has a row without sessions.
const EndpointTraits& traits_of(EndpointKind kind) noexcept;
// The row of a scheme in lower case, with TLS or without; null if no kind has it.
const EndpointTraits* find_scheme(std::string_view scheme) noexcept;

// The schemes of all kinds, for sentences: "mqtt, memcached, embedded or redis"; with a feature,
// only the kinds that have it. `suffix` follows each: "://".
std::string list_schemes(std::string_view suffix, std::optional<Feature> feature = std::nullopt);
// The schemes over TLS: "mqtts, memcacheds or rediss".
std::string list_tls_schemes(std::string_view suffix);
// The schemes that have the options of a group.
std::string list_schemes_with(OptionGroup group, std::string_view suffix);

}  // namespace sheaf::protocol

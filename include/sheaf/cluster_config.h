#pragma once

/// @file
/// Which servers make up a cluster, and every option of a cluster. Read from a URI or from JSON.
///
/// Thread rule: plain values. docs/configuration.md has the table of options; an option has the
/// same name in a URI (`?name=value`), in JSON and here.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sheaf/result.h>
#include <sheaf/value.h>

namespace sheaf {
inline namespace v0 {

/// The kind of endpoint. The scheme of a URI names it.
enum class EndpointKind : std::uint8_t {
  state_store,  ///< `mqtt://`, `mqtts://`: Azure IoT Operations state store over MQTT 5.
  embedded,     ///< `embedded://N`: the state store engine in this process.
  memcached,    ///< `memcached://`, `memcacheds://`: a fleet of memcached servers.
  /// `redis://`, `rediss://`: a Redis, Valkey or Garnet cluster, or independent servers.
  redis
};
/// The scheme without TLS: "mqtt", "embedded", "memcached", "redis".
SHEAF_API std::string_view to_string(EndpointKind kind) noexcept;

/// One server. Its configured identity, `host:port`, places it on the ring, not its address.
struct NodeConfig {
  /// Name or address; IPv6 without brackets; the absolute path of a Unix socket; "embedded" for an
  /// engine in this process.
  std::string host;
  std::uint16_t port = 0;    ///< The index of the engine for `embedded://`; 0 for Unix sockets.
  std::uint32_t weight = 1;  ///< 1 .. 65,535: share of the keys relative to the other nodes.

  /// `host:port`, IPv6 in brackets; the path of a Unix socket.
  SHEAF_API std::string identity() const;
};

/// How keys are spread over nodes.
enum class LocatorKind : std::uint8_t {
  slots,  ///< Slot table by weighted rendezvous; exact weights, no needless movement. Default.
  ring    ///< Virtual nodes on a ring of 32-bit points, weight x 160 each.
};

/// The placement of another memcached client, so that both find each other's keys. Implies
/// LocatorKind::ring; a `{tag}` in a key is ignored. docs/configuration.md says which settings of
/// which client need which.
enum class RingProfile : std::uint8_t {
  none,                   ///< sheaf's own.
  libmemcached,           ///< Its consistent distribution, default hash; its rules for weights.
  libmemcached_weighted,  ///< Its weighted ketama (KETAMA_WEIGHTED; PHP: LIBKETAMA_COMPATIBLE).
  spymemcached,           ///< Its ketama, for servers given as numeric addresses.
  modula,      ///< libmemcached's default: hash modulo number of servers. Their order counts.
  pymemcache,  ///< The default of its HashClient, a rendezvous hash. No weights, as in modula.
  dalli        ///< Its default, a ring with weights.
};

/// Which of memcached's protocols to speak.
enum class MemcachedProtocol : std::uint8_t {
  automatic,  ///< Meta if the server has it; with a password whichever the server accepts.
  binary,     ///< Deprecated by memcached, but every version has it.
  meta        ///< Needs memcached 1.6.10 or later.
};

/// What decides which server of `redis://` has a key.
enum class RoutingKind : std::uint8_t {
  /// The servers, which form a cluster: any of them names the others and the owners of its 16,384
  /// slots. A single server that is not in cluster mode has all keys.
  cluster,
  ring  ///< The client, by its locator. The servers do not know each other.
};

/// Which server answers `get`, `get_many` and the first read of `get_or_compute` in a cluster of
/// `redis://`. Everything else goes to primaries.
enum class ReadTarget : std::uint8_t {
  primary,  ///< The server that owns the key. A read sees every write that was answered before it.
  /// That server or one of its replicas, whichever is up and expected to answer first. A replica
  /// lags by an unknown amount, so a value may be older than one that this client has read or
  /// written before. While a primary is down its replicas answer for the keys that they have.
  replicas
};

/// What a replica's "there is no such key" means.
enum class ReplicaMiss : std::uint8_t {
  /// The primary is asked, too. A key that was just written, or whose slot is moving to another
  /// server, may be missing on a replica only.
  confirm,
  trust  ///< It is a miss. Saves the second request where misses are frequent and harmless.
};

/// How the client reaches servers of a `redis://` cluster that the configuration does not name.
enum class HostKind : std::uint8_t {
  addresses,  ///< By the IP addresses that they report.
  /// By the names that they announce (`cluster-announce-hostname`), if they do: for clusters whose
  /// addresses cannot be reached from here, or whose certificates contain only names.
  names
};

/// What happens to the keys of a node that is down.
enum class FailoverMode : std::uint8_t {
  owner,  ///< The owner does not change; requests fail fast and say so. Nothing goes stale.
  /// The keys of a node that is down go to the next nodes in each key's order, unless more than a
  /// third of all nodes is down, and return when it answers again. For caches only: a node that
  /// kept its memory returns with the old values, until they expire, and two clients may use
  /// different nodes for a key meanwhile. docs/configuration.md has the remedies. At a state store
  /// (`mqtt://`, `embedded://`) such a client has no fencing tokens, locks, lists and watches,
  /// which need one home for each key: they end with Outcome::unsupported.
  rehash
};

/// A cluster: its servers and its options.
struct ClusterConfig {
  EndpointKind kind = EndpointKind::state_store;  ///< From the scheme.
  std::vector<NodeConfig> nodes;  ///< At least one, at most 1,024, with distinct identities.
  std::string user;               ///< User name for every node; empty = none.
  std::string password;           ///< Password for every node. Never printed or logged.

  /// `password_file`: a file whose first line, of at most 64 KiB, is the password. The client reads
  /// it for every connection and checks it once a second, by its path. So it may be replaced at any
  /// time, in place or by swapping a folder that a symbolic link leads to: docs/credentials.md.
  std::string password_file;
  /// `token_file`: a file that holds a token, read like `password_file`, for enhanced
  /// authentication of MQTT 5; replaces user and password. State store over MQTT only.
  std::string token_file;
  std::string auth_method = "K8S-SAT";  ///< `auth_method`: the method's name at the brokers.

  /// Connections over TLS 1.2 or later to servers that prove their name: `mqtts://`,
  /// `memcacheds://`, `rediss://`. There is no fallback to connections without TLS. The options
  /// below are refused without it.
  bool tls = false;
  /// `tls_ca`: the trusted authorities, a PEM file or a folder of them; empty = the system's.
  /// All files may be replaced while the client runs; the next connection uses the new ones.
  std::string tls_ca;
  std::string tls_cert;  ///< `tls_cert`: a PEM file, our certificate and its chain; empty = none.
  std::string tls_key;   ///< `tls_key`: a PEM file with its key.
  std::string tls_key_password_file;  ///< `tls_key_password_file`: a file with its passphrase.
  /// `tls_name`: the name or address that the certificates of all servers must be for; empty = each
  /// server's host.
  std::string tls_name;
  std::string tls_alpn;  ///< `tls_alpn`: the protocol to ask for, such as "mqtt"; empty = none.

  LocatorKind locator = LocatorKind::slots;  ///< `locator=slots|ring`
  /// `slots`: a power of two, 2^10 .. 2^22. Changing it moves nearly every key.
  std::uint32_t slots = 65'536;
  /// `ring=libmemcached|libmemcached-weighted|spymemcached|modula|pymemcache|dalli`.
  RingProfile ring = RingProfile::none;
  /// `protocol=auto|binary|meta`: memcached only.
  MemcachedProtocol protocol = MemcachedProtocol::automatic;
  /// `item_size`: the servers' `-I`, which limits key and value together; memcached only, 1 KiB ..
  /// 1 GiB. A larger value is refused before it is sent, because the server would also delete the
  /// old one.
  std::uint64_t item_size = 1u << 20;
  /// `routing=cluster|ring`: redis only. With `cluster`, `nodes` names the servers to ask first;
  /// they have no weights. `locator`, `slots` and `failover=rehash` need `ring`.
  RoutingKind routing = RoutingKind::cluster;
  ReadTarget reads = ReadTarget::primary;  ///< `reads=primary|replicas`: clusters of redis only.
  /// `replica_misses=confirm|trust`: with `reads=replicas` only.
  ReplicaMiss replica_misses = ReplicaMiss::confirm;
  bool hedged_reads = false;  ///< `hedged_reads`: a late `get` asks a second holder; the same.
  HostKind hosts = HostKind::addresses;  ///< `hosts=addresses|names`: clusters of redis only.
  /// `address_map`: where the servers of a cluster of redis are reached that announce other
  /// addresses: `ANNOUNCED=REACHABLE[,...]`, each `HOST[:PORT]`, IPv6 in brackets. Without ports a
  /// pair holds for every port of the host. Empty: all are reached where they say.
  std::string address_map;
  FailoverMode failover = FailoverMode::owner;  ///< `failover=owner|rehash`
  /// `allow_plain_password`: allows a password without TLS to a host that is not loopback.
  bool allow_plain_password = false;

  /// `timeout`: default deadline of an operation, 1 ms .. 24 h.
  std::chrono::milliseconds timeout{1'000};
  /// `connect_timeout`: limit for one attempt to connect, log in and subscribe, 1 ms .. 24 h. A
  /// node's first attempt may take as long as `timeout` if that is longer and no other server could
  /// take over (`failover=owner`).
  std::chrono::milliseconds connect_timeout{500};
  /// `default_ttl`: time to live of sets that give none; none = they never expire.
  std::optional<Ttl> default_ttl;
  /// `value_limit`: the largest value that is sent or accepted, in bytes, 1 .. 256 MiB - 64 KiB.
  std::uint64_t value_limit = 16u << 20;

  /// `pool_min`: number of connections kept open to each node, 0 .. 64.
  std::uint32_t pool_min = 1;
  /// `pool_max`: maximum number of connections to a node, 1 .. 64, at least pool_min. Another is
  /// opened while requests wait that no open connection takes.
  std::uint32_t pool_max = 1;
  /// `extra_connections`: maximum number of additional connections to a node, 0 .. 64; memcached
  /// and Redis. While several threads wait, each uses one of its own for gets of 8 or more keys of
  /// one node, for batches of several nodes if the threads are few or other processes compute, and
  /// for single keys if few threads share a node. They are opened when that first happens, and
  /// closed when idle. If that would be more than 1,024 to all nodes together, there are fewer, at
  /// least 1. Not with `failover=rehash` or `reads=replicas`.
  std::uint32_t extra_connections = 8;
  /// `idle_timeout`: idle connections above pool_min are closed after this, 1 ms .. 24 h.
  std::chrono::milliseconds idle_timeout{60'000};
  /// `busy_timeout`: a connection with an older request than this is closed, 1 ms .. 24 h.
  std::chrono::milliseconds busy_timeout{30'000};
  /// `max_in_flight`: maximum number of requests in flight to a node, 1 .. 65,535.
  std::uint32_t max_in_flight = 1'024;
  /// `max_bytes_in_flight`: maximum bytes of requests in flight to a node, 1 .. 1 TiB; a larger
  /// request is admitted alone.
  std::uint64_t max_bytes_in_flight = 8u << 20;
  /// `max_waiting`: maximum number of requests that wait for room on a node, 0 .. 2^24; beyond it
  /// they end as `overloaded`.
  std::uint32_t max_waiting = 65'536;
  /// `keep_alive`: the longest silence before a connection is tested, 1 s .. 65,535 s.
  std::chrono::milliseconds keep_alive{10'000};
  /// `spin`: a blocking caller polls up to 50 us, or yields the processor a few times, then sleeps.
  bool spin = true;
  /// `log_keys`: log keys as text instead of as hashes.
  bool log_keys = false;
  /// `client_id`: prefix of the MQTT client ID; a random part follows. 1 .. 64 of [A-Za-z0-9_.-].
  std::string client_id = "sheaf";
  std::string client_id_exact;  ///< `client_id_exact`: the whole client ID; empty = `client_id`.

  /// Options of the engines of `embedded://`, by their names in mosquitto.conf (`plugin_opt_NAME`).
  std::vector<std::pair<std::string, std::string>> engine_options;
  /// `name`: clients of one process that have the same name share engines.
  std::string embedded_name;

  /// Parses `scheme://[user[:password]@]host[:port][*weight],...[?option=value&...]`.
  /// Errors: Outcome::invalid with Reason::bad_configuration; the text names the part and the
  /// limit, never a password.
  SHEAF_API static Result<ClusterConfig> parse_uri(std::string_view uri);

  /// Parses a JSON document `{"clusters":{"NAME":{"servers":"URI"|[...],"OPTION":value,...}}}` and
  /// returns the clusters in the order of the document.
  /// Errors: as for parse_uri; the text names the path of the field:
  /// `clusters.main.servers[1].port`.
  SHEAF_API static Result<std::vector<std::pair<std::string, ClusterConfig>>> parse_json(
      std::string_view text);

  /// Reads a file (at most 1 MiB) and parses it like parse_json; errors also name the file.
  SHEAF_API static Result<std::vector<std::pair<std::string, ClusterConfig>>> load_file(
      const std::string& path);

  /// Reads the variables that a pod of Azure IoT Operations has: docs/configuration.md,
  /// "Environment". Errors: as for parse_uri; the text names the variable.
  SHEAF_API static Result<ClusterConfig> from_environment();
};

}  // namespace v0
}  // namespace sheaf

#pragma once

/// @file
/// Client: cache, batches and conditional writes over the nodes of a cluster. Read this first.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/client_options.h>
#include <sheaf/cluster_config.h>
#include <sheaf/command.h>
#include <sheaf/export.h>
#include <sheaf/feature.h>
#include <sheaf/log.h>
#include <sheaf/metrics.h>
#include <sheaf/move_only_function.h>
#include <sheaf/options.h>
#include <sheaf/result.h>
#include <sheaf/stats.h>
#include <sheaf/watch.h>

/// Everything that a program uses of this library.
namespace sheaf {
namespace client {
struct Internals;
namespace lock {
struct LockService;
}
namespace list {
struct ListService;
}
}  // namespace client
inline namespace v0 {

class AsyncClient;

/// What Client::reconfigure changed: identities, `host:port`, in the order of their configuration.
struct ServersChanged {
  std::vector<std::string> added;       ///< New servers.
  std::vector<std::string> removed;     ///< Servers that the client has no more.
  std::vector<std::string> reweighted;  ///< Servers that have another weight.
  /// True if anything changed.
  bool any() const noexcept { return !added.empty() || !removed.empty() || !reweighted.empty(); }
};

/// One client of one cluster.
///
/// Thread rule: any thread may call any member at any time, callbacks included, which never run
/// under a lock. Only the destructor and moves need that no other thread calls the object. After
/// fork() the child's calls fail with Reason::forked and its destructor only closes descriptors.
/// The child may open clients of its own; `embedded://` gives it stores of its own.
///
/// Lifetime: the destructor ends every operation in flight: callbacks run exactly once (Outcome
/// `shutdown`, or `unknown` if the request was sent), futures become ready, before it returns. It
/// may be called from a callback of this very client. What was made of the client (lockers, guards,
/// lists, watches) may outlive it: it then answers as a client that has been closed. So does a
/// Client that was moved from; the one that was moved to ends first as by its destructor.
///
/// Every operation ends by its deadline. Ordering: an operation that starts after another of any
/// client has completed sees its effect; of two in flight at once neither order is promised, except
/// that asynchronous operations of one client on one key are carried out in the order of their
/// starts, also while slots move. One that can no longer keep its place ends as `refused`, and was
/// not carried out. Reads that may go to replicas have no place in this order.
class SHEAF_API Client {
 public:
  /// Makes the value of a key that is absent; see get_or_compute.
  using Compute = MoveOnlyFunction<std::string()>;

  /// Opens a client. Does not wait for servers: operations connect on demand, within their
  /// deadline. Errors: Outcome::invalid (Reason::bad_configuration) for the URI or configuration,
  /// Outcome::unsupported for an endpoint kind that this build has not, Outcome::overloaded if the
  /// process may have no more threads or descriptors.
  static Result<Client> open(std::string_view uri, ClientOptions options = ClientOptions());
  static Result<Client> open(ClusterConfig config, ClientOptions options = ClientOptions());

  /// Reads a key. A missing key is an empty optional, never an error.
  Result<GetResult> get(std::string_view key, const GetOptions& options = {});

  /// Writes a key.
  Result<SetResult> set(std::string_view key, std::string_view value,
                        const SetOptions& options = {});

  /// Removes a key.
  Result<RemoveResult> remove(std::string_view key, const RemoveOptions& options = {});

  /// Appends bytes to a value. Returns false, and creates nothing, if the key is absent. Not safe
  /// to repeat after `unknown`. memcached, Redis protocol; elsewhere Outcome::unsupported.
  Result<bool> append(std::string_view key, std::string_view value,
                      const EditOptions& options = {});
  /// Puts bytes before a value; as append.
  Result<bool> prepend(std::string_view key, std::string_view value,
                       const EditOptions& options = {});

  /// Adds to a decimal number: of 64 bits and modulo 2^64 on memcached, of 63 bits in the Redis
  /// protocol, where a larger sum is refused. Returns the new number, nothing if the key is absent
  /// and no `initial` was given. Errors: Reason::wrong_type, also for a sum that is refused. Not
  /// safe to repeat after `unknown`. Elsewhere Outcome::unsupported.
  Result<CountResult> increment(std::string_view key, std::uint64_t delta = 1,
                                const CountOptions& options = {});
  /// Subtracts from a decimal number, down to 0; as increment.
  Result<CountResult> decrement(std::string_view key, std::uint64_t delta = 1,
                                const CountOptions& options = {});

  /// Gives a key a new time to live. False: the key is absent. memcached, Redis protocol; elsewhere
  /// Outcome::unsupported.
  Result<bool> touch(std::string_view key, const TouchOptions& options = {});
  /// Reads a key and gives it a new time to live, at once; as touch.
  Result<GetResult> get_and_touch(std::string_view key, const TouchOptions& options = {});

  /// Writes a key and returns the value that was there before, in one step; nothing: the key was
  /// absent. Not safe to repeat after `unknown`. That is also the outcome, with Reason::too_large,
  /// if the value was written and the one before is above `value_limit`. Redis protocol, since
  /// Redis 6.2; elsewhere Outcome::unsupported.
  Result<GetResult> get_and_set(std::string_view key, std::string_view value,
                                const GetAndSetOptions& options = {});

  /// Reads a key; if it is absent, computes and stores it, while all others that miss it wait for
  /// that value: one caller of this client computes, and one process of all. `compute` runs on the
  /// caller's stack under no lock of the client; it may use the client, but not for this same key.
  /// What it throws leaves this call and no other; the next in line computes then. If the value
  /// cannot be stored it is returned all the same, with an empty version. A process that dies while
  /// it computes delays the others until its lease ends. Between processes the lease is memcached's
  /// own if the meta protocol is spoken, else the key `KEY:sheaf-lease` on the same node. Errors:
  /// as get; Reason::timed_out also when the deadline passed while another caller computed.
  Result<Value> get_or_compute(std::string_view key, const ComputeOptions& options,
                               const Compute& compute);

  /// Reads many keys, all nodes in parallel. One entry for each distinct key, in the order in which
  /// each first appears. Not atomic.
  ///
  /// `used` are the results of an earlier call, whose memory these results get: where they need no
  /// more room than those did, in entries, keys and values, nothing is allocated for them. In a
  /// loop: `results = client.get_many(keys, {}, std::move(results));`. What large values needed
  /// stays with their entries. No key may be a view of what `used` holds.
  std::vector<KeyResult<GetResult>> get_many(std::span<const std::string_view> keys,
                                             const BatchOptions& options = {},
                                             std::vector<KeyResult<GetResult>>&& used = {});

  /// Writes many keys, all nodes in parallel; a key given twice gets its last value.
  std::vector<KeyResult<SetResult>> set_many(std::span<const SetItem> items,
                                             const BatchSetOptions& options = {});

  /// Removes many keys, all nodes in parallel; a key given twice is removed once.
  std::vector<KeyResult<RemoveResult>> remove_many(std::span<const std::string_view> keys,
                                                   const BatchOptions& options = {});

  /// Sends a command that this library has no operation for, and returns what the server answers.
  /// It goes to the owner of its keys, which must all be in one slot; one without keys goes to any
  /// node. But FLUSHALL, DBSIZE, KEYS, CONFIG, INFO and others have the effect or the answer of one
  /// node only. If several nodes own keys, these are refused as `invalid`: name a node with
  /// Command::at_node, or use execute_on_all. The servers are asked once which words are keys, and
  /// whether it only reads (COMMAND). A command that only reads is sent once more if its connection
  /// is lost; any other then ends as `unknown`. Errors: Outcome::refused with the server's own
  /// words; Outcome::invalid for keys in several slots, or if the servers do not know which words
  /// are keys (name them with Command::keys); Outcome::unsupported for what a shared connection
  /// cannot carry (MULTI, SUBSCRIBE, BLPOP, ...); Reason::too_large for a word above `value_limit`,
  /// and for a reply above it (and above 1 MiB), with more than 1,048,576 values or more than 32
  /// levels: Outcome::refused if the command only reads, else Outcome::unknown, because it was
  /// carried out. `redis://`; elsewhere Outcome::unsupported.
  Result<CommandReply> execute(Command command, const CommandOptions& options = {});

  /// Sends a command to every node that owns keys, whatever its own keys: in a Redis cluster to the
  /// primaries that have slots. All at the same time and each once; redirects are answers. The
  /// replies are in the order of the nodes, each with its node. Not atomic: some nodes may carry
  /// the command out and others not. Errors: an error of one node is in its place, as execute
  /// returns it; where nothing was sent the call has one: as execute, Outcome::invalid also for a
  /// command with a node (Command::at_node), Outcome::not_sent while no server says which nodes
  /// there are.
  Result<std::vector<NodeReply>> execute_on_all(Command command,
                                                const CommandOptions& options = {});

  /// Sends many commands at once, to all nodes in parallel, each as execute does. The outcomes are
  /// in the order of the commands; one that fails spoils itself only. Commands on one key are
  /// carried out in the order given, others in any order, and never as a transaction.
  std::vector<Result<CommandReply>> execute_many(std::span<const Command> commands,
                                                 const CommandOptions& options = {});

  /// Watches keys: reports what each holds (`current`), then changes; see Watch for what that means
  /// on each kind of endpoint. Returns at once; a node that is not reached is reported as an event.
  /// A key given twice is watched once. Errors: Outcome::invalid for no key, an empty key or a
  /// queue_limit out of range, Outcome::unsupported where the endpoint does not report changes.
  ///
  /// With a callback, that receives the events instead of Watch::next: one after another, on a
  /// thread of this watch's own or, with an executor or a driver, among the client's other
  /// callbacks. Closing the client waits for a callback that runs, unless it is called from it;
  /// then none comes any more.
  Result<Watch> watch(std::span<const std::string_view> keys, const WatchOptions& options = {},
                      WatchCallback callback = {});
  Result<Watch> watch(std::string_view key, const WatchOptions& options = {},
                      WatchCallback callback = {});

  /// The asynchronous forms of these members: sheaf/async.h.
  AsyncClient async() const;

  /// True if the endpoint can do this. Connects to nothing. README.md has the table.
  bool supports(Feature feature) const noexcept;

  /// The node that owns a key. Connects to nothing. Errors: Outcome::invalid for a bad key;
  /// Outcome::not_sent in a cluster of `redis://` while this client knows no owner of the key's
  /// slot: it asks for the owners when it begins to work.
  Result<Location> locate(std::string_view key) const;

  /// Counters of every node, in configured order. Takes up to 20 ms for each of the
  /// `extra_connections` on which a call waits for its server.
  std::vector<NodeStats> stats() const;

  /// What was measured on every node: outcomes and round trips of each operation, without requests
  /// that the client makes for itself. Takes as long as stats().
  Metrics metrics() const;

  /// Asks every node once, in parallel, whether it answers and what its clock says.
  std::vector<NodeReport> check_nodes(const NodesOptions& options = {});

  /// What every server says of itself, in configured order: lines "NAME VALUE\n" of one group of
  /// its statistics (empty: the general ones). A state store has no groups; only sheaf's own ones
  /// answer, others refuse it with Reason::unknown_command.
  std::vector<NodeText> server_stats(std::string_view group = {}, const NodesOptions& options = {});
  /// The version of every server's software; as server_stats.
  std::vector<NodeText> server_versions(const NodesOptions& options = {});

  /// What the servers of a Redis cluster say of each other: the owners of slots in the order of
  /// these, then the others. Waits for the first answer of a server if there was none. `redis://`
  /// without `routing=ring`; elsewhere Outcome::unsupported.
  Result<std::vector<ClusterServer>> cluster_servers(const NodesOptions& options = {});

  /// Replaces the servers and their weights by those of `config`, which must be the same otherwise;
  /// its password is ignored (sheaf/credentials.h has those that change). Returns at once what has
  /// changed. Requests in flight end where they are, and those that wait go to the new node of
  /// their key. A connection to a server that has left closes when nothing is in flight on it. Keys
  /// that get another node are looked for there; their values are not copied.
  /// docs/reconfiguration.md says what caches, locks, lists and watches see. Errors change nothing:
  /// Outcome::invalid, Reason::bad_configuration for servers that are not allowed or another
  /// difference, which the text names; Outcome::unsupported for `embedded://`, and for a cluster of
  /// `redis://`, whose servers decide which of them belong to it.
  Result<ServersChanged> reconfigure(const ClusterConfig& config);

  /// What the client was opened with, without the password. stats() has the present servers.
  const ClusterConfig& config() const noexcept;

  class Impl;  ///< Internal.

 private:
  friend class Clusters;
  friend struct client::Internals;
  struct SHEAF_API Handle {
    std::shared_ptr<Impl> impl;  // lockers, guards, lists and watches share it
    explicit Handle(std::shared_ptr<Impl> client) noexcept;
    Handle(Handle&&) noexcept;
    Handle& operator=(Handle&&) noexcept;
    ~Handle();
  };
  explicit Client(std::shared_ptr<Impl> impl) noexcept;
  Handle handle_;
};

/// The servers of a client, for a thread that may outlive it: one that follows a list of servers.
///
/// Thread rule: any thread may call any member at any time.
class SHEAF_API ClientServers {
 public:
  /// The servers of this client.
  explicit ClientServers(const Client& client);
  /// True once the client is closed.
  bool closed() const noexcept;
  /// Gives the client these servers, as Client::reconfigure does, and keeps the rest of its
  /// configuration. Errors: as Client::reconfigure; Outcome::shutdown if the client is closed.
  Result<ServersChanged> replace(std::vector<NodeConfig> servers) const;

 private:
  std::weak_ptr<Client::Impl> impl_;
};

}  // namespace v0
}  // namespace sheaf

#pragma once

/// @file
/// What the client counts for each node, what a check of the nodes finds, and what the servers of a
/// cluster say about each other.
///
/// Thread rule: snapshots, plain values.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/result.h>

namespace sheaf {
inline namespace v0 {

/// What the client believes of a node.
enum class NodeHealth : std::uint8_t {
  connecting,  ///< No answer yet since the client was opened; requests wait.
  up,          ///< Answers.
  down,        ///< Normal requests fail at once; a probe asks whether it is back.
  recovering   ///< Answers again; its share of traffic is being ramped up.
};
/// "connecting", "up", "down", "recovering".
SHEAF_API std::string_view to_string(NodeHealth health) noexcept;

/// What a server does in its cluster or next to the server that it copies.
enum class ServerRole : std::uint8_t {
  unknown,  ///< It did not say, or is of a kind without roles.
  primary,  ///< Takes writes.
  replica   ///< Copies another server.
};
/// "unknown", "primary", "replica".
SHEAF_API std::string_view to_string(ServerRole role) noexcept;

/// Counters of one node since the client was opened. Each key of a batch is an operation.
struct NodeStats {
  std::string node;                            ///< Identity: the configured `host:port`.
  std::uint32_t weight = 1;                    ///< Configured weight.
  NodeHealth health = NodeHealth::connecting;  ///< Now.
  std::uint32_t connections = 0;               ///< Pooled connections that are ready.
  std::uint32_t in_flight = 0;                 ///< Requests sent or being sent.
  std::uint32_t waiting = 0;                   ///< Requests that wait for room.
  std::uint64_t requests = 0;                  ///< Operations started on this node.
  std::uint64_t replies = 0;                   ///< Definite answers, errors of the server included.
  std::uint64_t refused = 0;                   ///< Operations that ended `refused`.
  std::uint64_t not_sent = 0;                  ///< Operations that ended `not_sent`.
  std::uint64_t unknown = 0;                   ///< Operations that ended `unknown`.
  std::uint64_t overloaded = 0;                ///< Operations that ended `overloaded`.
  std::uint64_t timed_out = 0;             ///< Part of not_sent and unknown: the deadline passed.
  std::uint64_t hedges = 0;                ///< Second attempts sent here (`hedged_reads`).
  std::uint64_t hedges_won = 0;            ///< Those of them whose answer was the call's.
  std::uint64_t late_replies = 0;          ///< Replies that no call waited for any more; dropped.
  std::uint64_t bad_timestamps = 0;        ///< Replies with an unusable timestamp; result kept.
  std::uint64_t connects = 0;              ///< Connections made.
  std::uint64_t connect_failures = 0;      ///< Connections that could not be made.
  std::uint64_t connections_lost = 0;      ///< Connections not ended by this client.
  std::uint64_t probes = 0;                ///< Recovery probes sent.
  std::uint64_t downs = 0;                 ///< Times the node was marked down.
  std::uint64_t bytes_sent = 0;            ///< Bytes handed to the kernel.
  std::uint64_t bytes_received = 0;        ///< Bytes read.
  std::chrono::nanoseconds round_trip{0};  ///< Smoothed; 0 before the first answer.
  /// TLS version and cipher of a ready connection, "TLSv1.3 TLS_AES_256_GCM_SHA384"; empty: none.
  std::string tls;
  /// When the server's certificate expires, as seen by the latest connection.
  std::optional<std::chrono::system_clock::time_point> certificate_end;
  /// When the certificate (`tls_cert`) expires that the next connection shows to the server.
  std::optional<std::chrono::system_clock::time_point> own_certificate_end;
  std::string user;  ///< The name that the client logs in with; empty if none.
  /// What the server called itself in the greeting of a ready connection: "Redis 7.0.15", or empty.
  std::string server;
  std::string server_id;                  ///< The same for its ID in its cluster (`CLUSTER MYID`).
  ServerRole role = ServerRole::unknown;  ///< The same for its role.
};

/// What one node answered to Client::check_nodes().
struct NodeReport {
  NodeStats stats;                                     ///< After the check.
  std::optional<std::chrono::nanoseconds> round_trip;  ///< In this check; none without an answer.
  /// The node's clock minus ours, within half a round trip; only if the endpoint sends its time
  /// (state store).
  std::optional<std::chrono::milliseconds> clock_difference;
  std::optional<Error> error;  ///< Why there was no answer.
};

/// A text that one node sent: its statistics or its version.
struct NodeText {
  std::string node;          ///< Identity, `host:port`.
  Result<std::string> text;  ///< The answer, or the error in its place.
};

/// The slots first, first + 1, ..., last.
struct SlotRange {
  std::uint32_t first = 0;  ///< The first slot.
  std::uint32_t last = 0;   ///< Not below `first`.
  /// True if both have the same slots.
  friend bool operator==(const SlotRange&, const SlotRange&) = default;
};

/// What a cluster's servers say about one of them; see Client::cluster_servers.
struct ClusterServer {
  std::string node;                ///< Identity, `host:port`.
  bool replica = false;            ///< True if it copies another server, and owns nothing itself.
  std::string primary{};           ///< A replica's primary, by identity; empty if unknown.
  std::uint64_t epoch = 0;         ///< Epoch of its claim to slots; 0 if unknown. The latest wins.
  std::vector<SlotRange> slots{};  ///< The slots it owns, ascending; no two ranges touch.
};

}  // namespace v0
}  // namespace sheaf

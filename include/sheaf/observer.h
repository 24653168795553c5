#pragma once

/// @file
/// A hook for tracing: it receives every request to a server when the request has ended, with what
/// a span of OpenTelemetry needs (its semantic conventions for database clients).

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <sheaf/result.h>

namespace sheaf {
inline namespace v0 {

/// One request to one server, from its start to its end. A call makes one request for each key or,
/// where the protocol can, one for many keys of a server.
///
/// Thread rule: a plain value.
struct RequestEvent {
  std::string_view system;  ///< `db.system.name`: "memcached", "redis", "azure.statestore".
  std::string operation;    ///< `db.operation.name`: "get", "get_many", "set", "remove", ...
  std::uint32_t keys = 1;   ///< `db.operation.batch.size`, if it is more than 1.
  std::string address;      ///< `server.address`: a host name or an IP address.
  std::uint16_t port = 0;   ///< `server.port`; for an engine in this process its number.
  /// When the request started, within a few milliseconds; `elapsed` is exact.
  std::chrono::system_clock::time_point start{};
  /// From the start to the end. Includes the wait for a connection or for room.
  std::chrono::nanoseconds elapsed{0};
  /// How the request ended if it was refused or not answered; none if it was answered. "No such
  /// key" and "condition not met" are answers.
  std::optional<Outcome> outcome;
  Reason reason = Reason::other;  ///< With an outcome, `error.type` as to_string() writes it.
  std::string text;               ///< With an outcome, the server's own words, or what happened.
  /// What Observer::parent returned for the call. Null for a request that belongs to no call or to
  /// several (changes of lists, which calls share, and watches), and if `parent` threw. The
  /// requests that renew and release a lock have the parent of the call that took it.
  std::shared_ptr<void> parent;
};

/// What the application does with each request. Probes, logins and maps of clusters are not shown.
/// A request that was redirected or hedged is shown once, for the server that answered it.
///
/// What these functions throw goes to ClientOptions::on_exception.
struct Observer {
  /// Called on the calling thread at the start of each call except changes of lists, and again by a
  /// get_or_compute that finds no value. It returns the span that is current there, and the call's
  /// requests carry it as `parent`. None = no parents.
  std::function<std::shared_ptr<void>()> parent{};
  /// Called for each request that has ended, in order, where callbacks run
  /// (ClientOptions::executor), and never while the client holds a lock. It should take
  /// microseconds: at most 10,000 events wait. Events beyond that are dropped and counted (`missed`
  /// of the next one). None = no observer.
  std::function<void(const RequestEvent& event, std::uint64_t missed)> ended{};
};

}  // namespace v0
}  // namespace sheaf

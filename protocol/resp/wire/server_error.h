#pragma once

// ServerError: what the text of an error reply means. Servers agree on the first word only; the
// rest differs between Redis, Valkey and Garnet and between their versions.
//
// Thread rule: plain values; views into the reply.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <optional>
#include <string_view>

#include <sheaf/result.h>

namespace sheaf::protocol::resp {

enum class ErrorKind : std::uint8_t {
  // The slot is served by another server: see ServerError::redirect.
  moved,
  ask,
  // Not now; the cluster or the server is changing.
  try_again,     // TRYAGAIN: some keys of the command have moved already
  cluster_down,  // CLUSTERDOWN, and MOVED to port 0: no server has the slot
  migrating,     // MIGRATING, from Garnet before June 2024
  loading,
  read_only,    // a write sent to a replica
  master_down,  // a replica without its primary, which must not serve old values
  busy,         // a script is running
  unblocked,    // the server became a replica while the command waited
  no_replicas,
  misconfigured,  // writes are off because snapshots fail
  out_of_memory,
  // The login.
  no_auth,
  wrong_pass,
  auth_unwanted,  // no password is configured
  no_perm,
  denied,  // protected mode
  no_proto,
  too_many_clients,
  // The command itself.
  cross_slot,
  wrong_type,
  unknown_command,  // on Garnet also a known command with an unknown option
  unknown_subcommand,
  wrong_arguments,
  syntax,
  bad_number,
  overflow,  // a number would be above the largest
  bad_expiry,
  bad_etag,
  no_script,
  busy_key,
  exec_abort,
  cluster_disabled,
  scripts_disabled,
  // Doubtful.
  protocol_error,  // the server could not read what we sent, and closes
  io_error,        // a migration failed half-way
  bad_redirect,    // MOVED or ASK that cannot be followed: cut short or out of range
  plain,           // ERR with any other text
  other            // no known word
};

// What an error says about the command that it answers. After any error except those of
// `not_executed` a script may have run up to the error.
enum class Execution : std::uint8_t {
  not_executed,  // for certain; it may be sent again, there or elsewhere
  refused,       // the server did not execute it, and would not if it were sent again
  unknown        // perhaps executed, or in part
};

// The target of MOVED or ASK.
struct Redirect {
  enum class Target : std::uint8_t {
    named,           // to `host`
    answering_host,  // to the host that answered, at `port`
    unknown_host     // "?": the server knows no name. Never resolve it: look the node up
  };
  std::uint16_t slot = 0;
  Target target = Target::named;
  std::string_view host{};  // without brackets
  std::uint16_t port = 0;   // not 0
  friend bool operator==(const Redirect&, const Redirect&) = default;
};

struct ServerError {
  ErrorKind kind = ErrorKind::other;
  std::optional<Redirect> redirect{};  // always set for moved and ask
  std::string_view text{};  // without what it repeats of the request or says about a script

  // The text of the reply, without "-" and line end.
  static ServerError parse(std::string_view text) noexcept;

  Execution execution() const noexcept;
  Reason reason() const noexcept;
  // The connection is useless: it has no login, or the server closes it.
  bool ends_connection() const noexcept;
  // As an answer to a command that only asks if the server is there: it does not serve this client,
  // or has no data to serve. After any other error it is alive. Disks that are full, rights and
  // scripts that run concern single commands, which report them, and the others are served.
  bool turns_away() const noexcept;
  // True if trying again soon is useless, because a configuration must be changed first.
  bool permanent() const noexcept;
};

}  // namespace sheaf::protocol::resp

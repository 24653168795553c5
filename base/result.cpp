#include <algorithm>
#include <iterator>

#include <sheaf/result.h>

#include "base/reason_words.h"
#include "base/text.h"

namespace sheaf {

std::string_view reason_words(Reason reason, std::string_view text) noexcept {
  const std::string_view words = to_string(reason);
  if (text.empty()) return reason == Reason::other ? "no reason was given" : words;
  switch (reason) {
    case Reason::other:
    case Reason::bad_argument:
    case Reason::bad_configuration:
    case Reason::too_large:
      return {};
    default:
      return text.contains(words) ? std::string_view{} : words;
  }
}

inline namespace v0 {
namespace {

constexpr std::size_t longest_text = 512;

void append_part(std::string& out, std::string_view separator, std::string_view part) {
  if (part.empty()) return;
  out.append(separator);
  out.append(part);
}

struct Advice {
  Reason reason;
  std::string_view cause;
  std::string_view remedy;
};

// Whole sentences. A reason that is not in the table has only its own words. docs/errors.md has a
// copy.
constexpr Advice advice[] = {
    {Reason::timed_out, "The deadline passed.",
     "If this is rare, raise `timeout`; if not, see whether the node answers, and how fast (`sheaf "
     "nodes`, Client::metrics)."},
    {Reason::cancelled, "The caller's stop token cancelled it.",
     "Make the call again if its result is still wanted."},
    {Reason::node_down, "The node is known to be down.",
     "Check its name or address, and that the server is running and listens there. A client that "
     "stays open keeps probing it; calls succeed as soon as it answers."},
    {Reason::connect_failed, "The client could not connect to the node.",
     "Check its name or address, and that the server is running, listens there and is not behind a "
     "firewall."},
    {Reason::connection_lost, "The connection ended before the answer came.",
     "Check the server's log for restarts and closed connections."},
    {Reason::protocol_error, "The peer does not speak the protocol as expected.",
     "Check that the scheme of the URI fits the server, and check the server's version."},
    {Reason::authentication, "One side does not accept the identity of the other.",
     "Check user, password or token, over TLS the certificates and `tls_name`, and that no other "
     "process has the same client ID."},
    {Reason::too_large, "A size is above a limit.",
     "Check `value_limit`, the server's own limit, and `item_size` for memcached."},
    {Reason::queue_full, "This client has reached its limit of operations under way.",
     "Start fewer operations at once, or raise `max_in_flight` and `max_waiting`."},
    {Reason::out_of_memory, "This process is out of memory.",
     "Start fewer operations at once, or give the process more memory."},
    {Reason::clock_skew, "This machine's clock is over a minute ahead of the store's.",
     "Run NTP on both; `sheaf nodes` shows the difference."},
    {Reason::fencing_required, "The key is protected by a lock's token.",
     "Write it through the guard of that lock."},
    {Reason::fencing_stale, "A later holder of the lock has used the key.",
     "The lock was lost; take it again and read before writing."},
    {Reason::fencing_skew, "The fencing token is over a minute ahead of the store's clock.",
     "Run NTP on the machines of all stores."},
    {Reason::quota, "The store or the account has reached its quota.",
     "Remove keys, give them a time to live, or raise the quota."},
    {Reason::syntax, "The store did not understand the request.",
     "Compare the versions of client and store."},
    {Reason::wrong_arguments, "The server expects another number of arguments.",
     "Compare the command with the documentation of the server's version."},
    {Reason::timestamp_missing, "The store requires a timestamp.",
     "Compare the versions of client and store."},
    {Reason::timestamp_malformed, "The store could not read the timestamp or the fencing token.",
     "Give the token as the lock returned it."},
    {Reason::key_empty, "The store refuses an empty key.", "Give a key of at least 1 byte."},
    {Reason::incomplete, "A part of the list is missing.",
     "Take out what is missing with `drop_holes`, and keep lists where no keys are evicted."},
    {Reason::not_authorized, "The user has no right to this key or topic.",
     "Check the server's access list, or for a store its file of rights."},
    {Reason::unknown_command, "The server does not know this command.",
     "Check the server's version."},
    {Reason::wrong_type, "The key holds another kind of value.",
     "Use the operations of that kind, or another key."},
    {Reason::lock_lost, "The lock is no longer held.",
     "Take it again and start the protected work over."},
    {Reason::read_only, "The server accepts no writes at the moment.",
     "For a store, check its log: its disk is full or its file was moved."},
    {Reason::foreign_server, "Another server has the address now.",
     "If the cluster was replaced as a whole, open a new client."},
    {Reason::overtaken,
     "The servers were changing, and one carried out a later operation on the key first.",
     "Repeat the call; where the order matters, wait for an answer before the next operation."},
    {Reason::closed, "The client was closed.", "Keep the client until its calls have ended."},
    {Reason::forked, "The process forked after the client was opened.",
     "Open a client in the child."},
    {Reason::wrong_thread, "A blocking call was made on a thread that drives a client.",
     "Use the asynchronous form there."},
};

// True if the words of a reason, which the message has, say its cause already.
bool names_its_cause(Reason reason) noexcept {
  switch (reason) {
    case Reason::timed_out:
    case Reason::node_down:
    case Reason::connect_failed:
    case Reason::unknown_command:
    case Reason::wrong_type:
    case Reason::lock_lost:
    case Reason::closed:
      return true;
    default:
      return false;
  }
}

struct ReasonWords {
  Reason reason;
  std::string_view words;
};
constexpr ReasonWords reason_table[] = {
    {Reason::other, "other"},
    {Reason::timed_out, "timed out"},
    {Reason::cancelled, "cancelled"},
    {Reason::node_down, "node down"},
    {Reason::connect_failed, "connecting failed"},
    {Reason::connection_lost, "connection lost"},
    {Reason::protocol_error, "protocol error"},
    {Reason::authentication, "login refused"},
    {Reason::too_large, "too large"},
    {Reason::bad_argument, "bad argument"},
    {Reason::bad_configuration, "bad configuration"},
    {Reason::wrong_thread, "wrong thread"},
    {Reason::forked, "the process forked"},
    {Reason::closed, "the client is closed"},
    {Reason::queue_full, "queue full"},
    {Reason::out_of_memory, "out of memory"},
    {Reason::clock_skew, "timestamp is too far ahead"},
    {Reason::fencing_required, "fencing token is required"},
    {Reason::fencing_skew, "fencing token is too far ahead"},
    {Reason::fencing_stale, "fencing token is stale"},
    {Reason::quota, "quota is used up"},
    {Reason::syntax, "syntax error"},
    {Reason::not_authorized, "not authorized"},
    {Reason::unknown_command, "unknown command"},
    {Reason::wrong_arguments, "wrong arguments"},
    {Reason::timestamp_missing, "timestamp is missing"},
    {Reason::timestamp_malformed, "timestamp is malformed"},
    {Reason::key_empty, "key is empty"},
    {Reason::lock_lost, "the lock is not held"},
    {Reason::wrong_type, "the key holds another kind of value"},
    {Reason::incomplete, "a part is missing"},
    {Reason::read_only, "the store is read-only"},
    {Reason::foreign_server, "not a server of this cluster"},
    {Reason::overtaken, "overtaken"},
};
static_assert(std::size(reason_table) == static_cast<std::size_t>(Reason::overtaken) + 1);
static_assert(std::ranges::is_sorted(reason_table, {}, &ReasonWords::reason));

std::string_view known(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::unknown:
      return "The request was sent: it may have been carried out, or be carried out later.";
    case Outcome::refused:
      return "The server answered that it did not carry it out.";
    case Outcome::not_sent:
    case Outcome::overloaded:
    case Outcome::shutdown:
      return "Nothing was sent: it is safe to repeat.";
    case Outcome::unsupported:
      return "This kind of server has no such operation; Client::supports says so beforehand.";
    case Outcome::invalid:
      return "The call itself is not allowed, and nothing was sent.";
  }
  return {};
}

// The history, without the failure that the message has as its text.
std::string told(const Error& error) {
  std::string history = error.history;
  const std::string failure = " (" + error.text + ")";
  const std::size_t at = history.find(failure);
  if (at != history.npos) history.erase(at, failure.size());
  return printable(error.node, 300) + " " + printable(history, 500) + ".";
}

void add(std::string& out, std::string_view sentence) {
  if (sentence.empty()) return;
  if (!out.empty()) out += ' ';
  out += sentence;
}

}  // namespace

std::string_view to_string(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::refused:
      return "refused";
    case Outcome::not_sent:
      return "not sent";
    case Outcome::unknown:
      return "unknown";
    case Outcome::overloaded:
      return "overloaded";
    case Outcome::shutdown:
      return "shutdown";
    case Outcome::unsupported:
      return "unsupported";
    case Outcome::invalid:
      return "invalid";
  }
  return "unknown";
}

std::string_view to_string(Reason reason) noexcept {
  const auto index = static_cast<std::size_t>(reason);
  return index < std::size(reason_table) ? reason_table[index].words : "other";
}

void throw_bad_result_access(std::string what) { throw BadResultAccess(std::move(what)); }

std::string Error::message() const {
  std::string out(to_string(outcome));
  const std::string took =
      elapsed > elapsed.zero() ? " after " + format_elapsed(elapsed) : std::string{};
  const std::string shown_node = printable(node, longest_text);
  const std::string shown_text = printable(text, longest_text);
  const std::string_view words = reason_words(reason, text);
  if (outcome == Outcome::refused || words.empty()) {
    append_part(out, outcome == Outcome::refused ? " by " : " at ", shown_node);
    out.append(took);
    append_part(out, ": ", words);
  } else {
    append_part(out, ": ", words);
    out.append(took);
    append_part(out, " at ", shown_node);
  }
  append_part(out, ": ", shown_text);
  return out;
}

std::string_view to_string(Origin origin) noexcept {
  switch (origin) {
    case Origin::caller:
      return "caller";
    case Origin::process:
      return "process";
    case Origin::server:
      return "server";
    case Origin::network:
      return "network";
  }
  return "network";
}

Origin Error::origin() const noexcept {
  if (outcome == Outcome::invalid || outcome == Outcome::unsupported) return Origin::caller;
  if (paused || outcome == Outcome::overloaded || outcome == Outcome::shutdown)
    return Origin::process;
  switch (reason) {
    case Reason::cancelled:
      return Origin::caller;
    case Reason::queue_full:
    case Reason::out_of_memory:
    case Reason::closed:
    case Reason::forked:
      return Origin::process;
    case Reason::node_down:
    case Reason::connect_failed:
    case Reason::connection_lost:
    case Reason::timed_out:
      return Origin::network;
    default:
      return Origin::server;
  }
}

std::string Error::why() const {
  std::string out = message();
  if (!out.ends_with('.') && !out.ends_with('?')) out += '.';
  const auto* const found = std::ranges::find(advice, reason, &Advice::reason);
  if (paused) {
    add(out,
        "This process itself did not run for part of the time: it was stopped, swapped out or got "
        "no CPU. The node is not to blame.");
  } else if (found != std::end(advice) && !names_its_cause(reason)) {
    add(out, found->cause);
  }
  if (!history.empty()) add(out, told(*this));
  add(out, known(outcome));
  if (!paused && found != std::end(advice)) add(out, found->remedy);
  return out;
}

}  // namespace v0
}  // namespace sheaf

#include <sheaf/result.h>

#include "base/text.h"

namespace sheaf {
inline namespace v0 {
namespace {

constexpr std::size_t longest_text = 512;

// The words between the outcome and the text. The text of a local refusal is enough; elsewhere the
// reason comes first, unless the text has the same words in it.
std::string_view reason_words(const Error& error) noexcept {
  const std::string_view words = to_string(error.reason);
  if (error.text.empty()) return words;
  switch (error.reason) {
    case Reason::other:
    case Reason::bad_argument:
    case Reason::bad_configuration:
    case Reason::too_large:
      return {};
    default:
      return error.text.contains(words) ? std::string_view{} : words;
  }
}

void append_part(std::string& out, std::string_view separator, std::string_view part) {
  if (part.empty()) return;
  out.append(separator);
  out.append(part);
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
  switch (reason) {
    case Reason::other:
      return "no reason was given";
    case Reason::timed_out:
      return "timed out";
    case Reason::cancelled:
      return "cancelled";
    case Reason::node_down:
      return "node down";
    case Reason::connect_failed:
      return "connecting failed";
    case Reason::connection_lost:
      return "connection lost";
    case Reason::protocol_error:
      return "protocol error";
    case Reason::authentication:
      return "login refused";
    case Reason::too_large:
      return "too large";
    case Reason::bad_argument:
      return "bad argument";
    case Reason::bad_configuration:
      return "bad configuration";
    case Reason::wrong_thread:
      return "wrong thread";
    case Reason::forked:
      return "the process forked";
    case Reason::closed:
      return "the client is closed";
    case Reason::queue_full:
      return "queue full";
    case Reason::out_of_memory:
      return "out of memory";
    case Reason::clock_skew:
      return "timestamp is too far ahead";
    case Reason::fencing_required:
      return "fencing token is required";
    case Reason::fencing_skew:
      return "fencing token is too far ahead";
    case Reason::fencing_stale:
      return "fencing token is stale";
    case Reason::quota:
      return "quota is used up";
    case Reason::syntax:
      return "syntax error";
    case Reason::not_authorized:
      return "not authorized";
    case Reason::unknown_command:
      return "unknown command";
    case Reason::wrong_arguments:
      return "wrong arguments";
    case Reason::timestamp_missing:
      return "timestamp is missing";
    case Reason::timestamp_malformed:
      return "timestamp is malformed";
    case Reason::key_empty:
      return "key is empty";
    case Reason::lock_lost:
      return "the lock is not held";
    case Reason::wrong_type:
      return "the key holds another kind of value";
    case Reason::incomplete:
      return "a part is missing";
    case Reason::read_only:
      return "the store is read-only";
  }
  return "no reason was given";
}

void throw_bad_result_access(std::string what) { throw BadResultAccess(std::move(what)); }

std::string Error::message() const {
  std::string out(to_string(outcome));
  const std::string took =
      elapsed > elapsed.zero() ? " after " + format_elapsed(elapsed) : std::string{};
  const std::string shown_node = printable(node, longest_text);
  const std::string shown_text = printable(text, longest_text);
  const std::string_view words = reason_words(*this);
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

}  // namespace v0
}  // namespace sheaf

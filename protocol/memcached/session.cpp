// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/memcached/session.h"

#include <algorithm>
#include <utility>

#include "base/checks.h"

namespace sheaf::protocol::memcached {
namespace {

// Neither protocol has larger values, and the server accepts none.
constexpr std::uint64_t largest_value = (1u << 30) - 1024;
// The limit of everything except values: texts, lines, numbers.
constexpr std::size_t longest_text = 64 * 1024;

SessionOptions bounded(SessionOptions options) {
  SHEAF_CHECK(options.max_in_flight >= 1);
  options.value_limit = std::min(options.value_limit, largest_value);
  return options;
}

LifeOptions life_options(const SessionOptions& options) {
  LifeOptions life;
  const std::uint64_t value_limit = std::min(options.value_limit, largest_value);
  life.input_limit = static_cast<std::size_t>(value_limit) + longest_text;
  life.handshake_limit = options.handshake_limit;
  if (!options.only_version) life.keep_alive = options.keep_alive;
  life.answer_limit = options.answer_limit;
  life.over_tls = options.over_tls;
  life.peer = "memcached";
  life.greeting = "the greeting";
  life.greeting_hint = ": it hangs, or speaks memcached's other protocol only";
  life.no_op = "a no-op";
  return life;
}

// memcached reads a record of TLS into its buffer of 16 KiB or, the rest of a value, to where the
// value belongs. It then waits for more on the socket, although OpenSSL may still have the rest of
// the record (1.6.18: try_read_network(), conn_nread). So a record must fit into the buffer, which
// may hold the beginning of a request, and end where a value ends that began in an earlier one.
constexpr std::size_t most_in_a_record = 15 * 1024;

}  // namespace

MemcachedSession::MemcachedSession(SessionOptions options)
    : SessionBase(life_options(options), options.first_opaque),
      options_(bounded(std::move(options))),
      login_(options_.login),
      answers_(life(), requests()) {
  if (options_.over_tls) life().output().limit_writes(most_in_a_record);
}

Peer MemcachedSession::peer() const {
  if (!server_.version) return {};
  return {.software = "memcached " + server_.version->text()};
}

bool MemcachedSession::renew_login(Now) {
  const bool has_begun = life().state() != ConnectionLife::State::idle && !closed();
  return !has_begun || options_.only_version || !login_.stale();
}

Step MemcachedSession::refuse_login(std::string text) {
  life().end(excused_if_stale({Reason::authentication, std::move(text), true}, login_));
  return Step::again;
}

std::size_t MemcachedSession::free_slots() const {
  const std::size_t used = requests().size();
  if (options_.only_version || used >= options_.max_in_flight) return 0;
  if (life().output().size() >= options_.output_limit) return 0;
  return options_.max_in_flight - used;
}

std::expected<Ticket, LocalError> MemcachedSession::write(const Operation& operation, Now now) {
  if (auto error = refusal_of(operation)) return std::unexpected(std::move(*error));
  return write_request(operation, now);
}

// Why a request is refused, as far as both protocols agree.
std::optional<LocalError> MemcachedSession::refusal_of(const Operation& operation) const {
  if (auto error = bad_combination(operation)) return error;
  const std::size_t size = operation.value.size();
  if (size > options_.value_limit) {
    return too_large("the value", size, "value_limit", options_.value_limit);
  }
  return check_item(options_.item_size, operation.key.size(), size, operation.flags);
}

Step MemcachedSession::next_step(Event& event) {
  if (answers_.keeps_refusal()) return next_step_after_refusal(event);
  return life().input().skipping() ? Step::need_input : next_reply(event);
}

// The refusal is reported once the value is no longer needed, whatever input there is.
Step MemcachedSession::next_step_after_refusal(Event& event) {
  if (answers_.early_refusal(event)) return Step::event;
  const Step step = next_reply(event);
  return step == Step::need_input ? Step::need_output : step;
}

}  // namespace sheaf::protocol::memcached

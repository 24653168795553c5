// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/rules.h"

#include <limits>
#include <string>

#include "protocol/resp/command_rules.h"

namespace sheaf::protocol::resp {
namespace {

std::optional<LocalError> bad_key(std::string_view key) {
  if (key.empty()) return invalid("the key is empty");
  if (key.size() > longest_key) {
    return too_large("the key", key.size(), "the longest key of a request,", longest_key);
  }
  return std::nullopt;
}

std::optional<LocalError> bad_keys(const Operation& operation) {
  if (needs_key(operation.verb)) return bad_key(operation.key);
  if (operation.verb == Verb::command) return refusal_of_command(operation.words);
  if (operation.asking) return invalid("only a request for one key can be asking");
  if (operation.verb != Verb::get_many) return std::nullopt;
  if (operation.keys.empty()) return invalid("no keys are given");
  for (const std::string_view key : operation.keys) {
    if (auto error = bad_key(key)) return error;
  }
  return std::nullopt;
}

std::optional<LocalError> bad_condition(const Operation& operation) {
  switch (operation.condition) {
    case Condition::none:
      return std::nullopt;
    case Condition::if_absent:
    case Condition::if_present:
      if (operation.verb == Verb::set) return std::nullopt;
      return unsupported("only a set can depend on whether there is a key");
    case Condition::if_version:
      return unsupported("SET and DEL of the Redis protocol compare no versions");
    case Condition::if_value:
    case Condition::if_absent_or_equal:
      return unsupported("SET and DEL of the Redis protocol compare no values");
  }
  return std::nullopt;
}

std::optional<LocalError> bad_verb(Verb verb) {
  switch (verb) {
    case Verb::get:
    case Verb::get_many:
    case Verb::set:
    case Verb::remove:
    case Verb::touch:
    case Verb::get_and_touch:
    case Verb::probe:
    case Verb::server_version:
    case Verb::stats:
    case Verb::command:
      return std::nullopt;
    case Verb::append:
      return unsupported("APPEND of the Redis protocol would create a key that is absent");
    case Verb::prepend:
      return unsupported("the Redis protocol has no command that prepends");
    case Verb::increment:
      return unsupported("INCRBY of the Redis protocol would create a key that is absent");
    case Verb::decrement:
      return unsupported("DECRBY of the Redis protocol does not stop at 0");
    case Verb::clock:
    case Verb::watch:
    case Verb::unwatch:
    case Verb::lease:
      break;
  }
  return unsupported("the Redis protocol has no operation \"" + std::string(to_string(verb)) +
                     "\"");
}

std::optional<LocalError> bad_ttl(const Operation& operation) {
  if (operation.ttl.count() == 0) return std::nullopt;
  if (operation.ttl.count() < 0) return invalid("the time to live is negative");
  switch (operation.verb) {
    case Verb::set:
    case Verb::touch:
    case Verb::get_and_touch:
      return std::nullopt;
    default:
      return unsupported("only writes and touches have a time to live");
  }
}

bool has_no_getex(const ServerFacts& server) noexcept {
  return server.is(Software::redis) && server.version && *server.version < getex_since;
}

}  // namespace

bool needs_key(Verb verb) noexcept {
  return verb != Verb::get_many && verb != Verb::probe && verb != Verb::server_version &&
         verb != Verb::stats && verb != Verb::command;
}

bool is_good_key(std::string_view key) noexcept {
  return !key.empty() && key.size() <= longest_key;
}

// Garnet 2.1 read 32 bits here, so what has more goes in seconds.
Expiry expiry_of(std::chrono::milliseconds ttl) noexcept {
  if (ttl.count() <= std::numeric_limits<std::int32_t>::max()) return {"PX", ttl.count()};
  return {"EX", std::chrono::ceil<std::chrono::seconds>(ttl).count()};
}

// Of PERSIST a reply of 0 says that there is no key, or that it lives for ever already.
bool touches_by_pexpire(const Operation& operation, const ServerFacts& server) noexcept {
  return operation.verb == Verb::touch && operation.ttl.count() > 0 &&
         (server.is(Software::redis) || server.is(Software::valkey));
}

std::optional<LocalError> refusal_of(const Operation& operation, const ServerFacts& server,
                                     std::uint64_t value_limit) {
  if (auto error = bad_verb(operation.verb)) return error;
  if (auto error = bad_condition(operation)) return error;
  if (auto error = bad_ttl(operation)) return error;
  if (auto error = bad_keys(operation)) return error;
  if (!operation.fence.empty()) {
    return unsupported("servers of the Redis protocol do not check fencing tokens");
  }
  if (operation.flags != 0) {
    return unsupported("servers of the Redis protocol keep no flags beside a value");
  }
  if (operation.value.size() > value_limit) {
    return too_large("the value", operation.value.size(), "value_limit", value_limit);
  }
  const bool touches = operation.verb == Verb::touch || operation.verb == Verb::get_and_touch;
  if (touches && !touches_by_pexpire(operation, server) && has_no_getex(server)) {
    return unsupported("GETEX needs Redis 6.2");
  }
  return std::nullopt;
}

}  // namespace sheaf::protocol::resp

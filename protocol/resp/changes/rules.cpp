// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/changes/rules.h"

#include <limits>
#include <string>
#include <utility>

#include "protocol/resp/changes/change.h"
#include "protocol/resp/changes/command_rules.h"

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
  const bool one_command = operation.verb == Verb::command && operation.commands.empty();
  if (one_command) return refusal_of_command(operation.words);
  if (operation.asking) return invalid("only a request for one key can be asking");
  for (const auto words : operation.commands) {
    if (auto error = refusal_of_command(words)) return error;
  }
  if (!is_list(operation.verb) && operation.commands.empty()) return std::nullopt;
  if (operation.keys.empty()) return invalid("no keys are given");
  for (const std::string_view key : operation.keys) {
    if (auto error = bad_key(key)) return error;
  }
  return std::nullopt;
}

LocalError too_large_number(std::string_view what, std::uint64_t number) {
  std::string text(what);
  text.append(", ").append(std::to_string(number)).append(", is above the server's largest, ");
  text.append(std::to_string(largest_number));
  return {Outcome::invalid, Reason::too_large, std::move(text)};
}

// Servers count up to 2^63 - 1. A decrement may be larger: it stops at 0.
std::optional<LocalError> bad_number(const Operation& operation) {
  const bool counts = operation.verb == Verb::increment || operation.verb == Verb::decrement;
  if (!counts) return std::nullopt;
  if (operation.verb == Verb::increment && operation.delta > largest_number) {
    return too_large_number("the number to add", operation.delta);
  }
  if (operation.initial.value_or(0) > largest_number) {
    return too_large_number("the initial number", *operation.initial);
  }
  return std::nullopt;
}

std::optional<LocalError> bad_condition(const Operation& operation) {
  const bool sets = operation.verb == Verb::set;
  const bool removes = operation.verb == Verb::remove;
  switch (operation.condition) {
    case Condition::none:
      return std::nullopt;
    case Condition::if_absent:
    case Condition::if_present:
      if (sets || operation.verb == Verb::get_and_set) return std::nullopt;
      [[fallthrough]];
    case Condition::if_absent_or_equal:
      if (sets) return std::nullopt;
      return unsupported("only a set can have this condition");
    case Condition::if_value:
      if (removes) return std::nullopt;
      return unsupported("only a remove can have this condition");
    case Condition::if_version:
      if (!sets && !removes) return unsupported("only a set or a remove can have this condition");
      if (ValueVersion::parse(operation.version).empty()) {
        return invalid("the version was not read from a server of the Redis protocol");
      }
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<LocalError> bad_verb(Verb verb) {
  switch (verb) {
    case Verb::get:
    case Verb::get_many:
    case Verb::set:
    case Verb::set_many:
    case Verb::remove:
    case Verb::touch:
    case Verb::get_and_touch:
    case Verb::get_and_set:
    case Verb::probe:
    case Verb::server_version:
    case Verb::stats:
    case Verb::command:
    case Verb::append:
    case Verb::prepend:
    case Verb::increment:
    case Verb::decrement:
    case Verb::watch:
    case Verb::unwatch:
      return std::nullopt;
    case Verb::clock:
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
    case Verb::get_and_set:
      return std::nullopt;
    case Verb::increment:
    case Verb::decrement:
      if (operation.initial) return std::nullopt;
      [[fallthrough]];
    default:
      return unsupported("only an operation that creates or touches a key takes a time to live");
  }
}

// Valkey and Garnet have always had the commands that Redis gained over time.
bool is_redis_before(const ServerFacts& server, const ServerVersion& wanted) noexcept {
  return server.is(Software::redis) && server.version && *server.version < wanted;
}

std::optional<LocalError> too_old(const Operation& operation, const ServerFacts& server) {
  const bool touches = operation.verb == Verb::touch || operation.verb == Verb::get_and_touch;
  if (touches && !touches_by_pexpire(operation, server) && is_redis_before(server, getex_since)) {
    return unsupported("GETEX needs Redis 6.2");
  }
  if (operation.verb != Verb::get_and_set) return std::nullopt;
  if (is_redis_before(server, set_get_since)) return unsupported("SET with GET needs Redis 6.2");
  if (operation.condition == Condition::if_absent && is_redis_before(server, set_nx_get_since)) {
    return unsupported("SET with NX and GET needs Redis 7.0");
  }
  return std::nullopt;
}

}  // namespace

bool is_list(Verb verb) noexcept { return verb == Verb::get_many || verb == Verb::set_many; }

bool needs_key(Verb verb) noexcept {
  return !is_list(verb) && verb != Verb::probe && verb != Verb::server_version &&
         verb != Verb::stats && verb != Verb::command;
}

bool is_good_key(std::string_view key) noexcept {
  return !key.empty() && key.size() <= longest_key;
}

// Garnet 2.1 read only 32 bits here, so longer times are sent in seconds.
Expiry expiry_of(std::chrono::milliseconds ttl) noexcept {
  if (ttl.count() <= std::numeric_limits<std::int32_t>::max()) return {"PX", ttl.count()};
  return {"EX", std::chrono::ceil<std::chrono::seconds>(ttl).count()};
}

// PERSIST is not used: its reply of 0 means that there is no key, or that the key never expires.
bool touches_by_pexpire(const Operation& operation, const ServerFacts& server) noexcept {
  return operation.verb == Verb::touch && operation.ttl.count() > 0 &&
         (server.is(Software::redis) || server.is(Software::valkey));
}

std::optional<LocalError> refusal_of(const Operation& operation, const ServerFacts& server,
                                     std::uint64_t value_limit) {
  if (auto error = bad_verb(operation.verb)) return error;
  if (auto error = bad_condition(operation)) return error;
  if (auto error = bad_ttl(operation)) return error;
  if (operation.ttl_left) return unsupported("a read does not report how long its value lives");
  if (auto error = bad_keys(operation)) return error;
  if (auto error = bad_number(operation)) return error;
  if (!operation.fence.empty()) {
    return unsupported("servers of the Redis protocol do not check fencing tokens");
  }
  if (operation.flags != 0) {
    return unsupported("servers of the Redis protocol keep no flags with a value");
  }
  if (operation.value.size() > value_limit) {
    return too_large("the value", operation.value.size(), "value_limit", value_limit);
  }
  return too_old(operation, server);
}

}  // namespace sheaf::protocol::resp

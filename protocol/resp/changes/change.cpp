// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/changes/change.h"

#include <algorithm>
#include <charconv>

#include "protocol/resp/changes/rules.h"

namespace sheaf::protocol::resp {
namespace {

// ---- the scripts. They answer 1: done; 0: another value; -1: no key. Counting scripts answer with
// the number as a text, because numbers of Lua are not exact, or with nothing: no key.

constexpr std::string_view set_if_equal =
    "local v = redis.call('GET', KEYS[1]) "
    "if not v then return -1 end "
    "if v ~= ARGV[1] then return 0 end "
    "redis.call('SET', KEYS[1], ARGV[2], unpack(ARGV, 3)) "
    "return 1";
constexpr std::string_view set_if_absent_or_equal =
    "local v = redis.call('GET', KEYS[1]) "
    "if v and v ~= ARGV[1] then return 0 end "
    "redis.call('SET', KEYS[1], ARGV[1], unpack(ARGV, 2)) "
    "return 1";
constexpr std::string_view remove_if_equal =
    "local v = redis.call('GET', KEYS[1]) "
    "if not v then return -1 end "
    "if v ~= ARGV[1] then return 0 end "
    "redis.call('DEL', KEYS[1]) "
    "return 1";
constexpr std::string_view append =
    "if redis.call('EXISTS', KEYS[1]) == 0 then return -1 end "
    "redis.call('APPEND', KEYS[1], ARGV[1]) "
    "return 1";
constexpr std::string_view prepend =
    "local v = redis.call('GET', KEYS[1]) "
    "if not v then return -1 end "
    "redis.call('SET', KEYS[1], ARGV[1] .. v, 'KEEPTTL') "
    "return 1";
// ARGV: INCRBY or DECRBY, the number, and what an absent key becomes, with its life.
constexpr std::string_view add_number =
    "local v = redis.call('GET', KEYS[1]) "
    "if not v then "
    "if not ARGV[3] then return false end "
    "redis.call('SET', KEYS[1], unpack(ARGV, 3)) "
    "return ARGV[3] end "
    "if string.sub(v, 1, 1) == '-' then "
    "return redis.error_reply('ERR value is not an integer or out of range: it is negative') end "
    "if redis.call(ARGV[1], KEYS[1], ARGV[2]) < 0 then "
    "redis.call('SET', KEYS[1], '0', 'KEEPTTL') end "
    "return redis.call('GET', KEYS[1])";

constexpr std::string_view not_an_integer = "ERR value is not an integer or out of range";
constexpr std::string_view overflow = "ERR increment or decrement would overflow";
constexpr std::string_view too_long = "ERR the new value would be above value_limit";

// The form in which servers read numbers: digits without leading zeros.
std::optional<std::uint64_t> parse_count(std::string_view text) noexcept {
  const auto number = parse_number(text);
  if (!number || *number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

Verdict refused(std::string_view text) noexcept {
  return {.status = Status::refused, .refusal = text};
}

Verdict stored(std::string_view value, bool keeps_life = false) noexcept {
  return {.act = Verdict::Act::store, .value = value, .keeps_life = keeps_life};
}

bool is_wanted(const Change& change, std::string_view present) noexcept {
  if (change.condition == Condition::if_version) {
    return ValueVersion::of(present) == change.version;
  }
  return present == change.value;
}

Verdict counted(Change& change, std::optional<std::string_view> present) {
  const bool adds = change.verb == Verb::increment;
  std::uint64_t number = 0;
  if (present) {
    const auto before = parse_count(*present);
    if (!before) return refused(not_an_integer);
    if (adds && change.delta > largest_number - *before) return refused(overflow);
    number = adds ? *before + change.delta : *before - std::min(*before, change.delta);
  } else {
    if (!change.initial) return {.status = Status::absent};
    number = *change.initial;
  }
  change.present = std::to_string(number);
  return stored(change.present, present.has_value());
}

Verdict extended(Change& change, std::optional<std::string_view> present, std::uint64_t limit) {
  if (!present) return {.status = Status::not_stored};
  if (present->size() + change.value.size() > limit) return refused(too_long);
  const bool before = change.verb == Verb::prepend;
  std::string value(before ? change.value : *present);
  value.append(before ? *present : change.value);
  change.present = std::move(value);
  return stored(change.present, true);
}

}  // namespace

bool is_change(const Operation& operation) noexcept {
  switch (operation.verb) {
    case Verb::append:
    case Verb::prepend:
    case Verb::increment:
    case Verb::decrement:
      return true;
    case Verb::set:
    case Verb::remove:
      return operation.condition == Condition::if_version ||
             operation.condition == Condition::if_value ||
             operation.condition == Condition::if_absent_or_equal;
    default:
      return false;
  }
}

Verdict judge(Change& change, std::optional<std::string_view> present, std::uint64_t value_limit) {
  switch (change.verb) {
    case Verb::append:
    case Verb::prepend:
      return extended(change, present, value_limit);
    case Verb::increment:
    case Verb::decrement:
      return counted(change, present);
    default:
      break;
  }
  if (!present && change.condition == Condition::if_absent_or_equal) return stored(change.value);
  if (!present) return {.status = Status::absent};
  if (!is_wanted(change, *present)) return {.status = Status::not_stored};
  if (change.verb == Verb::remove) return {.act = Verdict::Act::remove};
  return stored(change.value);
}

void add_life(Words& words, std::chrono::milliseconds ttl) noexcept {
  if (ttl.count() <= 0) return;
  const Expiry expiry = expiry_of(ttl);
  words.add(expiry.unit);
  words.add(expiry.number);
}

bool needs_present(const Change& change) noexcept {
  return change.condition == Condition::if_version;
}

Words script_of(const Change& change) noexcept {
  Words words;
  const auto begin = [&](std::string_view script) {
    words.add("EVAL");
    words.add(script);
    words.add(1);
    words.add(change.key);
  };
  const bool compares = needs_present(change);
  switch (change.verb) {
    case Verb::append:
    case Verb::prepend:
      begin(change.verb == Verb::append ? append : prepend);
      words.add(change.value);
      return words;
    case Verb::increment:
    case Verb::decrement:
      begin(add_number);
      words.add(change.verb == Verb::increment ? "INCRBY" : "DECRBY");
      words.add(std::min(change.delta, largest_number));
      if (!change.initial) return words;
      words.add(*change.initial);
      break;
    case Verb::remove:
      begin(remove_if_equal);
      words.add(compares ? std::string_view(change.present) : change.value);
      return words;
    default:
      begin(compares ? set_if_equal : set_if_absent_or_equal);
      if (compares) words.add(change.present);
      words.add(change.value);
      break;
  }
  add_life(words, change.ttl);
  return words;
}

}  // namespace sheaf::protocol::resp

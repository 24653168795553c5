#include "tests/live/client/load_keys.h"

#ifdef SHEAF_TEST_REDIS_SERVERS

#include <charconv>
#include <future>
#include <optional>
#include <utility>

#include <sheaf/async.h>

#include "protocol/resp/wire/hash_slot.h"

namespace sheaf::test {

std::optional<std::uint64_t> number_behind(std::string_view begin, std::string_view text) {
  if (!text.starts_with(begin)) return std::nullopt;
  text.remove_prefix(begin.size());
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return number;
}

// ---- what all keys have in common

LoadKey::LoadKey(Load& load, std::string name)
    : load_(load), name_(std::move(name)), slot_(protocol::resp::hash_slot(name_)) {}

void LoadKey::ended(std::string_view call, bool writes, Clock::time_point begun,
                    const Error* error) {
  const auto now = Clock::now();
  if (now - begun > load().patience + load_.judge.lateness()) {
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(now - begun);
    found(std::string(call) + " ended after " + std::to_string(took.count()) + " ms");
  }
  load_.judge.ended(
      {.name = call, .key = name_, .slot = slot_, .writes = writes, .begun = begun, .ended = now},
      error);
}

bool LoadKey::plausible(std::uint64_t number, std::uint64_t acknowledged, std::uint64_t latest) {
  if (number >= (may_lose() ? 0 : acknowledged) && number <= latest) return true;
  found("holds " + std::to_string(number) + "; acknowledged " + std::to_string(acknowledged) +
        ", the latest " + std::to_string(latest));
  return false;
}

// ---- set, get

void PlainKey::use() {
  const std::uint64_t next = numbers_.begin();
  const std::string value = name() + "=" + std::to_string(next);
  numbers_.ended(next, write("set", [&] {
                   return load().client.set(name(), value, {.timeout = load().patience});
                 }));
  const auto got =
      read("get", [&] { return load().client.get(name(), {.timeout = load().patience}); });
  if (got) judge(*got);
}

void PlainKey::judge(const GetResult& got) {
  const auto number = got ? number_behind(name() + "=", got->data) : 0;
  if (!number) return found("holds " + got->data);
  plausible(*number, numbers_);
}

// ---- several in flight

void PipelinedKey::use() {
  constexpr std::size_t in_flight = 4;
  SetOptions terms;
  terms.timeout = load().patience;
  GetOptions how;
  how.timeout = load().patience;
  const AsyncClient async = load().client.async();
  const auto begun = Clock::now();
  std::vector<std::future<Result<SetResult>>> sets;
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = 0; i < in_flight; ++i) {
    numbers.push_back(numbers_.begin());
    const std::string value = name() + "=" + std::to_string(numbers.back());
    sets.push_back(async.set(name(), value, terms).future());
  }
  auto last = async.get(name(), how).future();
  for (std::size_t i = 0; i < in_flight; ++i) {
    const auto set = sets[i].get();
    ended("set in flight", true, begun, set ? nullptr : &set.error());
    numbers_.ended(numbers[i], set);
  }
  const auto got = last.get();
  ended("get in flight", false, begun, got ? nullptr : &got.error());
  if (!got) return;
  const auto number = *got ? number_behind(name() + "=", (*got)->data) : 0;
  if (!number) return found("holds " + (*got)->data);
  plausible(*number, numbers_);
}

// ---- increment

void Counter::use() {
  const auto counted = write("increment", [&] {
    return load().client.increment(name(), 1, {.initial = 1, .timeout = load().patience});
  });
  if (counted) {
    ++acked_;
    plausible(**counted, acked_, acked_ + unknown_);
  } else if (counted.error().outcome == Outcome::unknown) {
    ++unknown_;
  }
}

// ---- set if absent, append, remove

void Journal::use() {
  constexpr std::uint64_t most_entries = 20;
  if (stage_ == Stage::closed) return open();
  if (begun_ < most_entries) return append();
  read_and_remove();
}

void Journal::check() {
  if (stage_ == Stage::open) read_and_remove();
}

void Journal::open() {
  ++number_;
  begun_ = 0;
  acked_.clear();
  SetOptions options;
  options.condition = SetCondition::if_absent;
  options.timeout = load().patience;
  const auto stored =
      write("set if absent", [&] { return load().client.set(present(), "", options); });
  if (!stored) return;
  if (!stored->stored) return found("was set twice by one call");
  stage_ = Stage::open;
}

void Journal::append() {
  const std::uint64_t entry = ++begun_;
  const std::string text = std::to_string(entry) + ";";
  const auto appended = write("append", [&] {
    return load().client.append(present(), text, {.timeout = load().patience});
  });
  if (!appended) return;
  if (*appended) return static_cast<void>(acked_.insert(entry));
  stage_ = Stage::closed;
  if (!may_lose()) found_lost("append");
}

void Journal::read_and_remove() {
  stage_ = Stage::closed;
  const auto got =
      read("get", [&] { return load().client.get(present(), {.timeout = load().patience}); });
  if (got && *got) judge((*got)->data);
  if (got && !*got && !may_lose()) found_lost("get");
  RemoveOptions options;
  options.timeout = load().patience;
  const auto removed = write("remove", [&] { return load().client.remove(present(), options); });
  if (removed && *removed != RemoveResult::removed && !may_lose()) {
    found("was removed twice by one call");
  }
}

// Reads the key again, to distinguish a key that is gone from one that a server has not seen for a
// moment.
void Journal::found_lost(std::string_view call) {
  const auto again = load().client.get(present(), {.timeout = load().patience});
  found("number " + std::to_string(number_) + " with " + std::to_string(acked_.size()) +
        " entries is lost, says " + std::string(call) + "; a get after it: " +
        (!again   ? again.error().message()
         : *again ? "there, " + (*again)->data
                  : "absent"));
}

void Journal::judge(const std::string& text) {
  std::set<std::uint64_t> there;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = rest.find(';');
    const auto entry = number_behind("", rest.substr(0, end));
    if (end == std::string_view::npos || !entry || *entry == 0 || *entry > begun_ ||
        !there.insert(*entry).second) {
      return found("holds " + text);
    }
    rest.remove_prefix(end + 1);
  }
  for (const std::uint64_t entry : acked_) {
    if (!there.contains(entry) && !may_lose()) {
      return found("lacks " + std::to_string(entry) + " and holds " + text);
    }
  }
}

// ---- set if version

void VersionedKey::use() {
  const auto got =
      read("get", [&] { return load().client.get(name(), {.timeout = load().patience}); });
  if (!got) return;
  const auto number = *got ? number_behind(name() + "=", (*got)->data) : 0;
  if (!number) return found("holds " + (*got)->data);
  plausible(*number, acked_, begun_);
  const std::uint64_t next = ++begun_;
  SetOptions options;
  options.condition = *got ? SetCondition::if_version : SetCondition::if_absent;
  if (*got) options.version = (*got)->version;
  options.timeout = load().patience;
  const auto stored = write("set if version", [&] {
    return load().client.set(name(), name() + "=" + std::to_string(next), options);
  });
  if (!stored) {
    unsure_ = unsure_ || stored.error().outcome == Outcome::unknown;
  } else if (stored->stored) {
    acked_ = next;
    unsure_ = false;
  } else if (!unsure_ && !may_lose()) {
    found("was not set, although nobody else writes it");
  }
}

// ---- MSET, MGET

void TaggedPair::use() {
  const std::string first = "{" + name() + "}a";
  const std::string second = "{" + name() + "}b";
  const std::uint64_t next = numbers_.begin();
  const std::string value = name() + "=" + std::to_string(next);
  numbers_.ended(next, write("MSET", [&] {
                   return load().client.execute(Command{"MSET", first, value, second, value},
                                                {.timeout = load().patience});
                 }));
  const auto got = read("MGET", [&] {
    return load().client.execute(Command{"MGET", first, second}, {.timeout = load().patience});
  });
  if (!got) return;
  if (got->size() != 2) return found("has " + std::to_string(got->size()) + " values");
  for (const CommandReply& one : *got) {
    const auto number = one.is_null() ? 0 : number_behind(name() + "=", one.text().value_or("?"));
    if (!number) return found("holds " + std::string(one.text().value_or("?")));
    plausible(*number, numbers_);
  }
}

// ---- a lock

void LockedCounter::use() {
  const auto begun = Clock::now();
  auto lock = locker_.try_lock(name(), {.timeout = load().patience});
  ended("try_lock", true, begun, lock.failed() ? &lock.error() : nullptr);
  if (!lock) return;
  const bool alone = ++holders_ == 1;
  if (!alone && lock->held() && !may_lose()) found("is held twice");
  raise(*lock);
  --holders_;
  static_cast<void>(write("release", [&] { return lock->release({.timeout = load().patience}); }));
}

void LockedCounter::raise(LockGuard& guard) {
  const std::string key = "{" + name() + "}number";
  FencedReadOptions how;
  how.timeout = load().patience;
  const auto got = read("guarded read", [&] { return guard.read(key, how); });
  if (!got) return;
  const auto number = *got ? number_behind("", (*got)->data) : 0;
  if (!number) return found("guards " + (*got)->data);
  plausible(*number, acked_, acked_ + unknown_);
  FencedWriteOptions options;
  options.timeout = load().patience;
  const auto stored = write("guarded write",
                            [&] { return guard.write(key, std::to_string(*number + 1), options); });
  if (!stored) {
    if (stored.error().outcome == Outcome::unknown) ++unknown_;
  } else if (stored->stored) {
    ++acked_;
  } else if (!may_lose() && unknown_ == 0) {
    found("is held, and what it guards was written by another");
  }
}

void LockedCounter::check() {
  const auto got = read("get", [&] {
    return load().client.get("{" + name() + "}number", {.timeout = load().patience});
  });
  if (!got) return;
  const auto number = *got ? number_behind("", (*got)->data) : 0;
  if (number) plausible(*number, acked_, acked_ + unknown_);
}

}  // namespace sheaf::test

#endif

#pragma once

// The keys of a load on a live cluster. Only the load writes a key, so the key knows what it may
// hold. It finds wrong values, calls that end late, and commands that were executed twice.
//
// Thread rule: one thread uses a key; any number use a LockedCounter.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/client.h>
#include <sheaf/locker.h>

#include "tests/live/client/call_judge.h"

namespace sheaf::test {

// The number after `begin`; nothing if the text is a different one.
std::optional<std::uint64_t> number_behind(std::string_view begin, std::string_view text);

// Writes that are lost with a server.
enum class Loss : std::uint8_t {
  none,
  latest  // writes that only it has acknowledged
};

// Shared by all keys of a load.
struct Load {
  Load(Client& whose, CallJudge& by, std::chrono::milliseconds time)
      : client(whose), judge(by), patience(time) {}

  Client& client;
  CallJudge& judge;
  std::chrono::milliseconds patience;  // for one call
  std::atomic<Loss> loss = Loss::none;
};

// Numbers that are written one after another without a condition. A number whose outcome is unknown
// may be written at any later time, even over a later number.
class WrittenNumbers {
 public:
  std::uint64_t begin() { return ++begun_; }  // the next one
  // Records how the write of a number ended.
  template <class T>
  void ended(std::uint64_t number, const Result<T>& result) {
    if (result) acked_ = std::max(acked_, number);
    if (!result && result.error().outcome == Outcome::unknown) unknown_.insert(number);
  }
  bool may_come_late(std::uint64_t number) const { return unknown_.contains(number); }
  std::uint64_t begun() const { return begun_; }  // the latest number that was sent
  std::uint64_t acked() const { return acked_; }  // the latest known to be stored; 0: none

 private:
  std::uint64_t begun_ = 0;
  std::uint64_t acked_ = 0;
  std::set<std::uint64_t> unknown_;
};

class LoadKey {
 public:
  using Clock = LoadCall::Clock;

  LoadKey(Load& load, std::string name);
  virtual ~LoadKey() = default;
  LoadKey(const LoadKey&) = delete;
  LoadKey& operator=(const LoadKey&) = delete;

  // Makes a few calls.
  virtual void use() = 0;
  // Checks the final value. No other call runs any more.
  virtual void check() { use(); }

  const std::string& name() const { return name_; }
  std::uint16_t slot() const { return slot_; }

  // Records how a call ended that began at this time. `error` is null if it succeeded.
  void ended(std::string_view call, bool writes, Clock::time_point begun, const Error* error);

 protected:
  Load& load() { return load_; }
  bool may_lose() const { return load_.loss == Loss::latest; }
  void found(const std::string& text) { load_.judge.found(name_ + " " + text); }
  // True if the key may hold the number: the acknowledged one or a later one.
  bool plausible(std::uint64_t number, std::uint64_t acknowledged, std::uint64_t latest);
  bool plausible(std::uint64_t number, const WrittenNumbers& numbers) {
    return numbers.may_come_late(number) || plausible(number, numbers.acked(), numbers.begun());
  }

  template <class F>
  auto read(std::string_view call, const F& f) {
    return carry_out(call, false, f);
  }
  template <class F>
  auto write(std::string_view call, const F& f) {
    return carry_out(call, true, f);
  }

 private:
  template <class F>
  auto carry_out(std::string_view call, bool writes, const F& f) {
    const auto begun = Clock::now();
    auto result = f();
    ended(call, writes, begun, result ? nullptr : &result.error());
    return result;
  }

  Load& load_;
  const std::string name_;
  const std::uint16_t slot_;
};

// set and get: the value is NAME=NUMBER, and the number grows.
class PlainKey final : public LoadKey {
 public:
  using LoadKey::LoadKey;
  void use() override;
  // Checks the result of a get.
  void judge(const GetResult& got);

 private:
  WrittenNumbers numbers_;
};

// Four sets and a get in flight at once: they are carried out in this order.
class PipelinedKey final : public LoadKey {
 public:
  using LoadKey::LoadKey;
  void use() override;

 private:
  WrittenNumbers numbers_;
};

// increment: an acknowledged one is executed exactly once, an unknown one at most once.
class Counter final : public LoadKey {
 public:
  using LoadKey::LoadKey;
  void use() override;

 private:
  std::uint64_t acked_ = 0;
  std::uint64_t unknown_ = 0;
};

// set if absent, append, get, remove, then the next key, with another name in the same slot. Each
// of these commands would reveal that it was executed twice.
class Journal final : public LoadKey {
 public:
  using LoadKey::LoadKey;
  void use() override;
  void check() override;

 private:
  enum class Stage : std::uint8_t { closed, open };

  std::string present() const { return "{" + name() + "}" + std::to_string(number_); }
  void open();
  void append();
  void read_and_remove();
  void judge(const std::string& text);
  void found_lost(std::string_view call);

  Stage stage_ = Stage::closed;
  std::uint64_t number_ = 0;
  std::uint64_t begun_ = 0;  // entries of the current key
  std::set<std::uint64_t> acked_;
};

// get, and set if the version is unchanged. No other caller writes the key, so the version changes
// only if the command was already executed.
class VersionedKey final : public LoadKey {
 public:
  using LoadKey::LoadKey;
  void use() override;

 private:
  std::uint64_t begun_ = 0;
  std::uint64_t acked_ = 0;
  bool unsure_ = false;  // an earlier set may still come
};

// MSET and MGET of two keys with one tag, as pass-through commands.
class TaggedPair final : public LoadKey {
 public:
  using LoadKey::LoadKey;
  void use() override;

 private:
  WrittenNumbers numbers_;
};

// A number that all threads increment while they hold a lock.
class LockedCounter final : public LoadKey {
 public:
  LockedCounter(Load& load, std::string name)
      : LoadKey(load, std::move(name)), locker_(load.client) {}
  void use() override;
  void check() override;

 private:
  void raise(LockGuard& guard);

  Locker locker_;
  std::atomic<unsigned> holders_ = 0;
  std::atomic<std::uint64_t> begun_ = 0;
  std::atomic<std::uint64_t> acked_ = 0;
  std::atomic<std::uint64_t> unknown_ = 0;
};

}  // namespace sheaf::test

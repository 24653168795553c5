#include "tests/live/client/call_judge.h"

#ifdef SHEAF_TEST_REDIS_SERVERS

#include <algorithm>
#include <utility>

namespace sheaf::test {
namespace {

constexpr std::size_t most_findings = 10;

// Makes the text the same for every port, slot and time.
std::string without_numbers(std::string_view text) {
  std::string kept;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) {
      kept += c;
    } else if (!kept.ends_with('#')) {
      kept += '#';
    }
  }
  return kept;
}

}  // namespace

std::size_t CallJudge::allow(const SlotSet& slots, bool held_writes) {
  const std::lock_guard lock(mutex_);
  permissions_.push_back({.slots = slots, .held_writes = held_writes, .begun = Clock::now()});
  return permissions_.size() - 1;
}

void CallJudge::end(std::size_t permission, Clock::time_point said) {
  const std::lock_guard lock(mutex_);
  permissions_.at(permission).said = said;
}

std::chrono::nanoseconds CallJudge::allowance() const {
  return std::min<std::chrono::nanoseconds>(4 * observer_.longest_delay(), settling);
}

std::chrono::nanoseconds CallJudge::lateness() const {
  return observer_.longest_delay_ever() + std::chrono::seconds(1);
}

bool CallJudge::allowed(const LoadCall& call, const Error& error) const {
  const bool unknown = error.outcome == Outcome::unknown;
  const bool too_late = error.reason == Reason::timed_out || error.reason == Reason::node_down;
  const bool overtaken = error.reason == Reason::overtaken;
  if (error.outcome == Outcome::refused && !too_late && !overtaken) return false;
  const bool held = unknown && error.reason == Reason::timed_out && call.writes;
  return std::ranges::any_of(permissions_, [&](const Permission& permission) {
    if (!permission.slots[call.slot] || (permission.held_writes && !held)) return false;
    if (call.ended < permission.begun) return false;
    if (!permission.said) return true;
    return (unknown ? call.begun : call.ended) <= *permission.said + settling + allowance();
  });
}

bool CallJudge::waited_too_long(const LoadCall& call) const {
  return std::ranges::any_of(permissions_, [&](const Permission& permission) {
    if (!permission.slots[call.slot] || permission.held_writes || !permission.said) return false;
    return call.begun <= *permission.said && call.ended > *permission.said + settling + allowance();
  });
}

void CallJudge::ended(const LoadCall& call, const Error* error) {
  const std::string what = std::string(call.name) + " of " + std::string(call.key) + " (slot " +
                           std::to_string(call.slot) + ")";
  const std::lock_guard lock(mutex_);
  ++calls_;
  longest_call_ = std::max<std::chrono::nanoseconds>(longest_call_, call.ended - call.begun);
  if (error == nullptr) {
    if (waited_too_long(call)) add(what + " waited for longer than slots may");
    return;
  }
  std::string kind(call.name);
  kind.append(": ").append(to_string(error->outcome)).append(", ");
  kind.append(to_string(error->reason)).append(", ").append(without_numbers(error->text));
  ++failures_[kind];
  if (!allowed(call, *error)) add(what + ": " + error->message() + " " + error->why());
}

void CallJudge::found(std::string text) {
  const std::lock_guard lock(mutex_);
  add(std::move(text));
}

void CallJudge::add(std::string finding) {
  ++violations_;
  if (findings_.size() < most_findings) findings_.push_back(std::move(finding));
}

std::string CallJudge::findings() const {
  const std::lock_guard lock(mutex_);
  std::string all;
  for (const std::string& finding : findings_) all += finding + "\n";
  return all;
}

std::uint64_t CallJudge::violations() const {
  const std::lock_guard lock(mutex_);
  return violations_;
}

std::uint64_t CallJudge::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

std::chrono::nanoseconds CallJudge::longest_call() const {
  const std::lock_guard lock(mutex_);
  return longest_call_;
}

std::string CallJudge::failures() const {
  const std::lock_guard lock(mutex_);
  std::string all;
  for (const auto& [kind, count] : failures_) all += std::to_string(count) + " x " + kind + "\n";
  return all;
}

}  // namespace sheaf::test

#endif

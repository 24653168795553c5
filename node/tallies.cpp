// Pure: no socket, clock, entropy, thread or callback.

#include "node/tallies.h"

#include <algorithm>

namespace sheaf::node {

void Tallies::count(Tally& tally, protocol::Status status, std::uint32_t keys) noexcept {
  switch (status) {
    case protocol::Status::done:
      tally.done += keys;
      break;
    case protocol::Status::absent:
      tally.absent += keys;
      break;
    case protocol::Status::not_stored:
      tally.not_stored += keys;
      break;
    case protocol::Status::refused:
      tally.failures.refused += keys;
      break;
  }
}

std::uint8_t Tallies::add() {
  tallies_.reserve(tallies_.size() + 1);  // a node is used by few operations
  tallies_.emplace_back();
  return static_cast<std::uint8_t>(tallies_.size());
}

void Tallies::Failures::count(Outcome outcome, std::uint32_t keys) noexcept {
  switch (outcome) {
    case Outcome::refused:
      refused += keys;
      break;
    case Outcome::not_sent:
      not_sent += keys;
      break;
    case Outcome::unknown:
      unknown += keys;
      break;
    case Outcome::overloaded:
      overloaded += keys;
      break;
    case Outcome::shutdown:
    case Outcome::unsupported:
    case Outcome::invalid:
      break;
  }
}

// What was not sent because the client closes is no failure of the node, but one of the operation.
void Tallies::on_failure(Verb verb, Outcome outcome, std::uint32_t keys) {
  totals_.failures.count(outcome, keys);
  of(verb).failures.count(outcome == Outcome::shutdown ? Outcome::not_sent : outcome, keys);
}

void Tallies::add_to(NodeStats& stats) const noexcept {
  stats.requests += totals_.requests;
  stats.replies += totals_.replies;
  stats.timed_out += totals_.timed_out;
  totals_.failures.add_to(stats);
}

std::string operation_name(protocol::Verb verb) {
  std::string name(protocol::to_string(verb));
  std::ranges::replace(name, ' ', '_');
  return name;
}

std::vector<OperationMetrics> Tallies::snapshot() const {
  std::vector<OperationMetrics> all;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i] == 0) continue;
    const Tally& tally = tallies_[places_[i] - 1u];
    const Failures& failures = tally.failures;
    const std::uint64_t failed =
        failures.refused + failures.not_sent + failures.unknown + failures.overloaded;
    if (tally.done + tally.absent + tally.not_stored + failed + tally.round_trip.count() == 0)
      continue;
    OperationMetrics& out = all.emplace_back();
    out.operation = operation_name(static_cast<Verb>(i));
    out.done = tally.done;
    out.absent = tally.absent;
    out.not_stored = tally.not_stored;
    failures.add_to(out);
    out.round_trip = tally.round_trip.snapshot();
  }
  return all;
}

void add(std::vector<OperationMetrics>& to, const std::vector<OperationMetrics>& from) {
  for (const OperationMetrics& other : from) {
    const auto same = std::ranges::find(to, other.operation, &OperationMetrics::operation);
    if (same == to.end()) {
      to.push_back(other);
      continue;
    }
    same->done += other.done;
    same->absent += other.absent;
    same->not_stored += other.not_stored;
    same->refused += other.refused;
    same->not_sent += other.not_sent;
    same->unknown += other.unknown;
    same->overloaded += other.overloaded;
    same->round_trip.add(other.round_trip);
  }
}

}  // namespace sheaf::node

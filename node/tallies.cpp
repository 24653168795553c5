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
      tally.refused += keys;
      break;
  }
}

std::uint8_t Tallies::add() {
  tallies_.reserve(tallies_.size() + 1);  // a node is used by few operations
  tallies_.emplace_back();
  return static_cast<std::uint8_t>(tallies_.size());
}

void Tallies::on_failure(Verb verb, Outcome outcome, std::uint32_t keys) {
  Tally& tally = of(verb);
  switch (outcome) {
    case Outcome::refused:
      totals_.refused += keys;
      tally.refused += keys;
      break;
    case Outcome::not_sent:
      totals_.not_sent += keys;
      tally.not_sent += keys;
      break;
    case Outcome::shutdown:
      tally.not_sent += keys;
      break;
    case Outcome::unknown:
      totals_.unknown += keys;
      tally.unknown += keys;
      break;
    case Outcome::overloaded:
      totals_.overloaded += keys;
      tally.overloaded += keys;
      break;
    case Outcome::unsupported:
    case Outcome::invalid:
      break;  // the caller's mistakes say nothing about the node
  }
}

void Tallies::add_to(NodeStats& stats) const noexcept {
  stats.requests += totals_.requests;
  stats.replies += totals_.replies;
  stats.refused += totals_.refused;
  stats.not_sent += totals_.not_sent;
  stats.unknown += totals_.unknown;
  stats.overloaded += totals_.overloaded;
  stats.timed_out += totals_.timed_out;
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
    const std::uint64_t failed = tally.refused + tally.not_sent + tally.unknown + tally.overloaded;
    if (tally.done + tally.absent + tally.not_stored + failed + tally.round_trip.count() == 0)
      continue;
    OperationMetrics& out = all.emplace_back();
    out.operation = operation_name(static_cast<Verb>(i));
    out.done = tally.done;
    out.absent = tally.absent;
    out.not_stored = tally.not_stored;
    out.refused = tally.refused;
    out.not_sent = tally.not_sent;
    out.unknown = tally.unknown;
    out.overloaded = tally.overloaded;
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

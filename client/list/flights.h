#pragma once

// Flights: operations of a list that wait to be sent or are in flight, with the bytes that their
// views point into. An answer finds its way by the flight's number, also when nobody waits for it
// any more.
//
// Thread rule: one thread at a time; under the baton.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include "client/calls/procedure.h"

namespace sheaf::client::list {

struct Flight {
  protocol::Verb verb = protocol::Verb::get;
  protocol::Condition condition = protocol::Condition::none;
  std::string key;
  std::string value;
  std::string fence;
  std::string version;
  std::chrono::milliseconds ttl{0};
  Deadline deadline{0};
  std::uint64_t connection = 0;

  // The owner's own.
  unsigned purpose = 0;
  std::uint64_t attempt = 0;
  std::size_t place = 0;

  bool urgent = false;
};

class Flights {
 public:
  // `window`: how many are in flight at once. The rest waits here. `route` places them all, and
  // outlives this object.
  Flights(std::size_t window, std::string_view route) : window_(window), route_(route) {}

  void add(Flight flight) { waiting_.push_back(std::make_unique<Flight>(std::move(flight))); }
  // Before all that wait, whatever is in flight.
  void add_urgent(Flight flight) {
    flight.urgent = true;
    waiting_.push_front(std::make_unique<Flight>(std::move(flight)));
  }
  // Those that have not left; how many there were.
  std::size_t drop_waiting() {
    const std::size_t count = waiting_.size();
    waiting_.clear();
    return count;
  }

  bool poll(calls::Command& command);
  // Ownership of the flight that was answered; null if it is none of ours.
  std::unique_ptr<Flight> answered(unsigned id);

  bool empty() const noexcept { return waiting_.empty() && flying_.empty(); }

  // Numbers of this object's flights: `first` + n x `step`, so that several can share a procedure.
  void number_from(unsigned first, unsigned step) noexcept {
    next_ = first;
    step_ = step;
  }

 private:
  std::size_t window_;
  std::string_view route_;
  unsigned next_ = 1;
  unsigned step_ = 1;
  std::deque<std::unique_ptr<Flight>> waiting_;
  std::unordered_map<unsigned, std::unique_ptr<Flight>> flying_;
};

}  // namespace sheaf::client::list

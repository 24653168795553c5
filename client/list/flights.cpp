#include "client/list/flights.h"

#include <utility>

namespace sheaf::client::list {

bool Flights::poll(calls::Command& command) {
  if (waiting_.empty()) return false;
  if (flying_.size() >= window_ && !waiting_.front()->urgent) return false;
  std::unique_ptr<Flight> flight = std::move(waiting_.front());
  waiting_.pop_front();
  command = {};
  command.id = std::exchange(next_, next_ + step_);
  command.route = route_;
  command.connection = flight->connection;
  protocol::Operation& operation = command.operation;
  operation.verb = flight->verb;
  operation.condition = flight->condition;
  operation.key = flight->key;
  operation.value = flight->value;
  operation.fence = flight->fence;
  operation.version = flight->version;
  operation.ttl = flight->ttl;
  operation.deadline = flight->deadline;
  flying_.emplace(command.id, std::move(flight));
  return true;
}

std::unique_ptr<Flight> Flights::answered(unsigned id) {
  const auto found = flying_.find(id);
  if (found == flying_.end()) return nullptr;
  std::unique_ptr<Flight> flight = std::move(found->second);
  flying_.erase(found);
  return flight;
}

}  // namespace sheaf::client::list

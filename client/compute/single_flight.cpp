#include "client/compute/single_flight.h"

namespace sheaf::client::compute {

Seed SingleFlight::seed() {
  const std::scoped_lock lock(mutex_);
  return random_.fork();
}

SingleFlight::Seat::Seat(SingleFlight& flights, std::string_view key)
    : flights_(flights), key_(key) {
  const std::scoped_lock lock(flights_.mutex_);
  auto& flight = flights_.flights_[key_];
  if (flight == nullptr) flight = std::make_shared<Flight>();
  flight_ = flight;
  ++flight_->seats;
}

SingleFlight::Seat::~Seat() {
  const std::scoped_lock lock(flights_.mutex_);
  if (pilot_) flight_->piloted = false;
  if (--flight_->seats == 0) {
    const auto found = flights_.flights_.find(key_);
    if (found != flights_.flights_.end() && found->second == flight_) {
      flights_.flights_.erase(found);
    }
  } else if (!flight_->piloted) {
    // Also by one whose time was over: it may be the one that was woken to be the pilot.
    flight_->changed.notify_one();
  }
}

SingleFlight::Seat::Turn SingleFlight::Seat::wait(std::chrono::nanoseconds time) {
  std::unique_lock lock(flights_.mutex_);
  const auto over = [this] { return flight_->landed != nullptr || !flight_->piloted; };
  if (!flight_->changed.wait_for(lock, time, over)) return Turn::timed_out;
  if (flight_->landed != nullptr) return Turn::landed;
  flight_->piloted = pilot_ = true;
  return Turn::pilot;
}

void SingleFlight::Seat::land(const Value& value) {
  auto landed = std::make_shared<const Value>(value);
  const std::scoped_lock lock(flights_.mutex_);
  flight_->landed = std::move(landed);
  const auto found = flights_.flights_.find(key_);
  if (found != flights_.flights_.end() && found->second == flight_) flights_.flights_.erase(found);
  flight_->changed.notify_all();
}

}  // namespace sheaf::client::compute

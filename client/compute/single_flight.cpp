#include "client/compute/single_flight.h"

#include "base/notify_on_stop.h"

namespace sheaf::client::compute {

Seed SingleFlight::seed() {
  const sync::MutexLock lock(mutex_);
  return random_.fork();
}

// Another flight of the same key may have begun since.
void SingleFlight::forget(const std::string& key, const std::shared_ptr<Flight>& flight) {
  const auto found = flights_.find(key);
  if (found != flights_.end() && found->second == flight) flights_.erase(found);
}

SingleFlight::Waiter::Waiter(SingleFlight& flights, std::string_view key)
    : flights_(flights), key_(key) {
  const sync::MutexLock lock(flights_.mutex_);
  auto& flight = flights_.flights_[key_];
  if (flight == nullptr) flight = std::make_shared<Flight>();
  flight_ = flight;
  ++flight_->waiters;
}

// If there is no leader now, one of the others is woken to be it. That holds also when this waiter
// had only timed out: it may be the one that was woken.
SingleFlight::Waiter::~Waiter() {
  const sync::MutexLock lock(flights_.mutex_);
  if (leader_) flight_->led = false;
  if (--flight_->waiters == 0) {
    flights_.forget(key_, flight_);
  } else if (!flight_->led) {
    flight_->changed.notify_one();
  }
}

SingleFlight::Waiter::Turn SingleFlight::Waiter::wait(Deadline until, Stop stop) {
  const NotifyOnStop notify(stop, flights_.mutex_, flight_->changed);
  const sync::MutexLock lock(flights_.mutex_);
  while (flight_->value == nullptr && flight_->led && !notify.stopped() &&
         flight_->changed.wait_until(flights_.mutex_, until)) {
  }
  if (flight_->value != nullptr) return Turn::finished;
  if (notify.stopped()) return Turn::cancelled;
  if (flight_->led) return Turn::timed_out;
  flight_->led = leader_ = true;
  return Turn::leader;
}

void SingleFlight::Waiter::finish(const Value& value) {
  auto finished = std::make_shared<const Value>(value);
  const sync::MutexLock lock(flights_.mutex_);
  flight_->value = std::move(finished);
  flights_.forget(key_, flight_);
  flight_->changed.notify_all();
}

}  // namespace sheaf::client::compute

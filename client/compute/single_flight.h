#pragma once

// SingleFlight: single flight in the process. Of the threads of a client that miss one key, one
// goes on (the pilot) while the others wait for the value, each until its own deadline. A pilot
// that leaves without a value gives its seat to one that waits.
//
// A value is given only to those who had boarded before it landed, and whoever boards has found
// the key absent by itself: nobody gets what was out of date when it asked.
//
// Thread rule: any thread; a Seat belongs to one.

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <sheaf/value.h>

#include "base/clock.h"
#include "base/random.h"

namespace sheaf::client::compute {

class SingleFlight {
 public:
  explicit SingleFlight(const Seed& seed) : random_(seed) {}
  SingleFlight(const SingleFlight&) = delete;
  SingleFlight& operator=(const SingleFlight&) = delete;

  // A seed for one pilot.
  Seed seed();

  class Seat;

 private:
  struct Flight {
    std::condition_variable changed;
    bool piloted = false;
    std::shared_ptr<const Value> landed;
    std::uint32_t seats = 0;
  };

  std::mutex mutex_;
  Random random_;
  std::map<std::string, std::shared_ptr<Flight>, std::less<>> flights_;
};

// A caller's place in the flight of a key; leaving it is the destructor's.
class SingleFlight::Seat {
 public:
  Seat(SingleFlight& flights, std::string_view key);
  ~Seat();
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  enum class Turn : std::uint8_t {
    pilot,     // go on alone; the others wait
    landed,    // value() is there
    timed_out  // the time is over
  };
  // Waits for one of these, at most `time`.
  Turn wait(std::chrono::nanoseconds time);
  // As pilot: gives all who wait the value. Whoever boards from now on begins anew.
  void land(const Value& value);
  const Value& value() const { return *flight_->landed; }

 private:
  SingleFlight& flights_;
  std::string key_;
  std::shared_ptr<Flight> flight_;
  bool pilot_ = false;
};

}  // namespace sheaf::client::compute

#pragma once

// SingleFlight: the single-flight pattern in one process. Of the threads of a client that miss the
// same key, the leader goes on while the others wait for its value, each until its own deadline. If
// a leader leaves without a value, one of those who wait becomes the leader.
//
// A value goes only to those who had joined before the leader finished, and each of them has found
// the key absent by itself: nobody gets a value that was out of date when it asked.
//
// Thread rule: any thread; a Waiter belongs to one.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <sheaf/options.h>
#include <sheaf/value.h>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"

namespace sheaf::client::compute {

class SingleFlight {
 public:
  explicit SingleFlight(const Seed& seed) : random_(seed) {}
  SingleFlight(const SingleFlight&) = delete;
  SingleFlight& operator=(const SingleFlight&) = delete;

  // A seed for one leader.
  Seed seed();

  class Waiter;

 private:
  // What those who wait for one key share. Guarded by mutex_, too, but clang cannot follow that.
  struct Flight {
    sync::CondVar changed;
    bool led = false;
    std::shared_ptr<const Value> value;
    std::uint32_t waiters = 0;
  };
  void forget(const std::string& key, const std::shared_ptr<Flight>& flight) SHEAF_REQUIRES(mutex_);

  sync::Mutex mutex_;
  Random random_ SHEAF_GUARDED_BY(mutex_);
  std::map<std::string, std::shared_ptr<Flight>, std::less<>> flights_ SHEAF_GUARDED_BY(mutex_);
};

// A caller that has joined those who wait for a key, until its destructor.
class SingleFlight::Waiter {
 public:
  Waiter(SingleFlight& flights, std::string_view key);
  ~Waiter();
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  enum class Turn : std::uint8_t {
    leader,     // go on alone; the others wait
    finished,   // value() is there
    timed_out,  // the time is over
    cancelled   // the token was asked to stop
  };
  // Waits for one of these. `stop`: none if null.
  Turn wait(Deadline until, Stop stop = nullptr);
  // The leader gives the value to all who wait. Whoever joins from now on begins anew.
  void finish(const Value& value);
  // After `finished`: it does not change any more.
  const Value& value() const { return *flight_->value; }

 private:
  SingleFlight& flights_;
  std::string key_;
  std::shared_ptr<Flight> flight_;
  bool leader_ = false;
};

}  // namespace sheaf::client::compute

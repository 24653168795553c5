#pragma once

// HourLoad: two threads that use a client, with several sets and gets of each key in flight at
// once. Each value says whose it is: MARK:KEY=NUMBER. Loads of two clusters use the same keys, so a
// client that reads from the wrong one gets a value that differs only in the mark.
//
// Thread rule: one thread, besides its own.

#ifdef SHEAF_TEST_REDIS_SERVERS

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sheaf/client.h>

#include "base/random.h"
#include "tests/live/client/call_judge.h"
#include "tests/live/hour/hour_record.h"
#include "tests/live/hour/number_history.h"

namespace sheaf::test {

// When servers could lose what they had acknowledged, by slot.
//
// Thread rule: any thread.
class LossTimes {
 public:
  using Clock = LossTime::Clock;

  // Returns the number of this time.
  std::size_t begin(const SlotSet& slots);
  void end(std::size_t number, Clock::time_point said);
  // Those that matter for a read now: they are not over, or were not a minute ago.
  std::vector<LossTime> of(std::uint16_t slot) const;

 private:
  struct Slots {
    SlotSet slots;
    LossTime time;
  };

  mutable std::mutex mutex_;
  std::vector<Slots> all_;
};

class HourKey;

class HourLoad {
 public:
  struct Surroundings {
    HourRecord& record;
    CallJudge& judge;
    const LossTimes& losses;
  };
  struct Whose {
    std::string mark;
    std::string keys;  // what their names begin with
    std::string uri;
  };
  // For one call. A server that gets no time on a busy machine does not use it up.
  static constexpr std::chrono::milliseconds patience{10'000};

  HourLoad(Surroundings surroundings, Whose whose, std::uint64_t seed);
  ~HourLoad();
  HourLoad(const HourLoad&) = delete;
  HourLoad& operator=(const HourLoad&) = delete;

  const Client& client() const { return *client_; }
  Client& client() { return *client_; }
  std::vector<std::uint16_t> slots() const;
  // Goes on with a new client.
  void reopen();
  // Ends the load, and reads every key once more.
  void stop();

 private:
  static constexpr std::size_t threads = 2;
  static constexpr std::size_t keys_of_a_thread = 12;
  using Keys = std::vector<std::unique_ptr<HourKey>>;

  void start();
  void end_threads();
  void run(const std::stop_token& stop, Keys& keys, Random& random);
  enum class Calls : std::uint8_t { any, gets };
  void use(Keys& keys, Random& random, Calls calls);

  const Surroundings surroundings_;
  const Whose whose_;
  std::optional<Client> client_;
  std::array<Keys, threads> keys_;
  std::vector<Random> random_;  // one for each thread
  std::vector<std::jthread> threads_;
};

}  // namespace sheaf::test

#endif

#pragma once

// A few lockers that count under a lock of one memcached, in virtual time. Requests and answers of
// a connection keep their order and come late or never. Connections are cut, and requests sent on
// them may still be executed. Clients stall, and the server restarts. A locker waits for each
// answer or gives it up, and its writes name the version that they replace, so the order of
// requests on a key is not in question.
//
// Thread rule: one thread.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "client/lock/cas_lock_key.h"
#include "client/lock/lock_plan.h"
#include "client/lock/versioned_plan.h"
#include "tests/sim/kit/sim_cache.h"

namespace sheaf::sim {

class CasWorld;

// The counter that the lockers increment. When it is lost with its server, they start a new one
// under a new name: its value is "name:number".
struct CasCounter {
  std::map<std::string, unsigned> acknowledged;  // increments, by name
  std::map<std::string, unsigned> unsure;        // increments that may have been carried out
  unsigned begun = 0;
};

// What the lockers do on their own.
struct CasHabits {
  bool check = true;    // ask if they hold the lock: see LockControls
  bool compare = true;  // overwrite only the value that they read
};

// One client: its connection, its clock, and the lock that it takes again and again.
class CasLocker {
 public:
  CasLocker(CasWorld& world, unsigned index);

  // True if it believes that it holds the lock, by its own clock, as LockGuard::held() does.
  bool believes() const;
  void stand_still(std::chrono::nanoseconds time);
  // How a connection ends.
  enum class Cut : std::uint8_t {
    dropped,   // what was not executed never will be
    executed,  // everything sent is still executed
    restart    // the server ended it and has forgotten everything
  };
  // Ends its connection. It is notified at once, or when it resumes.
  void cut(Cut how);
  // True if it has not been notified of a restart because it is stalled.
  bool unaware() const { return unaware_ > 0; }
  unsigned grants() const { return grants_; }
  unsigned losses() const { return losses_; }

  void begin();

 private:
  struct Run {
    std::unique_ptr<client::calls::Procedure> plan;
    client::lock::LockPlan* lock = nullptr;  // the plan, if it is a lock plan
    std::function<void()> done;              // without a lock: called once, at the end
    Deadline timer = never;
    bool releasing = false;
    bool reported = false;  // that it is settled or done
    bool pumping = false;
  };
  struct Sent;

  void soon(std::chrono::nanoseconds time, std::function<void()> what);
  void pump(Run& run);
  void send(Run& run, const client::calls::Command& command);
  void execute(const std::shared_ptr<Sent>& sent);
  void answer(const std::shared_ptr<Sent>& sent, const socket::Completion& answer);
  void fail(const std::shared_ptr<Sent>& sent, Outcome outcome, Reason reason);
  void start(Run& run);
  void settle(Run& run);
  void count(Run& lock);
  void increment(Run& lock, const Result<GetResult>& read, unsigned tries);
  void give_back(Run& lock);
  client::lock::FencedTerms terms(std::string value) const;
  void again();

  CasWorld& world_;
  const unsigned index_;
  client::lock::LockMemory memory_;
  std::deque<std::unique_ptr<Run>> runs_;
  Run* present_ = nullptr;  // its lock
  std::shared_ptr<client::lock::Tenure> tenure_;
  std::vector<std::shared_ptr<Sent>> under_way_;
  std::uint64_t connection_ = 0;
  unsigned unaware_ = 0;
  Deadline executes_at_{0};  // the last request of the connection
  Deadline answers_at_{0};
  Deadline still_until_{0};
  unsigned names_ = 0;
  unsigned grants_ = 0;
  unsigned losses_ = 0;
};

struct CasFaults {
  bool still = false;    // clients stall
  bool late = false;     // requests and answers come late
  bool cut = false;      // connections end
  bool restart = false;  // the server restarts
};

class CasWorld {
 public:
  explicit CasWorld(std::uint64_t seed, client::lock::LockControls controls = {},
                    CasHabits habits = {});
  ~CasWorld();

  void run(std::chrono::nanoseconds time);
  // Starts no more faults or locks, and runs until everything that was started has ended.
  void finish();
  // The number of moments at which two believed that they hold the lock although one of them could
  // have known better.
  unsigned pairs_of_believers() const { return pairs_; }
  unsigned grants() const;
  unsigned losses() const;
  // True if the current counter lacks an acknowledged increment, or has one that no locker made.
  bool miscounted();
  unsigned counted() const;

 private:
  void read_clock();
  void fault();
  void look();

 public:  // for the lockers
  void at(Deadline time, std::function<void()> what) { events_.emplace(time, std::move(what)); }
  bool toss(double chance) { return random.between(0, 1) < chance; }
  std::chrono::nanoseconds up_to(std::chrono::nanoseconds most) {
    return std::chrono::nanoseconds(random.below(static_cast<std::uint64_t>(most.count()) + 1));
  }

  Random random;
  const client::lock::LockControls controls;
  const CasHabits habits;
  CasCounter counter;
  CasFaults faults;
  std::chrono::milliseconds lease{1000};
  Now now{};
  CacheTable table;
  CacheClock clock;
  unsigned starts = 1;  // of the server
  bool finishing = false;
  std::uint64_t last_connection = 0;

 private:
  std::multimap<Deadline, std::function<void()>> events_;
  std::vector<std::unique_ptr<CasLocker>> lockers_;
  unsigned pairs_ = 0;
};

}  // namespace sheaf::sim

// Locks of several threads of one client and of two, in an order that the seed chooses. A run
// finds:
//  - two guards held at the same moment, and a lost count under the lock
//  - a wait that does not end by its deadline, that finds a free lock busy, or that never ends
//  - a lock that is lost although nothing is wrong
//  - a loss that is reported twice, never, or after the lock was given back
// A lock has one request in flight, and a thread waits for its calls under the lock, so the order
// of operations on a key is not in question.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <sheaf/async.h>
#include <sheaf/locker.h>

#include "tests/sim/kit/room_runs.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

// Special: acquisitions of a lock.
class LockRoom final : public ThreadRoom {
 public:
  LockRoom(std::uint64_t seed, const Plants& plants)
      : ThreadRoom(draw(seed, 3), plants),
        lease_(std::array{100ms, 300ms, 1000ms}[random_.below(3)]),
        clients_of_room_(1 + static_cast<unsigned>(random_.below(2))),
        doors_(1 + random_.below(2)) {
    for (Door& door : doors_) {
      door.name = "door" + std::to_string(&door - doors_.data());
      door.count_key = "{" + door.name + "}count";
    }
  }

 private:
  // What was reported about a guard's loss.
  struct Loss {
    bool given_back = false;  // no loss may be reported any more
    bool reported = false;
    std::string why{};
  };
  struct Door {
    std::string name;
    std::string count_key;
    std::vector<std::shared_ptr<LockGuard>> inside;
    unsigned counted = 0;  // acknowledged writes of the count
    unsigned unknown = 0;  // writes that may have been carried out
  };

  void run() override {
    for (unsigned i = 0; i < clients_of_room_; ++i) clients_.push_back(open_client());
    draw_faults(random_.below(2) == 0 ? 40ms : 1s);
    const auto threads = static_cast<unsigned>(2 + random_.below(3));
    std::vector<Random> randoms;
    for (unsigned i = 0; i < threads; ++i) randoms.emplace_back(random_.fork());
    run_threads(threads, [&](unsigned number) {
      Locker locker(clients_[number % clients_.size()], {.lease = lease_});
      for (std::uint64_t visits = 1 + randoms[number].below(3); visits > 0; --visits) {
        visit(locker, doors_[randoms[number].below(doors_.size())], randoms[number]);
      }
    });
    end_faults();
    for (Door& door : doors_) check_count(door);
    clients_.clear();
  }

  void visit(Locker& locker, Door& door, Random& random) {
    LockOptions options;
    switch (random.below(3)) {
      case 0:
        options.wait = 0ns;
        break;
      case 1:
        options.wait = 30ms + draw_us(random, 500'000);
        break;
      default:
        break;  // as long as necessary
    }
    const Start started = begin_call();
    auto lock =
        random.below(3) == 0 ? lock_async(locker, door, options) : locker.lock(door.name, options);
    if (options.wait) {
      end_call(started, std::max<nanoseconds>(*options.wait, stack_.config.timeout));
    } else if (lock.busy()) {
      require("a wait without end ended");
    }
    given_up_ = given_up_ || !lock.held();
    if (lock.failed()) return check_error(lock.error());
    if (lock.held()) stay(door, std::make_shared<LockGuard>(std::move(*lock)), random);
  }

  static LockResult lock_async(Locker& locker, const Door& door, const LockOptions& options) {
    const auto ended = std::make_shared<std::optional<LockResult>>();
    locker.async().lock(door.name, options).then([ended](LockResult result) {
      if (*ended) require("a callback came twice");
      *ended = std::move(result);
    });
    SimThreads::current()->wait_until("a callback", [&] { return ended->has_value(); });
    return std::move(**ended);
  }

  void stay(Door& door, std::shared_ptr<LockGuard> guard, Random& random) {
    ++counts_.special;
    const auto loss = std::make_shared<Loss>();
    guard->on_loss([loss](const Error& why) {
      if (loss->given_back) require("a loss after the lock was given back: " + why.message());
      if (std::exchange(loss->reported, true)) require("a loss was reported twice");
      loss->why = why.message();
    });
    check_exclusion(door, *guard);
    door.inside.push_back(guard);
    count(door, *guard, random);
    std::erase(door.inside, guard);
    if (faulty_ && random.below(4) == 0) {  // makes the loss come at about the same time
      for (unsigned i = 0; i < stack_.size(); ++i) stack_.broker(i).reset_all();
      pass(draw_us(random, 400));
      if (random.below(2) == 0) return give_back(std::move(guard), *loss, random);
    }
    if (!guard->held()) {
      SimThreads::current()->wait_until("a loss to be reported", [&] { return loss->reported; });
      if (calm() && !may_be_cut_off()) require("a lock was lost for nothing: " + loss->why);
    }
    give_back(std::move(guard), *loss, random);
  }

  void give_back(std::shared_ptr<LockGuard> guard, Loss& loss, Random& random) {
    const bool lost = loss.reported;
    const Start started = begin_call();
    if (guard.use_count() == 1 && random.below(4) == 0) {
      guard.reset();
      loss.given_back = true;
      return end_call(started);
    }
    const auto released = release(*guard, loss, random);
    end_call(started);
    if (!released) return check_error(released.error());
    if (*released && lost) require("a lock that was lost was released");
    if (!*released && calm() && !may_be_cut_off()) require("a lock was gone when it was released");
  }

  // The asynchronous form gives the lock back before it returns.
  static Result<bool> release(LockGuard& guard, Loss& loss, Random& random) {
    if (random.below(2) == 0) {
      auto released = guard.release();
      loss.given_back = true;
      return released;
    }
    const auto ended = std::make_shared<std::optional<Result<bool>>>();
    guard.async().release().then([ended](const Result<bool>& released) {
      if (*ended) require("a callback came twice");
      *ended = released;
    });
    loss.given_back = true;
    SimThreads::current()->wait_until("a callback", [&] { return ended->has_value(); });
    return **ended;
  }

  // On memcached a request whose caller no longer waits ends its connection, and with it the locks
  // taken on that connection.
  bool may_be_cut_off() const { return stack_.config.kind == EndpointKind::memcached && given_up_; }

  // This guard was taken last. held() takes time, so the guard that was taken earlier is asked
  // first.
  static void check_exclusion(const Door& door, const LockGuard& guard) {
    for (const auto& other : std::vector(door.inside)) {
      if (other->held() && guard.held()) require("two hold " + door.name);
    }
  }

  // Reads a number, waits a while, and writes the next one.
  void count(Door& door, LockGuard& guard, Random& random) {
    const Start reading = begin_call();
    const auto read = guard.read(door.count_key);
    end_call(reading);
    if (!read) return end_failed(guard, read.error());
    const unsigned long before = read->has_value() ? std::stoul((*read)->data) : 0;
    if (random.below(2) == 0) pass(random.below(2) == 0 ? 2 * lease_ : lease_ / 3);
    const Start writing = begin_call();
    const auto written = guard.write(door.count_key, std::to_string(before + 1));
    end_call(writing);
    if (!written) {
      end_failed(guard, written.error());
      if (written.error().outcome == Outcome::unknown) ++door.unknown;
    } else if (written->stored) {
      ++door.counted;
    } else if (calm()) {
      require("a write under a lock met another one");
    }
  }

  // An error is allowed if the lock is lost; a caller that still holds it needs another reason.
  void end_failed(const LockGuard& guard, const Error& error) {
    if (guard.held()) check_error(error);
  }

  void check_count(const Door& door) {
    const auto got = clients_.front().get(door.count_key);
    if (!got) return check_error(got.error());
    const unsigned long held = got->has_value() ? std::stoul((*got)->data) : 0;
    if (held >= door.counted && held <= door.counted + door.unknown) return;
    require(door.name + " counts " + std::to_string(held) + " of " + std::to_string(door.counted) +
            " and " + std::to_string(door.unknown) + " that are not known");
  }

  const std::chrono::milliseconds lease_;
  const unsigned clients_of_room_;
  std::vector<Door> doors_;
  std::vector<Client> clients_;
  bool given_up_ = false;  // a caller did not get a lock in time
};

TEST(LockRoom, TwoNeverHoldALockAndEveryWaitEndsForEverySeed) {
  const Seeds seeds = seeds_of(1500);
  const RoomCounts sum = run_seeds<LockRoom>(seeds);
  if (!seeds.adds_up()) return;
  EXPECT_GT(sum.special, 2 * seeds.count());
  EXPECT_LT(sum.failures, sum.calls / 2);
}

TEST(LockRoom, TwoNeverHoldALockWhileServersComeAndGoForEverySeed) {
  const Seeds seeds = seeds_of(450);
  const RoomCounts sum = run_seeds<LockRoom>(seeds, {.servers_change = true});
  if (!seeds.adds_up()) return;
  EXPECT_GT(sum.changes, 2 * seeds.count());
  EXPECT_GT(sum.special, seeds.count());
}

TEST(LockRoom, TwoNeverHoldALockWithADriverForEverySeed) {
  run_seeds<LockRoom>(seeds_of(600), {.driven = true});
}

TEST(LockRoom, ASeedReplaysExactly) { expect_replays<LockRoom>(20); }

TEST(LockRoom, AClientThatTakesARefusedLockForItsOwnIsFound) {
  EXPECT_LT(first_finding<LockRoom>({.session = Bug::takes_no_for_yes}), 50u);
}

TEST(LockRoom, ADriverThatIsNotWokenForNewWorkIsFound) {
  EXPECT_LT(first_finding<LockRoom>({.lane = {.wake = false}}), 50u);
}

}  // namespace
}  // namespace sheaf::sim

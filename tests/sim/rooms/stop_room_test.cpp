// Calls with stop tokens, and threads that request a stop at any moment, in an order that the seed
// chooses. A run finds:
//  - a call that does not end soon after its token was stopped, or is cancelled without a stop
//  - a call that was stopped before it began and has any effect
//  - an outcome that is not true: a write reported as not sent that is read
//  - asynchronous sets of a key, up to four of which are in flight, that the servers' log has in
//    another order than that of the calls (WriteOrder)
//  - a lock that no caller holds and none can get, because its acquisition was cancelled

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include <sheaf/async.h>
#include <sheaf/list.h>
#include <sheaf/locker.h>

#include "tests/sim/key_history.h"
#include "tests/sim/kit/room_runs.h"
#include "tests/sim/kit/write_order.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;

constexpr const char* door = "door";

// Special: cancelled calls and keys of batches.
class StopRoom final : public ThreadRoom {
 public:
  StopRoom(std::uint64_t seed, const Plants& plants) : ThreadRoom(draw(seed, 3), plants) {
    stack_.keep_log();
    for (std::uint64_t i = 1 + random_.below(3); i > 0; --i) {
      Caller& caller = callers_.emplace_back(Caller{Random(random_.fork()), {}});
      for (int k = 0; k < 4; ++k) {
        caller.own.push_back(&keys_.emplace_back("key" + std::to_string(keys_.size())));
      }
    }
  }

 private:
  struct Caller {
    Random random;
    std::vector<KeyHistory*> own;
    unsigned pushed = 0;
  };
  // A call that may be stopped.
  struct Stoppable {
    std::stop_source source;
    std::stop_token token = source.get_token();
    std::optional<Start> stopped;  // when
    bool before = false;           // it was stopped before it began
    Start started;
  };
  using Shared = std::shared_ptr<Stoppable>;
  struct Item {
    std::string name;
    Result<void> pushed;
  };

  void run() override {
    client_.emplace(open_client());
    draw_faults();
    working_ = static_cast<unsigned>(callers_.size());
    const unsigned stoppers = 1 + static_cast<unsigned>(random_.below(2));
    std::vector<Random> randoms;
    for (unsigned i = 0; i < stoppers; ++i) randoms.emplace_back(random_.fork());
    run_threads(working_ + stoppers, [&](unsigned number) {
      if (number < callers_.size()) {
        run_caller(callers_[number]);
      } else {
        stop_others(randoms[number - callers_.size()]);
      }
    });
    SimThreads::current()->wait_until("the last callbacks", [this] { return pending_ == 0; });
    end_faults();
    check_rest();
    client_.reset();
  }

  void run_caller(Caller& caller) {
    using Call = void (StopRoom::*)(Caller&, const Shared&);
    static constexpr Call calls[] = {
        &StopRoom::get,  &StopRoom::get_async, &StopRoom::set,      &StopRoom::set_async,
        &StopRoom::set,  &StopRoom::get_many,  &StopRoom::set_many, &StopRoom::lock,
        &StopRoom::lock, &StopRoom::push,      &StopRoom::compute,  &StopRoom::compute,
    };
    for (std::uint64_t i = 4 + caller.random.below(8); i > 0; --i) {
      const auto stoppable = std::make_shared<Stoppable>();
      live_.push_back(stoppable);
      if (caller.random.below(4) == 0) pass(draw_us(caller.random, 400));
      stoppable->before = stoppable->token.stop_requested();
      stoppable->started = begin_call();
      (this->*calls[caller.random.below(std::size(calls))])(caller, stoppable);
    }
    --working_;
  }

  // Stops any call, even one that has ended or has not begun.
  void stop_others(Random& random) {
    while (working_ > 0) {
      pass(draw_us(random, random.below(4) == 0 ? 20'000 : 500));
      if (live_.empty()) continue;
      const Shared chosen = random.below(3) == 0 ? live_[random.below(live_.size())] : live_.back();
      if (chosen->stopped) continue;
      chosen->stopped = begin_call();
      chosen->source.request_stop();
    }
  }

  // ---- calls

  void get(Caller& caller, const Shared& call) {
    KeyHistory& key = keys_[caller.random.below(keys_.size())];
    const std::size_t since = key.last_acknowledged();
    const auto got = client_->get(key.name(), {.stop = &call->token});
    end(*call, stack_.config.timeout);
    end_get(*call, key, since, got);
  }

  void get_async(Caller& caller, const Shared& call) {
    KeyHistory& key = keys_[caller.random.below(keys_.size())];
    client_->async()
        .get(key.name(), {.stop = &call->token})
        .then(once<Result<GetResult>>(
            [this, call, &key, since = key.last_acknowledged()](const auto& got) {
              end(*call, stack_.config.timeout);
              end_get(*call, key, since, got);
            }));
  }

  void set(Caller& caller, const Shared& call) {
    KeyHistory& key = *caller.own[caller.random.below(caller.own.size())];
    if (key.busy()) return;
    const std::string value = key.begin_set(caller.random.below(3000));
    const auto result = client_->set(key.name(), value, {.stop = &call->token});
    end(*call, stack_.config.timeout);
    end_set(*call, key, result);
  }

  void set_async(Caller& caller, const Shared& call) {
    KeyHistory& key = *caller.own[caller.random.below(caller.own.size())];
    if (key.busy()) return;
    set_async(caller, call, key);
    for (std::uint64_t more = caller.random.below(4); more > 0; --more) {
      const Shared& another = live_.emplace_back(std::make_shared<Stoppable>());
      another->started = begin_call();
      set_async(caller, another, key);
    }
  }

  void set_async(Caller& caller, const Shared& call, KeyHistory& key) {
    const std::string value = key.begin_set(caller.random.below(3000));
    order_.begin_write(0, key.name(), value);
    const SetOptions options{.stop = &call->token};
    client_->async()
        .set(key.name(), value, options)
        .then(once<Result<SetResult>>(
            [this, call, &key, write = key.newest(), value](const auto& result) {
              end(*call, stack_.config.timeout);
              if (result) {
                order_.acknowledge(value);
              } else {
                order_.fail(value, result.error().outcome, stack_.world.now().mono);
              }
              end_set(*call, key, write, result);
            }));
  }

  void get_many(Caller& caller, const Shared& call) {
    std::vector<std::string_view> names;
    std::vector<std::size_t> since;
    for (const KeyHistory& key : keys_) {
      names.push_back(key.name());
      since.push_back(key.last_acknowledged());
    }
    names.resize(1 + caller.random.below(names.size()));
    const auto got = client_->get_many(names, {.stop = &call->token});
    end(*call, stack_.config.timeout);
    for (std::size_t i = 0; i < names.size(); ++i) {
      end_get(*call, keys_[i], since[i], got[i].result);
    }
  }

  void set_many(Caller& caller, const Shared& call) {
    std::vector<KeyHistory*> keys;
    std::vector<SetItem> items;
    for (KeyHistory* const key : caller.own) {
      if (key->busy()) continue;
      keys.push_back(key);
      items.push_back({key->name(), key->begin_set(caller.random.below(300))});
    }
    const auto results = client_->set_many(items, {.stop = &call->token});
    end(*call, stack_.config.timeout);
    for (std::size_t i = 0; i < keys.size(); ++i) end_set(*call, *keys[i], results[i].result);
  }

  // Waits while another caller has the lock. A caller that gets it keeps it for a while.
  void lock(Caller& caller, const Shared& call) {
    Locker locker(*client_, {.lease = lease});
    auto taken = locker.lock(door, {.wait = 5s, .stop = &call->token});
    end(*call, 5s);
    if (taken.failed()) return check(*call, taken.error());
    if (taken.busy()) return;
    if (call->before) require("a lock was taken by a call that was stopped before");
    pass(draw_us(caller.random, 10'000));
    const auto again = std::make_shared<Stoppable>();
    live_.push_back(again);
    again->started = begin_call();
    const auto released = taken->release({.stop = &again->token});
    end(*again, stack_.config.timeout);
    if (!released) check(*again, released.error());
  }

  void push(Caller& caller, const Shared& call) {
    const std::string item = caller.own.front()->name() + "." + std::to_string(++caller.pushed);
    Item& pushed = items_.emplace_back(Item{item, {}});
    const auto length = List(*client_, "jobs").push(item, {.stop = &call->token});
    end(*call, 5 * stack_.config.timeout);
    if (length) return;
    pushed.pushed = Failure(length.error());
    check(*call, length.error());
  }

  // All callers ask for the same keys at about the same time.
  void compute(Caller& caller, const Shared& call) {
    const std::string key = "made" + std::to_string(computed_ / 2);
    std::chrono::nanoseconds own{0};
    ComputeOptions options;
    options.lease_beside = true;  // the simulated server has no leases
    options.stop = &call->token;
    const auto value = client_->get_or_compute(key, options, [&] {
      ++computed_;
      const Deadline begun = stack_.world.now().mono;
      pass(draw_us(caller.random, 20'000));
      own = stack_.world.now().mono - begun;
      return key;
    });
    end(*call, 2 * stack_.config.timeout + own, own);
    if (!value && value.error().reason == Reason::timed_out) {
      ++counts_.failures;
    } else if (!value) {
      check(*call, value.error());
    } else if (value->data != key) {
      require(key + " is " + value->data);
    }
  }

  template <class Out, class F>
  std::function<void(Out)> once(F end) {
    ++pending_;
    return [this, end, ended = std::make_shared<bool>(false)](const Out& out) {
      if (std::exchange(*ended, true)) require("a callback came twice");
      end(out);
      --pending_;
    };
  }

  // ---- checks

  // Ends the call. `own`: the time of its own computation, which a stop does not interrupt.
  void end(const Stoppable& call, std::chrono::nanoseconds limit,
           std::chrono::nanoseconds own = {}) {
    end_call(call.started, limit);
    if (call.stopped) check_time(call.before ? call.started : *call.stopped, 1ms + own);
  }

  void check(const Stoppable& call, const Error& error) {
    if (error.reason != Reason::cancelled) {
      if (call.before && error.outcome != Outcome::not_sent) {
        require("a call that was stopped before was sent: " + error.message());
      }
      return check_error(error);
    }
    ++counts_.special;
    if (!call.stopped) require("a call was cancelled that nobody stopped: " + error.message());
    if (error.outcome != Outcome::not_sent && (error.outcome != Outcome::unknown || call.before)) {
      require("a cancelled call ended with: " + error.message());
    }
  }

  void end_get(const Stoppable& call, KeyHistory& key, std::size_t since,
               const Result<GetResult>& got) {
    if (!got) return check(call, got.error());
    if (call.before) require("a call was carried out that was stopped before");
    require(key.check(since, *got));
  }

  void end_set(const Stoppable& call, KeyHistory& key, const Result<SetResult>& result) {
    end_set(call, key, key.newest(), result);
  }
  void end_set(const Stoppable& call, KeyHistory& key, std::size_t write,
               const Result<SetResult>& result) {
    if (!result) check(call, result.error());
    if (result && call.before) require("a call was carried out that was stopped before");
    require(key.end_write(write, result ? nullptr : &result.error()));
  }

  void check_rest() {
    for (const std::string& finding : order_.judge(stack_.log())) require(finding);
    for (KeyHistory& key : keys_) {
      const std::size_t since = key.last_acknowledged();
      const auto got = client_->get(key.name());
      if (!got) return require("a key cannot be read: " + got.error().message());
      require(key.check(since, *got));
    }
    const auto locked = Locker(*client_, {.lease = lease}).lock(door, {.wait = 2 * lease + 4s});
    if (!locked.held()) require("nobody holds the lock, and nobody gets it");
    check_items();
  }

  void check_items() {
    const auto left = List(*client_, "jobs").range(0, -1);
    if (!left) return require("the list cannot be read: " + left.error().message());
    for (const Item& item : items_) {
      const auto times = std::ranges::count(*left, item.name);
      if (times > 1) require(item.name + " is there twice");
      if (times == 0 && item.pushed) require(item.name + " is lost");
      if (times == 1 && !item.pushed && item.pushed.error().outcome != Outcome::unknown) {
        require(item.name + " is there, but " + item.pushed.error().message());
      }
    }
  }

  static constexpr std::chrono::milliseconds lease = 1s;

  WriteOrder order_;
  std::deque<KeyHistory> keys_;
  std::deque<Caller> callers_;
  std::optional<Client> client_;
  std::deque<Shared> live_;
  std::deque<Item> items_;
  unsigned working_ = 0;
  unsigned computed_ = 0;
  unsigned pending_ = 0;  // asynchronous calls
};

TEST(StopRoom, AStoppedCallEndsOnceAndSoonAndReportsTheTruthForEverySeed) {
  const Seeds seeds = seeds_of(2400);
  const RoomCounts sum = run_seeds<StopRoom>(seeds);
  if (!seeds.adds_up()) return;
  EXPECT_GT(sum.special, 2 * seeds.count());
  EXPECT_LT(sum.failures, sum.calls / 3);
}

TEST(StopRoom, ASeedReplaysExactly) { expect_replays<StopRoom>(20); }

TEST(StopRoom, ACallThatDoesNotHearOfItsStopIsFound) {
  EXPECT_LT(first_finding<StopRoom>({.primitives = {.lost_stop = true}}, "after its deadline"),
            100u);
}

TEST(StopRoom, ACancelledRequestThatIsDeniedIsFound) {
  EXPECT_LT(first_finding<StopRoom>({.session = Bug::denies_what_it_sent}), 500u);
}

}  // namespace
}  // namespace sheaf::sim

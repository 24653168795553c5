// A client closes while other threads call it through handles, wait for locks and changes, and have
// callbacks outstanding, in an order that the seed chooses. A run finds:
//  - a call that does not end, that ends twice, or late
//  - a callback after the client has closed, except on a thread whose own call was refused
//  - an outcome that is not true: a write reported as not sent that is read
//  - sets of a key, up to four of which are in flight, that the servers' log has in another order
//    than that of the calls (WriteOrder)
//  - a guard that is held afterwards, and one whose loss was not reported

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include <sheaf/async.h>
#include <sheaf/list.h>
#include <sheaf/locker.h>

#include "base/this_thread.h"
#include "tests/sim/key_history.h"
#include "tests/sim/kit/room_runs.h"
#include "tests/sim/kit/write_order.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;

// Special: calls that ended because the client closed.
class CloseRoom final : public ThreadRoom {
 public:
  CloseRoom(std::uint64_t seed, const Plants& plants) : ThreadRoom(draw(seed, 3), plants) {
    for (std::uint64_t i = 1 + random_.below(4); i > 0; --i) {
      Caller& caller = callers_.emplace_back(Caller{Random(random_.fork())});
      caller.key = &keys_.emplace_back("key" + std::to_string(i));
    }
  }

 private:
  struct Caller {
    Random random;
    KeyHistory* key = nullptr;
    unsigned refused = 0;  // calls after the client closed
    std::optional<Locker> locker{};
    std::optional<List> list{};
    std::optional<AsyncClient> async{};
    std::optional<Watch> watch{};
  };
  // An asynchronous call.
  struct Pending {
    const ThisThread* caller = &this_thread();
    bool returned = false;  // the member function has returned
    bool ended = false;
  };
  struct Guarded {
    std::shared_ptr<LockGuard> guard;
    bool lost = false;
  };

  void run() override {
    stack_.keep_log();
    std::optional<Client> client(open_client());
    for (Caller& caller : callers_) {
      caller.locker.emplace(*client, LockerOptions{.lease = 300ms});
      caller.list.emplace(*client, "jobs");
      caller.async.emplace(client->async());
      if (client->supports(Feature::watch)) open_watch(caller, *client);
    }
    draw_faults();
    const auto time = draw_us(random_, random_.below(2) == 0 ? 5'000 : 60'000);
    run_threads(static_cast<unsigned>(callers_.size()) + 1, [&](unsigned number) {
      if (number < callers_.size()) return run_caller(callers_[number]);
      pass(time);
      close(client);
    });
    for (const auto& guarded : guards_) {
      if (!guarded->lost) require("a loss was not reported");
    }
    guards_.clear();
    callers_.clear();
    done_.clear();
    check_keys();
  }

  void close(std::optional<Client>& client) {
    closing_ = true;
    const Start started = begin_call();
    client.reset();
    // The commit of a list that has begun runs to its end; then the list is released.
    end_call(started, 6 * stack_.config.timeout + 100ms);
    closed_ = true;
    for (const auto& call : pending_) {
      if (call->returned && !call->ended) require("a callback did not come before the end");
    }
    for (const auto& guarded : guards_) {
      if (guarded->guard->held()) require("a lock is held after the end");
    }
  }

  void open_watch(Caller& caller, Client& client) {
    const std::string_view name = caller.key->name();
    auto watch = client.watch(name);
    if (!watch) require("no watch: " + watch.error().message());
    caller.watch.emplace(std::move(*watch));
  }

  void run_caller(Caller& caller) {
    using Call = void (CloseRoom::*)(Caller&);
    static constexpr Call calls[] = {
        &CloseRoom::get,        &CloseRoom::set,        &CloseRoom::get,     &CloseRoom::set,
        &CloseRoom::lock,       &CloseRoom::lock,       &CloseRoom::push,    &CloseRoom::lock_async,
        &CloseRoom::next,       &CloseRoom::next_async, &CloseRoom::compute, &CloseRoom::compute,
        &CloseRoom::end_compute};
    while (caller.refused < 3) {
      (this->*calls[caller.random.below(std::size(calls))])(caller);
      pass(draw_us(caller.random, 4'000));
      if (closed_) ++caller.refused;
    }
  }

  // ---- calls

  void get(Caller& caller) {
    const auto call = begin();
    caller.async->get(caller.key->name())
        .then([this, call, key = caller.key, since = caller.key->last_acknowledged(),
               started = begin_callback()](const Result<GetResult>& got) {
          end(*call);
          end_callback(started);
          if (got) return require(key->check(since, *got));
          check(got.error());
        });
    call->returned = true;
  }

  void set(Caller& caller) {
    if (caller.key->busy()) return;
    for (std::uint64_t at_once = 1 + caller.random.below(4); at_once > 0; --at_once) {
      set(caller, *caller.key);
    }
  }

  void set(Caller& caller, KeyHistory& key) {
    const std::string value = key.begin_set(caller.random.below(2000));
    order_.begin_write(0, key.name(), value);
    const auto call = begin();
    caller.async->set(key.name(), value)
        .then([this, call, &key, write = key.newest(), value,
               started = begin_callback()](const Result<SetResult>& result) {
          end(*call);
          end_callback(started);
          if (result) {
            order_.acknowledge(value);
          } else {
            check(result.error());
            order_.fail(value, result.error().outcome, stack_.world.now().mono);
          }
          require(key.end_write(write, result ? nullptr : &result.error()));
        });
    call->returned = true;
  }

  // Waits as long as necessary: another caller may keep the lock to the end.
  void lock(Caller& caller) {
    const LockOptions options = {.wait = caller.random.below(2) == 0 ? Wait(200ms) : Wait()};
    const Start started = begin_call();
    auto taken = caller.locker->lock("door", options);
    if (options.wait)
      end_call(started, std::max<std::chrono::nanoseconds>(200ms, stack_.config.timeout));
    if (taken.failed()) return check(taken.error());
    if (taken.held()) keep(std::move(*taken), caller.random);
  }

  void lock_async(Caller& caller) {
    const auto call = begin();
    caller.locker->async().lock("door", {.wait = 200ms}).then([this, call](LockResult taken) {
      end(*call);
      if (taken.failed()) check(taken.error());
      const auto begun = stack_.world.now().mono;
      {
        const LockResult given_back = std::move(taken);
      }
      held_up_ += stack_.world.now().mono - begun;
    });
    call->returned = true;
  }

  void keep(LockGuard guard, Random& random) {
    if (random.below(2) == 0) {
      const auto guarded = std::make_shared<Guarded>();
      guarded->guard = std::make_shared<LockGuard>(std::move(guard));
      guards_.push_back(guarded);
      guarded->guard->on_loss([guarded = guarded.get()](const Error&) {
        if (std::exchange(guarded->lost, true)) require("a loss was reported twice");
      });
      return;
    }
    pass(draw_us(random, 2'000));
    const Start started = begin_call();
    const auto released = guard.release();
    end_call(started);
    if (!released) check(released.error());
  }

  // The function ends at once, or when another thread ends it, which may be after the client has
  // closed.
  void compute(Caller& caller) {
    const auto call = begin();
    const bool keeps = caller.random.below(2) == 0;
    ComputeOptions options;
    options.lease_beside = true;  // the simulated server has no leases
    caller.async
        ->get_or_compute("made" + std::to_string(computed_++ / 2), options,
                         [this, keeps](ComputeDone done) {
                           if (!keeps) return done("made");
                           done_.push_back(std::move(done));
                         })
        .then([this, call](const Result<Value>& got) {
          end(*call);
          if (got && got->data != "made") require("nobody made " + got->data);
          const bool waited = !got && got.error().reason == Reason::timed_out;
          if (!got && !waited) check(got.error());
        });
    call->returned = true;
  }

  void end_compute(Caller&) {
    if (done_.empty()) return;
    const ComputeDone done = std::move(done_.front());
    done_.pop_front();
    done("made");
  }

  void push(Caller& caller) {
    const Start started = begin_call();
    const auto length = caller.list->push("item");
    end_call(started, 5 * stack_.config.timeout);
    if (length) return;
    check(length.error());
    if (calm() && length.error().outcome == Outcome::unknown) {
      require("a commit that had begun was not finished");
    }
  }

  void next(Caller& caller) {
    if (!caller.watch) return;
    const Wait wait = caller.random.below(4) != 0 ? Wait(5ms) : Wait();
    const Start started = begin_call();
    const auto event = caller.watch->next({.wait = wait});
    if (wait) end_call(started, *wait);
    if (!event) return check(event.error());
    if (!*event && !wait) require("a wait without end ended");
  }

  void next_async(Caller& caller) {
    if (!caller.watch) return;
    const Wait wait = caller.random.below(4) != 0 ? Wait(5ms) : Wait();
    const auto call = begin();
    caller.watch->async()
        .next({.wait = wait})
        .then([this, call, wait](const Result<std::optional<WatchEvent>>& event) {
          end(*call);
          if (!event) return check(event.error());
          if (!*event && !wait) require("a wait without end ended");
        });
    call->returned = true;
  }

  // The start of a call with a callback, which waits for the callbacks before it.
  struct CallbackStart {
    Start call;
    std::chrono::nanoseconds held_up;
  };
  CallbackStart begin_callback() const { return {begin_call(), held_up_}; }
  void end_callback(const CallbackStart& started) {
    end_call(started.call, stack_.config.timeout + held_up_ - started.held_up);
  }

  // ---- checks

  std::shared_ptr<Pending> begin() { return pending_.emplace_back(std::make_shared<Pending>()); }

  void end(Pending& call) {
    if (std::exchange(call.ended, true)) require("a callback came twice");
    SimThreads::current()->point();
    if (!closed_ || (!call.returned && call.caller == &this_thread())) return;
    require("a callback after the end");
  }

  void check(const Error& error) {
    if (error.outcome == Outcome::shutdown && !closing_) require("ended before the end");
    if (!closing_) return check_error(error);
    ++counts_.special;
  }

  void check_keys() {
    end_faults();
    for (const std::string& finding : order_.judge(stack_.log())) require(finding);
    Client client = open_client();
    for (KeyHistory& key : keys_) {
      const std::size_t since = key.last_acknowledged();
      const auto got = client.get(key.name());
      if (!got) return require("a key cannot be read: " + got.error().message());
      require(key.check(since, *got));
    }
  }

  WriteOrder order_;
  std::deque<KeyHistory> keys_;
  std::deque<Caller> callers_;
  std::deque<std::shared_ptr<Pending>> pending_;
  std::deque<std::shared_ptr<Guarded>> guards_;
  std::deque<ComputeDone> done_;  // of functions that have begun
  unsigned computed_ = 0;
  std::chrono::nanoseconds held_up_{0};  // time of callbacks that gave a lock back
  bool closing_ = false;
  bool closed_ = false;
};

TEST(CloseRoom, EveryCallEndsOnceAndNoCallbackFollowsForEverySeed) {
  const Seeds seeds = seeds_of(12000);
  const RoomCounts sum = run_seeds<CloseRoom>(seeds);
  if (!seeds.adds_up()) return;
  EXPECT_GT(sum.special, 5 * seeds.count());
}

TEST(CloseRoom, EveryCallEndsOnceWithADriverForEverySeed) {
  const Seeds seeds = seeds_of(1500);
  const RoomCounts sum = run_seeds<CloseRoom>(seeds, {.driven = true});
  if (!seeds.adds_up()) return;
  EXPECT_GT(sum.special, 5 * seeds.count());
}
TEST(CloseRoom, ASeedReplaysExactly) { expect_replays<CloseRoom>(20); }

TEST(CloseRoom, ADriverThatIsNotWokenForNewWorkIsFound) {
  EXPECT_LT(first_finding<CloseRoom>({.lane = {.wake = false}}), 100u);
}

TEST(CloseRoom, AThreadThatIsNotAlwaysWokenIsFound) {
  EXPECT_LT(first_finding<CloseRoom>({.primitives = {.lost_notification = true}}), 100u);
}

}  // namespace
}  // namespace sheaf::sim

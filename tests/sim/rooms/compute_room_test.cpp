// get_or_compute by several threads of one client and of two, blocking and with callbacks, in an
// order that the seed chooses. Functions of asynchronous calls end at once, or later on another
// thread; callbacks, too, call and wait. A run finds:
//  - a value that no function made, two callers of a client that compute one key at once, and a
//    second computation although nothing is wrong
//  - an exception of one function in the call of another
//  - a call that does not end, that ends twice, that lasts longer than its deadlines and its own
//    computation, or that fails without a reason
// One caller of a client computes a key at a time, and stores what it made before the next, so the
// order of operations on a key is not in question.

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <vector>

#include <sheaf/async.h>

#include "tests/sim/kit/room_runs.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;

// Special: computations.
class ComputeRoom final : public ThreadRoom {
 public:
  ComputeRoom(std::uint64_t seed, const Plants& plants)
      : ThreadRoom(draw(seed, 2), plants),
        clients_of_room_(1 + static_cast<unsigned>(random_.below(2))) {
    for (std::uint64_t i = 1 + random_.below(4); i > 0; --i) {
      keys_.push_back({"key" + std::to_string(i), std::vector<unsigned>(clients_of_room_)});
    }
  }

 private:
  struct Key {
    std::string name;
    std::vector<unsigned> computing;  // by each client, now
    unsigned computed = 0;
    unsigned failed = 0;  // computations without a value
    bool slow = false;    // other callers may not have waited for all of it
    std::set<std::string> made{};
  };
  struct Thrown {
    unsigned thread;
  };
  // An asynchronous call.
  struct Call {
    Key* key = nullptr;
    unsigned client = 0;
    Random random;
    Start started{};
    std::chrono::nanoseconds busy{0};  // time of dispatchers, until it began
    std::optional<Deadline> begun{};   // when its function began
    std::chrono::nanoseconds own{0};   // how long the function took
    bool failed = false;               // the function gave no value
    bool stopped = false;
    bool ended = false;
    std::stop_source stop{};
    std::optional<ComputeDone> done{};  // for the worker to call
    Deadline due{0};                    // when to call it
  };
  using Shared = std::shared_ptr<Call>;

  void run() override {
    for (unsigned i = 0; i < clients_of_room_; ++i) {
      clients_.push_back(open_client({.on_exception = [](const std::exception_ptr&) {}}));
    }
    draw_faults();
    std::vector<Random> randoms;
    for (std::uint64_t i = 2 + random_.below(4); i > 0; --i) randoms.emplace_back(random_.fork());
    calling_ = static_cast<unsigned>(randoms.size());
    run_threads(calling_ + 1, [&](unsigned number) {
      if (number == randoms.size()) return work();
      Random& random = randoms[number];
      for (Key& key : keys_) {
        if (random.below(2) == 0) pass(draw_us(random, 2'000));
        if (random.below(2) == 0) {
          call(key, number, random);
        } else {
          call_async(key, number, random);
        }
      }
      --calling_;
    });
    SimThreads::current()->wait_until("the last callbacks", [this] { return pending_ == 0; });
    const bool once = calm() && counts_.failures == 0;
    end_faults();
    for (Key& key : keys_) check(key, once);
    clients_.clear();
    held_.clear();  // no effect: the clients are gone
  }

  // ---- blocking calls

  void call(Key& key, unsigned thread, Random& random) {
    const auto client = static_cast<unsigned>(thread % clients_.size());
    std::chrono::nanoseconds own{0};
    const Start started = begin_call();
    try {
      const auto value = clients_[client].get_or_compute(key.name, options(), [&] {
        const Deadline begun = stack_.world.now().mono;
        std::string made = compute(key, client, thread, random);
        own = stack_.world.now().mono - begun;
        return made;
      });
      // The caller that computed may take as long again to store the value.
      end_call(started, (own.count() > 0 ? 2 : 1) * stack_.config.timeout + own);
      if (value) {
        if (!key.made.contains(value->data)) require("nobody made " + value->data);
      } else {
        end_failed(key, value.error());
      }
    } catch (const Thrown& thrown) {
      if (thrown.thread != thread) require("what another function has thrown");
    }
  }

  static ComputeOptions options() {
    ComputeOptions options;
    options.lease_beside = true;  // the simulated server has no leases
    return options;
  }

  void end_failed(const Key& key, const Error& error) {
    if (error.reason == Reason::timed_out && key.slow) {
      ++counts_.failures;
    } else {
      check_error(error);
    }
  }

  std::string compute(Key& key, unsigned client, unsigned thread, Random& random) {
    begin_compute(key, client);
    if (random.below(4) == 0) {
      key.slow = true;
      pass(draw_us(random, 300'000));
    } else if (random.below(2) == 0) {
      const auto got = clients_[client].get("beside");
      if (!got) check_error(got.error());
    } else {
      pass(draw_us(random, 5'000));
    }
    --key.computing[client];
    if (random.below(5) == 0) {
      ++key.failed;
      throw Thrown{thread};
    }
    return value_of(key);
  }

  void begin_compute(Key& key, unsigned client) {
    if (key.computing[client]++ > 0) require("two callers compute " + key.name + " at once");
    ++key.computed;
    ++counts_.special;
  }

  static std::string value_of(Key& key) {
    return *key.made.insert(key.name + "." + std::to_string(key.computed)).first;
  }

  // ---- asynchronous calls

  void call_async(Key& key, unsigned thread, Random& random) {
    const auto client = static_cast<unsigned>(thread % clients_.size());
    const auto call = std::make_shared<Call>(Call{&key, client, Random(random.fork())});
    call->started = begin_call();
    call->busy = busy_;
    const std::stop_token stop = call->stop.get_token();
    ComputeOptions with = options();
    if (random.below(5) == 0) with.stop = &stop;
    ++pending_;
    const auto ended = [this, call](const Result<Value>& got) { end(*call, got); };
    if (random.below(4) == 0) {
      clients_[client]
          .async()
          .get_or_compute(key.name, with,
                          Client::Compute([this, call] { return compute_at_once(*call); }))
          .then(ended);
    } else {
      clients_[client]
          .async()
          .get_or_compute(key.name, with, AsyncCompute([this, call](ComputeDone done) {
                            begin(call, std::move(done));
                          }))
          .then(ended);
    }
    if (with.stop == nullptr) return;
    pass(draw_us(random, random.below(2) == 0 ? 500 : 20'000));
    key.slow = true;  // the right of a stopped winner may end only with its lease
    call->stopped = true;
    call->stop.request_stop();
  }

  // Runs in a function that a dispatcher calls.
  std::string compute_at_once(Call& call) {
    begin_function(call);
    keep_busy([&] { pass(draw_us(call.random, 500)); });
    call.failed = call.random.below(5) == 0;
    end_function(call);
    if (call.failed) throw Thrown{0};
    return value_of(*call.key);
  }

  void begin(const Shared& call, ComputeDone done) {
    begin_function(*call);
    const std::uint64_t kind = call->random.below(8);
    if (kind == 0) {  // it forgets to end
      call->failed = true;
      return end_function(*call);
    }
    call->done.emplace(std::move(done));
    if (kind < 3) return end_later(*call);
    call->key->slow |= kind < 5;
    call->due = stack_.world.now().mono + draw_us(call->random, kind < 5 ? 300'000 : 5'000);
    held_.push_back(call);
  }

  void begin_function(Call& call) {
    call.begun = stack_.world.now().mono;
    begin_compute(*call.key, call.client);
  }

  void end_function(Call& call) {
    call.own = stack_.world.now().mono - *call.begun;
    --call.key->computing[call.client];
    if (call.failed) ++call.key->failed;
  }

  // Ends functions that other threads have begun.
  void work() {
    const auto next = [this] {
      return std::ranges::min_element(held_, {}, [](const Shared& call) { return call->due; });
    };
    for (;;) {
      SimThreads::current()->wait("a function", [&] {
        if (!held_.empty()) return (*next())->due;
        return calling_ == 0 && pending_ == 0 ? Deadline(0) : never;
      });
      if (held_.empty()) return;
      const Shared call = *next();
      std::erase(held_, call);
      end_later(*call);
    }
  }

  void end_later(Call& call) {
    call.failed = call.random.below(5) == 0;
    const bool forgets = call.failed && call.random.below(2) == 0;
    end_function(call);
    const ComputeDone done = std::move(*call.done);
    call.done.reset();
    if (forgets) return;
    if (!call.failed) return done(value_of(*call.key));
    Error error;
    error.text = "the user's own";
    done(Failure(std::move(error)));
  }

  void end(Call& call, const Result<Value>& got) {
    if (std::exchange(call.ended, true)) require("a callback came twice");
    const auto busy = busy_ - call.busy;
    end_call(call.started, (call.begun ? 2 : 1) * stack_.config.timeout + call.own + busy);
    if (!got && got.error().reason == Reason::timed_out) call.key->slow |= busy > 2ms;
    if (got) {
      if (!call.key->made.contains(got->data)) require("nobody made " + got->data);
    } else if (got.error().reason == Reason::cancelled) {
      if (!call.stopped) require("a call was cancelled that nobody stopped");
    } else if (got.error().reason == Reason::timed_out && busy > 2ms) {
      ++counts_.failures;
    } else if (got.error().reason != Reason::other || !call.failed) {
      end_failed(*call.key, got.error());
    }
    if (clients_of_room_ == 1 && call.random.below(3) == 0) wait_in_callback(call);
    --pending_;
  }

  // Others may be queued after this callback, with the right to compute this very key. Two clients
  // could each keep the other's function from beginning until their deadlines.
  void wait_in_callback(Call& call) {
    Key& key = keys_[call.random.below(keys_.size())];
    keep_busy([&] { this->call(key, 1000 + call.client, call.random); });
  }

  template <class Function>
  void keep_busy(const Function& function) {
    const Deadline begun = stack_.world.now().mono;
    function();
    busy_ += stack_.world.now().mono - begun;
  }

  void check(const Key& key, bool once) {
    if (once && key.computed > key.failed + 1) {
      require(key.name + " was computed " + std::to_string(key.computed) + " times");
    }
    const auto got = clients_.front().get(key.name);
    if (!got) return require("the key cannot be read: " + got.error().message());
    if (got->has_value() && !key.made.contains((*got)->data)) require("nobody made what is stored");
  }

  const unsigned clients_of_room_;
  std::deque<Key> keys_;
  std::vector<Client> clients_;
  std::deque<Shared> held_;           // whose functions have begun
  unsigned calling_ = 0;              // threads
  unsigned pending_ = 0;              // asynchronous calls
  std::chrono::nanoseconds busy_{0};  // how long callbacks have occupied dispatchers
};

TEST(ComputeRoom, OneComputesAndAllGetTheValueForEverySeed) {
  const Seeds seeds = seeds_of(3000);
  const RoomCounts sum = run_seeds<ComputeRoom>(seeds);
  if (!seeds.adds_up()) return;
  EXPECT_GT(sum.special, seeds.count());
  EXPECT_GT(sum.calls, 2 * sum.special);
  EXPECT_LT(sum.failures, sum.calls / 3);
}

TEST(ComputeRoom, OneComputesAndAllGetTheValueWithADriverForEverySeed) {
  const Seeds seeds = seeds_of(1500);
  const RoomCounts sum = run_seeds<ComputeRoom>(seeds, {.driven = true});
  if (!seeds.adds_up()) return;
  EXPECT_GT(sum.special, seeds.count());
  EXPECT_LT(sum.failures, sum.calls / 3);
}

TEST(ComputeRoom, ASeedReplaysExactly) { expect_replays<ComputeRoom>(20); }

TEST(ComputeRoom, AClientThatTakesTheRightOfAnotherForItsOwnIsFound) {
  EXPECT_LT(first_finding<ComputeRoom>({.session = Bug::takes_no_for_yes}, "was computed"), 100u);
}

TEST(ComputeRoom, AWaiterThatIsForgottenIsFound) {
  EXPECT_LT(first_finding<ComputeRoom>({.compute = {.tell_all = false}}, "failed for nothing"),
            100u);
}

TEST(ComputeRoom, ALeadThatIsNotPassedOnIsFound) {
  EXPECT_LT(first_finding<ComputeRoom>({.compute = {.pass_on = false}}, "failed for nothing"),
            200u);
}

TEST(ComputeRoom, ACallbackThatWaitsForAFunctionBehindItIsFound) {
  EXPECT_LT(first_finding<ComputeRoom>({.compute = {.lend = false}}, "failed for nothing"), 500u);
}

}  // namespace
}  // namespace sheaf::sim

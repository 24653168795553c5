// Threads write keys, while other threads make, read, stop and destroy watches of one client, in an
// order that the seed chooses. A run finds:
//  - events of a key out of order, twice, or with a value that was not written
//  - a change that a watch never reports, and a gap although nothing is wrong
//  - a callback that overlaps another one of its watch, or one after the watch has ended, by its
//    owner or in a callback
//  - a wait that does not end when its token is stopped, or when the client closes
// A key has one writer, which waits for each call, so the order of operations on a key is not in
// question.

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "tests/sim/key_history.h"
#include "tests/sim/kit/room_runs.h"
#include "tests/sim/kit/sim_pool.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;

// Special: events.
class WatchRoom final : public ThreadRoom {
 public:
  WatchRoom(std::uint64_t seed, const Plants& plants)
      : ThreadRoom(draw(seed, 0), plants),
        narrow_(random_.below(4) == 0),
        on_pool_(random_.below(3) == 0),
        closes_early_(random_.below(3) == 0) {
    for (std::uint64_t i = 1 + random_.below(3); i > 0; --i) {
      keys_.emplace_back("key" + std::to_string(i));
      names_.push_back(keys_.back().name());
    }
  }

 private:
  // What a watch has reported about a key.
  struct Seen {
    bool known = false;
    long last = -1;  // number of the write
    std::optional<std::string> value;
  };
  struct Watcher {
    std::map<std::string, Seen, std::less<>> seen;
    std::optional<Watch> watch;
    bool calls_back = false;
    bool inside = false;  // a callback runs
    bool ending = false;  // the callback destroys the watch
    bool ended = false;   // no event may follow
    unsigned events = 0;
    std::optional<unsigned> last_of_all;  // the event in whose callback the watch ends
  };
  using Shared = std::shared_ptr<Watcher>;

  void run() override {
    calm_ = calm();
    std::optional<SimPool> pool;
    ClientOptions options;
    if (on_pool_) {
      pool.emplace();
      options.executor = [&pool](SimPool::Task task) { pool->add(std::move(task)); };
    }
    client_.emplace(open_client(std::move(options)));
    writer_.emplace(open_client());
    draw_faults(random_.below(2) == 0 ? 40ms : 200ms);
    std::vector<Random> randoms;
    for (int i = 0; i < 4; ++i) randoms.emplace_back(random_.fork());
    run_threads(4, [&](unsigned number) {
      if (number == 0) {
        write(randoms[number]);
      } else {
        watch(randoms[number]);
      }
    });
    if (!closes_early_) settle();
    client_.reset();
    for (const Shared& watcher : kept_) drain(*watcher);
    kept_.clear();
    writer_.reset();
  }

  void write(Random& random) {
    for (std::uint64_t writes = 5 + random.below(20); writes > 0; --writes) {
      KeyHistory& key = keys_[random.below(keys_.size())];
      const Start started = begin_call();
      if (random.below(5) == 0) {
        key.begin_remove();
        const auto removed = writer_->remove(key.name());
        end_write(key, started, removed ? nullptr : &removed.error());
      } else {
        const auto set = writer_->set(key.name(), key.begin_set(random.below(200)));
        end_write(key, started, set ? nullptr : &set.error());
      }
      if (random.below(2) == 0) pass(draw_us(random, 20'000));
    }
  }
  void end_write(KeyHistory& key, const Start& started, const Error* error) {
    end_call(started);
    if (error != nullptr) check_error(*error);
    require(key.end_write(error));
  }

  void watch(Random& random) {
    for (std::uint64_t watches = 1 + random.below(3); watches > 0; --watches) {
      const auto watcher = std::make_shared<Watcher>();
      if (random.below(2) == 0) {
        take(watcher, random);
      } else {
        call_back(watcher, random);
      }
      if (random.below(3) == 0) {
        kept_.push_back(watcher);
      } else {
        end(*watcher);
      }
    }
  }

  static void end(Watcher& watcher) {
    watcher.last_of_all.reset();
    if (watcher.ending) {
      SimThreads::current()->wait_until("the last callback", [&] { return watcher.ended; });
    } else {
      watcher.watch.reset();
      watcher.ended = true;
    }
  }

  WatchOptions options() const {
    WatchOptions options;
    if (narrow_) options.queue_limit = 2;
    return options;
  }

  // Takes events until another thread stops it.
  void take(const Shared& watcher, Random& random) {
    open(*watcher, client_->watch(names_, options()));
    std::stop_source source;
    const std::stop_token token = source.get_token();
    std::optional<Start> stopped;
    QuietThread stopper("stopper", [&, time = draw_us(random, 60'000)] {
      pass(time);
      stopped = begin_call();
      source.request_stop();
    });
    for (;;) {
      const bool waits = random.below(2) == 0;
      const auto wait = draw_us(random, 10'000);
      const Start started = begin_call();
      const auto event =
          watcher->watch->next({.wait = waits ? Wait(wait) : Wait(), .stop = &token});
      if (waits) end_call(started, wait);
      if (!event) {
        if (event.error().reason != Reason::cancelled) require(event.error().message());
        if (!stopped) require("a wait was cancelled that nobody stopped");
        check_time(*stopped, 1ms);
        break;
      }
      if (*event) {
        check(*watcher, **event);
      } else if (!waits) {
        require("a wait without end ended");
      }
    }
    stopper.join();
  }

  void call_back(const Shared& watcher, Random& random) {
    watcher->calls_back = true;
    if (random.below(3) == 0) watcher->last_of_all = 1 + static_cast<unsigned>(random.below(4));
    open(*watcher, client_->watch(names_, options(), [this, watcher](const WatchEvent& event) {
      if (std::exchange(watcher->inside, true)) require("two callbacks of a watch at once");
      check(*watcher, event);
      if (event.key == names_.front() && watcher->events % 3 == 0) pass(1ms);
      if (watcher->ended) require("a callback went on after the watch had ended");
      if (watcher->last_of_all && watcher->events >= *watcher->last_of_all && watcher->watch) {
        watcher->ending = true;
        watcher->watch.reset();
        watcher->ended = true;
      }
      watcher->inside = false;
    }));
    pass(draw_us(random, 60'000));
  }

  static void open(Watcher& watcher, Result<Watch> watch) {
    if (!watch) require("no watch: " + watch.error().message());
    watcher.watch.emplace(std::move(*watch));
  }

  void check(Watcher& watcher, const WatchEvent& event) {
    if (watcher.ended) require("an event after the watch had ended");
    ++counts_.special;
    ++watcher.events;
    Seen& seen = watcher.seen[event.key];
    switch (event.kind) {
      case WatchEvent::Kind::gap:
        if (event.until < event.from) require("a gap ends before it begins");
        [[fallthrough]];
      case WatchEvent::Kind::changed:
        if (!seen.known) require(std::string(to_string(event.kind)) + " before the beginning");
        [[fallthrough]];
      case WatchEvent::Kind::failed:
        if (calm_ && !narrow_) require(std::string(to_string(event.kind)) + " for nothing");
        return;
      case WatchEvent::Kind::current:
        if (std::exchange(seen.known, true)) require("a second beginning");
        break;
      case WatchEvent::Kind::set:
      case WatchEvent::Kind::deleted:
        if (!seen.known) require("a change before the beginning");
        break;
    }
    check_order(seen, event);
    seen.value = event.value;
  }

  // A write without an answer may be carried out after those that follow it.
  void check_order(Seen& seen, const WatchEvent& event) {
    if (!event.value) return;
    KeyHistory& key = find(event.key);
    const long number = std::stol(event.value->substr(event.value->find('=') + 1));
    if (number <= seen.last && !key.in_doubt(static_cast<std::size_t>(number))) {
      require(event.key + " goes back from " + std::to_string(seen.last) + " to " +
              std::to_string(number));
    }
    seen.last = number;
    require(key.check(0, Value{*event.value, {}, 0}));
  }

  KeyHistory& find(std::string_view name) {
    for (KeyHistory& key : keys_) {
      if (key.name() == name) return key;
    }
    require("a key that nobody watches");
    return keys_.front();
  }

  // Ends the faults. Then every watch reports what the keys hold.
  void settle() {
    end_faults();
    for (KeyHistory& key : keys_) {
      const auto got = writer_->get(key.name());
      if (!got) return require("a key cannot be read: " + got.error().message());
      require(key.check(key.last_acknowledged(), *got));
      const auto now = got->has_value() ? std::optional((*got)->data) : std::nullopt;
      for (const Shared& watcher : kept_) {
        const auto there = [&] {
          const Seen& seen = watcher->seen[key.name()];
          return watcher->ended || (seen.known && seen.value == now);
        };
        if (!there()) take_or_wait(*watcher, there);
      }
    }
  }

  void take_or_wait(Watcher& watcher, const std::function<bool()>& there) {
    if (watcher.calls_back) return SimThreads::current()->wait_until("an event", there);
    while (!there()) {
      const auto event = watcher.watch->next({.wait = 120s});
      if (!event || !*event) require("a change was not reported");
      check(watcher, **event);
    }
  }

  // The client was closed: queued events can still be taken, and then the end is reported.
  void drain(Watcher& watcher) {
    while (!watcher.calls_back) {
      const auto event = watcher.watch->next();
      if (event && *event) {
        check(watcher, **event);
        continue;
      }
      if (event) require("a wait without end ended");
      if (event.error().outcome != Outcome::shutdown) require(event.error().message());
      break;
    }
    end(watcher);
  }

  const bool narrow_;  // the queues fill up soon
  const bool on_pool_;
  const bool closes_early_;
  bool calm_ = false;  // nothing goes wrong in this run
  std::deque<KeyHistory> keys_;
  std::vector<std::string_view> names_;
  std::optional<Client> client_;
  std::optional<Client> writer_;
  std::deque<Shared> kept_;
};

TEST(WatchRoom, EventsComeInOrderAndNoneAfterTheEndForEverySeed) {
  const Seeds seeds = seeds_of(1500);
  const RoomCounts sum = run_seeds<WatchRoom>(seeds);
  if (!seeds.adds_up()) return;
  EXPECT_GT(sum.special, 10 * seeds.count());
  EXPECT_LT(sum.failures, sum.calls / 2);
}

TEST(WatchRoom, EventsAreInOrderWhileServersComeAndGoForEverySeed) {
  const Seeds seeds = seeds_of(600);
  const RoomCounts sum = run_seeds<WatchRoom>(seeds, {.servers_change = true});
  if (!seeds.adds_up()) return;
  EXPECT_GT(sum.changes, 2 * seeds.count());
  EXPECT_GT(sum.special, 10 * seeds.count());
}

TEST(WatchRoom, ASeedReplaysExactly) { expect_replays<WatchRoom>(20); }

TEST(WatchRoom, AReaderThatIsNotAlwaysWokenIsFound) {
  EXPECT_LT(first_finding<WatchRoom>({.primitives = {.lost_notification = true}}), 100u);
}

TEST(WatchRoom, ANotificationWithAnOldValueIsFound) {
  EXPECT_LT(first_finding<WatchRoom>({.session = Bug::stale_notification}), 100u);
}

}  // namespace
}  // namespace sheaf::sim

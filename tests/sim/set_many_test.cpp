// Batches of sets of several threads on one real client of a standalone Redis server: set_many,
// which is MSETs, or execute_many with SETs, some of them for the same key, and GETs. The server
// stops, ends connections, and sometimes refuses commands because it loads its data, or says that
// they are to come once more. A run finds
//  - an acknowledged set that is lost, and one that was refused or not sent and is there
//  - a set that was carried out twice, or before an earlier one of the same thread on the same key
//  - a GET that did not find the SET before it in its batch
//  - a call that lasts longer than its timeout

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <sheaf/client.h>
#include <sheaf/command.h>

#include "base/quiet_thread.h"
#include "tests/sim/kit/seeds.h"
#include "tests/sim/kit/sim_resp.h"
#include "tests/sim/kit/sim_threads.h"
#include "tests/sim/kit/sim_transport.h"
#include "tests/sim/kit/thread_checks.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;

class SetManyWorld {
 public:
  enum class By : std::uint8_t { set_many, execute_many };

  SetManyWorld(std::uint64_t seed, By by) : by_(by), random_(seed), world_(seed) {
    config_.kind = EndpointKind::redis;
    config_.routing = RoutingKind::ring;
    config_.nodes = resp_.addresses();
    config_.timeout = std::chrono::milliseconds(50 + random_.below(300));
    resp_.server(0).faults.delay = std::chrono::microseconds(random_.below(2'000));
    if (random_.below(2) == 0) {
      config_.max_in_flight = static_cast<decltype(config_.max_in_flight)>(4 + random_.below(60));
    }
    if (by == By::execute_many && random_.below(2) == 0) {
      resp_.cluster().node(0).faults.try_again_every =
          static_cast<unsigned>(2 + random_.below(100));
    }
    for (std::uint64_t i = 1 + random_.below(3); i > 0; --i) {
      Caller& caller = callers_.emplace_back(Caller{Random(random_.fork()), {}});
      // The server says that it is one of a cluster, so only keys of one slot are sent together.
      const std::string slot_tag = random_.below(4) == 0 ? "" : "{t}";
      for (std::uint64_t k = 2 + random_.below(300); k > 0; --k) {
        caller.keys.push_back(
            {slot_tag + std::to_string(callers_.size()) + "-" + std::to_string(k)});
      }
    }
  }

  void run() {
    use_network(network_, {});
    Client client = *Client::open(config_);
    draw_faults();
    std::vector<QuietThread> threads;
    for (Caller& caller : callers_) {
      threads.emplace_back("caller", [this, &client, &caller] { run_caller(client, caller); });
    }
    for (QuietThread& thread : threads) thread.join();
    pass(1s);
    for (const Caller& caller : callers_) {
      for (const Key& key : caller.keys) read(client, key);
    }
    check_log();
  }
  SimWorld& world() { return world_; }
  std::uint64_t stored = 0;    // sets that were acknowledged
  std::uint64_t unknown = 0;   // that ended without an answer
  std::uint64_t together = 0;  // MSETs that were carried out
  std::uint64_t overtaken = 0;

 private:
  struct Key {
    std::string name;
    unsigned sets = 0;
    unsigned acknowledged = 0;  // the number of the last one that was
    std::set<unsigned> not_carried_out{};
  };
  struct Caller {
    Random random;
    std::deque<Key> keys;
  };

  void draw_faults() {
    for (std::uint64_t i = random_.below(6); i > 0; --i) {
      const auto after = std::chrono::microseconds(random_.below(500'000));
      const auto length = std::chrono::milliseconds(1 + random_.below(400));
      const std::uint64_t kind = random_.below(3);
      world_.after(after, [this, length, kind](Now now) {
        if (kind == 0) {
          resp_.cluster().node(0).faults.loading_until = now.mono + length;
        } else if (resp_.server(0).serving()) {
          kind == 1 ? resp_.stop_for(0, length) : resp_.server(0).reset_all();
        }
      });
    }
  }

  void run_caller(Client& client, Caller& caller) {
    for (std::uint64_t i = 3 + caller.random.below(12); i > 0; --i) {
      set_some(client, caller);
      read(client, caller.keys[caller.random.below(caller.keys.size())]);
      if (caller.random.below(4) == 0) pass(std::chrono::microseconds(caller.random.below(30'000)));
    }
  }

  // A set of a key, and its number among those of the key.
  struct Set {
    Key& key;
    unsigned number = 0;
    std::string value{};
  };

  void set_some(Client& client, Caller& caller) {
    std::deque<Set> sets;
    const std::uint64_t one_in = 1 + caller.random.below(4);
    const bool repeats = by_ == By::execute_many && caller.random.below(2) == 0;
    for (Key& key : caller.keys) {
      if (caller.random.below(one_in) != 0) continue;
      add(key, sets);
      if (repeats && caller.random.below(4) == 0)
        add(sets[caller.random.below(sets.size())].key, sets);
    }
    const SimThreads& threads = *SimThreads::current();
    const Deadline begun = world_.now().mono - threads.delays();
    by_ == By::set_many ? set_many(client, sets) : execute_many(client, sets);
    const auto took = world_.now().mono - threads.delays() - begun;
    const auto limit = config_.timeout + 10 * threads.longest_delay() + 2ms;
    check(took <= limit, "a call lasted too long");
  }

  static void add(Key& key, std::deque<Set>& sets) {
    const unsigned number = ++key.sets;
    sets.push_back({key, number, key.name + "-" + std::to_string(number)});
  }

  void set_many(Client& client, const std::deque<Set>& sets) {
    std::vector<SetItem> items;
    for (const Set& set : sets) items.push_back({set.key.name, set.value});
    const auto results = client.set_many(items);
    check(results.size() == sets.size(), "a batch of sets lacks results");
    for (std::size_t i = 0; i < sets.size(); ++i) {
      const auto& result = results[i].result;
      check(!result || result->stored, "a plain set was not stored");
      note(sets[i], result ? nullptr : &result.error());
    }
  }

  void execute_many(Client& client, const std::deque<Set>& sets) {
    std::vector<sheaf::Command> commands;
    for (const Set& set : sets) {
      commands.push_back({"SET", set.key.name, set.value});
      commands.push_back({"GET", set.key.name});
    }
    const auto replies = client.execute_many(commands);
    check(replies.size() == commands.size(), "a batch of commands lacks results");
    for (std::size_t i = 0; i < sets.size(); ++i) {
      const auto& set = replies[2 * i];
      const auto& got = replies[2 * i + 1];
      check(!set || set->text() == "OK", "a SET has another answer");
      check(!set || !got || got->text() == sets[i].value, "a GET overtook a set, or one it");
      note(sets[i], set ? nullptr : &set.error());
    }
  }

  void note(const Set& set, const Error* error) {
    if (error == nullptr) {
      set.key.acknowledged = std::max(set.key.acknowledged, set.number);
      ++stored;
    } else if (error->outcome == Outcome::unknown) {
      ++unknown;
    } else {
      set.key.not_carried_out.insert(set.number);
      overtaken += error->reason == Reason::overtaken ? 1 : 0;
    }
  }

  void read(Client& client, const Key& key) {
    const auto got = client.get(key.name);
    if (!got) return;
    const unsigned number = got->has_value() ? number_of((*got)->data) : 0;
    check(number >= key.acknowledged, "an acknowledged set was lost");
    check(!key.not_carried_out.contains(number), "a set that was not carried out is there");
  }

  static unsigned number_of(const std::string& value) {
    return static_cast<unsigned>(std::stoul(value.substr(value.rfind('-') + 1)));
  }

  // What leaves first arrives first, on whatever connection.
  void check_log() {
    std::map<std::string, unsigned> last;
    for (const auto& execution : resp_.log().executions()) {
      const auto& words = execution.words;
      if (words[0] != "SET" && words[0] != "MSET") continue;
      together += words[0] == "MSET" ? 1 : 0;
      const std::size_t end = words[0] == "SET" ? 3 : words.size();
      for (std::size_t i = 1; i + 1 < end; i += 2) {
        const unsigned number = number_of(words[i + 1]);
        check(number > last[words[i]], "sets changed places, or one was carried out twice");
        last[words[i]] = number;
      }
    }
  }

  const By by_;
  Random random_;
  SimWorld world_;
  SimNetwork network_{world_};
  SimResp resp_{network_, 1, 1};
  ClusterConfig config_;
  std::deque<Caller> callers_;
};

struct Sums {
  std::uint64_t stored = 0;
  std::uint64_t unknown = 0;
  std::uint64_t together = 0;
  std::uint64_t overtaken = 0;
};

Sums run_all(const Seeds& seeds, SetManyWorld::By by) {
  Sums sums;
  for (const std::uint64_t seed : seeds) {
    const auto world = std::make_shared<SetManyWorld>(seed, by);
    EXPECT_EQ(SimThreads::run(world->world(), seed, [world] { world->run(); }), "");
    sums.stored += world->stored;
    sums.unknown += world->unknown;
    sums.together += world->together;
    sums.overtaken += world->overtaken;
  }
  return sums;
}

TEST(SetMany, NothingIsLostCarriedOutTwiceOrOutOfOrderForEverySeed) {
  const Seeds seeds = seeds_of(300);
  const Sums sums = run_all(seeds, SetManyWorld::By::set_many);
  if (!seeds.adds_up()) return;
  EXPECT_GT(sums.stored, 100 * seeds.count());
  EXPECT_GT(sums.unknown, seeds.count());
  EXPECT_GT(sums.together, 5 * seeds.count());
}

TEST(ExecuteMany, NothingIsLostCarriedOutTwiceOrOutOfOrderForEverySeed) {
  const Seeds seeds = seeds_of(300);
  const Sums sums = run_all(seeds, SetManyWorld::By::execute_many);
  if (!seeds.adds_up()) return;
  EXPECT_GT(sums.stored, 100 * seeds.count());
  EXPECT_GT(sums.unknown, seeds.count());
  EXPECT_GT(sums.overtaken, 0u);
}

}  // namespace
}  // namespace sheaf::sim

// The real client stack against model nodes of the Redis protocol in virtual time, while slots
// move, primaries fail over, and nodes fall silent, load, or send garbage. A run finds:
//  - a write that was carried out twice, or was and is reported as not carried out
//  - a read of anything but the last write before it
//  - operations on a key, up to four of which are in flight, that the nodes' log has in another
//    order than that of their start (WriteOrder)
// The controls plant both faults of that order: equal waits that end last in, first out, and a
// shorter wait that goes first.

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/deadline_heap.h"
#include "protocol/resp/wire/hash_slot.h"
#include "tests/sim/kit/seeds.h"
#include "tests/sim/kit/write_order.h"
#include "tests/sim/resp_world.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;
using protocol::Verb;
using protocol::resp::hash_slot;

bool is_absent(const Op& op) { return op.answered && op.status == protocol::Status::absent; }
// True if the operation may have been carried out or may still be.
bool is_doubtful(const Op& op) { return !op.answered && op.outcome == Outcome::unknown; }

TEST(Resp, ClientsAndModelNodesUnderstandEachOther) {
  RespWorld run(1);
  EXPECT_TRUE(run.set("foo", "v").answered);
  EXPECT_EQ(run.get("foo").got, "v");
  EXPECT_TRUE(is_absent(run.get("bar")));
  EXPECT_EQ(run.resp.log().times({"SET", "foo", "v"}), 1u);
}

// Connecting and greeting may take as long as a server has for the first map; the default timeout
// is a second.
TEST(Resp, TheFirstCallToAClusterThatIsFarAwayEndsWithinASecond) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    for (const std::size_t seeds : {std::size_t{1}, std::size_t{3}}) {
      SimWorld world(seed);
      SimNetwork network(world);
      SimResp resp(network, static_cast<unsigned>(seeds), seed);
      for (unsigned i = 0; i < seeds; ++i) resp.server(i).faults.delay = 50ms;
      ClusterConfig config;
      config.kind = EndpointKind::redis;
      config.nodes = resp.addresses();
      StackClient client(world, network, config, seed);
      const Op& op = client.get("foo", 1s);
      world.run_for(2s);
      EXPECT_TRUE(is_absent(op)) << seeds << " " << op.text;
      client.shut_down();
    }
  }
}

TEST(Resp, ARequestGoesBackAndForthWhileItsSlotIsOnItsWay) {
  RespWorld run(2);
  run.set("foo", "v");  // slot 12182, of node 2
  run.resp.changes().flip({12'182, 12'182}, 2, 0, {.gap = 29ms}, run.resp.now());
  EXPECT_EQ(run.get("foo").got, "v");
  EXPECT_EQ(run.resp.log().errors("MOVED"), 5u);
  EXPECT_EQ(run.owner(12'182), "r0:6379");
}

TEST(Resp, AReplicaTakesOverFromASilentPrimary) {
  RespWorld run(3);
  run.set("foo", "v");
  run.resp.stop_for(2, 10s);
  run.resp.changes().fail_over(5, {}, run.resp.now());
  unsigned doubtful = 0;
  while (is_doubtful(run.get("foo")) && ++doubtful < 5) continue;
  EXPECT_GE(doubtful, 1u);
  EXPECT_LE(doubtful, 3u);
  EXPECT_EQ(run.get("foo").got, "v");
  run.world.run_for(10s);
  EXPECT_EQ(run.resp.cluster().node(2).view.own().primary, 5u);
}

// What happens to the cluster of a seed.
enum class Trouble : std::uint8_t {
  all,    // all changes and faults
  moved,  // slots change their owner at once, so every wait is one for the same topology
  down    // nodes say CLUSTERDOWN, so the wait of a request grows with its attempts
};

// Requests of one seed under changes and faults, with up to four operations of a key in flight. A
// key is not used again after a request in doubt.
class RespStorm {
 public:
  RespStorm(std::uint64_t seed, bool of_garnet, Trouble trouble = Trouble::all,
            const cluster::ClusterControls& controls = {})
      : random_(seed ^ 0x7e5b), trouble_(trouble), run_(seed, options(of_garnet), controls) {}

  // Returns what is wrong with the order of operations, in a sentence for each finding.
  std::vector<std::string> go_on(int steps) {
    for (int i = 0; i < steps; ++i) {
      change();
      for (int k = 0; k < 2; ++k) begin(draw_key());
      run_.world.run_for(std::chrono::milliseconds(random_.below(60)));
      check();
    }
    run_.world.run_for(30s);
    check();
    EXPECT_TRUE(busy_.empty());
    for (const Execution& twice : run_.resp.log().repeats()) {
      ADD_FAILURE() << "carried out twice: " << twice.words[0] << " " << twice.words[2];
    }
    order_.add(0, run_.client->operations());
    return order_.judge(run_.resp.stored());
  }
  std::size_t answered() const { return answered_; }
  std::size_t overlaps() const { return order_.overlaps(); }
  std::uint64_t refused(std::string_view word) const { return run_.resp.log().errors(word); }

 private:
  using Execution = test::resp_model::Execution;

  static test::resp_model::ClusterOptions options(bool of_garnet) {
    test::resp_model::ClusterOptions made;
    if (of_garnet) made.dialect = test::resp_model::garnet();
    made.gossip = {1ms, 200ms};
    made.wary = true;
    return made;
  }

  void change() {
    if (trouble_ == Trouble::down) {
      if (random_.below(20) == 0) run_.resp.go_down_for(std::chrono::milliseconds(200));
      return;
    }
    if (trouble_ == Trouble::moved) {
      if (random_.below(2) == 0) run_.flip(hash_slot(draw_key()), random_);
      return;
    }
    if (random_.below(4) == 0) run_.change(hash_slot(draw_key()), random_);
    if (random_.below(10) == 0) run_.spoil(random_);
  }

  // Draws one of about three keys in each of 13 slots.
  std::string draw_key() {
    const std::uint64_t number = random_.below(40);
    return "{" + std::to_string(number % 13) + "}k" + std::to_string(number);
  }

  // With CLUSTERDOWN each operation is started in a turn of its own, so no two waits end at once.
  void begin(const std::string& key) {
    if (given_up_.contains(key) || busy_.contains(key)) return;
    for (std::uint64_t at_once = 1 + random_.below(4); at_once > 0; --at_once) {
      const bool reads = random_.below(2) == 0;
      busy_[key].push_back(reads ? &run_.client->get(key, 2s)
                                 : &run_.client->set(key, key + "=" + std::to_string(++last_), 2s));
      if (trouble_ == Trouble::down) {
        run_.world.run_for(std::chrono::microseconds(100 + random_.below(4'000)));
      }
    }
  }
  void check() {
    for (auto it = busy_.begin(); it != busy_.end();) {
      const auto& ops = it->second;
      const bool over = std::ranges::all_of(ops, [](const Op* op) { return op->ended > 0; });
      for (std::size_t i = 0; over && i < ops.size(); ++i) check(*ops[i]);
      it = over ? busy_.erase(it) : std::next(it);
    }
  }
  // Call it in the order in which operations on a key were started.
  void check(const Op& op) {
    answered_ += op.answered ? 1 : 0;
    const auto known = values_.find(op.key);
    if (op.verb == Verb::get && op.answered && !given_up_.contains(op.key)) {
      EXPECT_EQ(is_absent(op), known == values_.end()) << op.key;
      EXPECT_EQ(op.got, known == values_.end() ? std::string() : known->second);
    }
    if (op.verb == Verb::get) return;
    if (op.answered) values_[op.key] = op.value;
    if (is_doubtful(op)) given_up_.insert(op.key);
    const std::size_t times = run_.resp.log().times({"SET", op.key, op.value});
    EXPECT_LE(times, op.answered || is_doubtful(op) ? 1u : 0u) << op.value;
    EXPECT_GE(times, op.answered ? 1u : 0u) << op.value;
  }

  Random random_;
  const Trouble trouble_;
  RespWorld run_;
  std::map<std::string, std::vector<const Op*>> busy_;
  std::map<std::string, std::string> values_;
  std::set<std::string> given_up_;
  WriteOrder order_;
  unsigned last_ = 0;
  std::size_t answered_ = 0;
};

TEST(Resp, NothingIsCarriedOutTwiceOutOfOrderOrReadWrongForEverySeed) {
  const Seeds seeds = seeds_of(30);
  std::size_t answered = 0;
  std::map<std::string_view, std::uint64_t> refused;
  for (const std::uint64_t seed : seeds) {
    RespStorm storm(seed, seed % 2 == 0);
    for (const std::string& finding : storm.go_on(200)) ADD_FAILURE() << finding;
    EXPECT_GT(storm.overlaps(), 50u);
    answered += storm.answered();
    for (const std::string_view word : {"MOVED", "ASK", "CLUSTERDOWN", "LOADING"}) {
      refused[word] += storm.refused(word);
    }
  }
  EXPECT_GT(answered, 100 * seeds.count());
  if (!seeds.adds_up()) return;
  for (const auto& [word, times] : refused) EXPECT_GT(times, seeds.count()) << word;
}

// The first of 200 seeds whose run finds operations out of order; without the fault none does.
std::uint64_t first_disorder(Trouble trouble, const std::string& word,
                             const cluster::ClusterControls& controls) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    testing::TestPartResultArray wrong_reads;
    std::vector<std::string> findings;
    {
      const testing::ScopedFakeTestPartResultReporter catcher(
          testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &wrong_reads);
      findings = RespStorm(seed, false, trouble, controls).go_on(30);
    }
    if (findings.empty()) continue;
    RespStorm sound(seed, false, trouble);
    EXPECT_EQ(sound.go_on(30), std::vector<std::string>());
    EXPECT_GT(sound.refused(word), 0u);
    for (const std::string_view other : {"MOVED", "ASK", "CLUSTERDOWN", "TRYAGAIN"}) {
      if (other == word) continue;
      EXPECT_EQ(sound.refused(other), 0u) << other;
    }
    return seed;
  }
  ADD_FAILURE() << "no seed found it";
  return 0;
}

struct Waiter : DeadlineHook<Waiter> {
  unsigned number = 0;
};

// Returns the order in which five waits end that began one after another and end at once.
std::vector<unsigned> order_of_equal_deadlines() {
  std::array<Waiter, 5> waiters;
  DeadlineHeap<Waiter> heap;
  for (unsigned i = 0; i < waiters.size(); ++i) {
    waiters[i].number = i + 1;
    heap.push(waiters[i], Deadline{0});
  }
  std::vector<unsigned> order;
  while (const Waiter* const next = heap.pop_due(Deadline{0})) order.push_back(next->number);
  return order;
}

// Controls. While the order of a key is kept, the order in which waits end decides nothing, so each
// of the two faults is planted in a client that does not keep it. The first is that of the heap,
// which returns equal deadlines last in, first out.
TEST(Resp, WaitsThatEndAtOnceLastInFirstOutAreFound) {
  ASSERT_EQ(order_of_equal_deadlines(), (std::vector<unsigned>{1, 5, 4, 3, 2}));
  EXPECT_LT(first_disorder(Trouble::moved, "MOVED", {.keep_order = false}), 20u);
}

TEST(Resp, AShorterWaitThatGoesFirstIsFound) {
  EXPECT_LT(first_disorder(Trouble::down, "CLUSTERDOWN", {.keep_order = false}), 20u);
}

}  // namespace
}  // namespace sheaf::sim

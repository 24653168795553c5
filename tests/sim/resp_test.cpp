// The real client stack against model nodes of the Redis protocol in virtual time, while slots
// move, primaries fail over, and nodes fall silent, load, or send garbage.
//
// Replay one seed: SHEAF_SIM_SEED=1234 test_sim --gtest_filter='Resp.*'. More of them:
// SHEAF_SIM_SEEDS=100000.

#include <gtest/gtest.h>

#include <set>

#include "protocol/resp/wire/hash_slot.h"
#include "tests/sim/kit/seeds.h"
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

// Requests of one seed under all changes and faults. A key is not used again after a request in
// doubt.
class RespStorm {
 public:
  explicit RespStorm(std::uint64_t seed, bool of_garnet)
      : random_(seed ^ 0x7e5b), run_(seed, options(of_garnet)) {}

  void go_on(int steps) {
    for (int i = 0; i < steps; ++i) {
      if (random_.below(4) == 0) run_.change(hash_slot(draw_key()), random_);
      if (random_.below(10) == 0) run_.spoil(random_);
      for (int k = 0; k < 3; ++k) begin(draw_key());
      run_.world.run_for(std::chrono::milliseconds(random_.below(60)));
      check();
    }
    run_.world.run_for(30s);
    check();
    EXPECT_TRUE(busy_.empty());
    for (const Execution& twice : run_.resp.log().repeats()) {
      ADD_FAILURE() << "carried out twice: " << twice.words[0] << " " << twice.words[2];
    }
  }
  std::size_t answered() const { return answered_; }
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

  // Draws one of about three keys in each of 13 slots.
  std::string draw_key() {
    const std::uint64_t number = random_.below(40);
    return "{" + std::to_string(number % 13) + "}k" + std::to_string(number);
  }

  void begin(const std::string& key) {
    if (given_up_.contains(key) || busy_.contains(key)) return;
    const bool reads = random_.below(2) == 0;
    busy_[key] = reads ? &run_.client->get(key, 2s)
                       : &run_.client->set(key, key + "=" + std::to_string(++last_), 2s);
  }
  void check() {
    for (auto it = busy_.begin(); it != busy_.end();) {
      const Op& op = *it->second;
      if (op.ended > 0) check(op);
      it = op.ended > 0 ? busy_.erase(it) : std::next(it);
    }
  }
  void check(const Op& op) {
    answered_ += op.answered ? 1 : 0;
    const auto known = values_.find(op.key);
    if (op.verb == Verb::get && op.answered) {
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
  RespWorld run_;
  std::map<std::string, const Op*> busy_;
  std::map<std::string, std::string> values_;
  std::set<std::string> given_up_;
  unsigned last_ = 0;
  std::size_t answered_ = 0;
};

TEST(Resp, NothingIsCarriedOutTwiceOrReadWrongWhileTheClusterChanges) {
  const std::uint64_t one = number_from_environment("SHEAF_SIM_SEED", 0);
  const std::uint64_t first = one != 0 ? one : 1;
  const std::uint64_t last = one != 0 ? one : seeds_to_run(30);
  std::size_t answered = 0;
  std::map<std::string_view, std::uint64_t> refused;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RespStorm storm(seed, seed % 2 == 0);
    storm.go_on(200);
    answered += storm.answered();
    for (const std::string_view word : {"MOVED", "ASK", "CLUSTERDOWN", "LOADING"}) {
      refused[word] += storm.refused(word);
    }
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(answered, 100 * (last - first + 1));
  if (one != 0) return;
  for (const auto& [word, times] : refused) EXPECT_GT(times, last) << word;
}

}  // namespace
}  // namespace sheaf::sim

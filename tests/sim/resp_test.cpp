// Sessions of the Redis protocol in the real client stack, against model nodes in virtual time,
// while slots move, primaries fail over, and nodes fall silent, load, or send garbage. The client
// here follows redirects in a simple way of its own.
//
// Replay one seed: SHEAF_SIM_SEED=1234 test_sim --gtest_filter='Resp.*'. More of them:
// SHEAF_SIM_SEEDS=100000.

#include <gtest/gtest.h>

#include <deque>
#include <set>

#include "cluster/client_cluster.h"
#include "protocol/resp/server_error.h"
#include "protocol/resp/sessions.h"
#include "tests/sim/kit/seeds.h"
#include "tests/sim/kit/sim_resp.h"
#include "tests/support/event_logs.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;
using protocol::resp::hash_slot;
using protocol::resp::ServerError;

class RespClient;

// One operation, over all nodes that it is sent to.
class RespCall final : public socket::RequestSink {
 public:
  RespCall(RespClient& client, protocol::Verb verb, std::string key, std::string value)
      : verb_(verb), key_(std::move(key)), value_(std::move(value)), client_(client) {}

  void start(Now now);
  bool ended() const { return ended_; }
  bool answered() const { return answered_; }
  bool absent() const { return status_ == protocol::Status::absent; }
  // It may have been carried out, or may be yet.
  bool doubtful() const { return !answered_ && outcome_ == Outcome::unknown; }
  bool is_get() const { return verb_ == protocol::Verb::get; }
  const std::string& key() const { return key_; }
  const std::string& value() const { return value_; }
  const std::string& got() const { return got_; }

 private:
  void on_done(socket::Request& request, const socket::Completion& completion) override;
  void follow(const ServerError& error);

  const protocol::Verb verb_;
  const std::string key_;
  const std::string value_;
  RespClient& client_;
  std::optional<cluster::Request> request_;
  Deadline deadline_{0};
  unsigned node_ = 0;
  unsigned hops_ = 0;
  bool asking_ = false;
  bool ended_ = false;
  bool answered_ = false;
  protocol::Status status_ = protocol::Status::done;
  Outcome outcome_ = Outcome::invalid;
  std::string got_;
};

class RespClient final : private socket::Deferred {
 public:
  RespClient(SimWorld& world, SimNetwork& network, std::vector<NodeConfig> nodes)
      : loop_(world), dialer_(network.dialer(loop_)), config_(configuration(std::move(nodes))) {
    cluster_ = std::make_unique<cluster::ClientCluster>(
        config_, cluster::Topology::make(config_),
        node::NodeParts{loop_, *dialer_, sessions_, no_events_}, Random(5).fork());
  }
  ~RespClient() {
    cluster_->shut_down(loop_.now());
    for (int i = 0; i < 100 && !cluster_->empty(); ++i) loop_.turn(loop_.now().mono);
    loop_.forget(*this);
  }

  RespCall& begin(protocol::Verb verb, const std::string& key, const std::string& value = {}) {
    calls_.push_back(std::make_unique<RespCall>(*this, verb, key, value));
    again(*calls_.back());
    return *calls_.back();
  }
  void again(RespCall& call) {
    starting_.push_back(&call);
    loop_.defer(*this);
  }

  // Which node has a slot, as far as redirects have shown it.
  unsigned owner(std::uint16_t slot) const {
    const auto found = owners_.find(slot);
    return found != owners_.end() ? found->second : slot * 3u / protocol::resp::slot_count;
  }
  void learn(std::uint16_t slot, unsigned node) { owners_[slot] = node; }
  unsigned node_at(std::string_view host) const {
    for (unsigned node = 0; node < config_.nodes.size(); ++node) {
      if (config_.nodes[node].host == host) return node;
    }
    ADD_FAILURE() << "a redirect to " << host;
    return 0;
  }
  unsigned nodes() const { return static_cast<unsigned>(config_.nodes.size()); }
  cluster::ClientCluster& cluster() { return *cluster_; }
  SimWorld& world() { return loop_.world(); }

 private:
  static ClusterConfig configuration(std::vector<NodeConfig> nodes) {
    ClusterConfig config;
    config.kind = EndpointKind::memcached;
    config.nodes = std::move(nodes);
    return config;
  }
  void run_deferred(Now now) override {
    for (RespCall* call : std::exchange(starting_, {})) call->start(now);
  }

  SimLoop loop_;
  std::unique_ptr<socket::Dialer> dialer_;
  ClusterConfig config_;
  protocol::resp::RespSessions sessions_{config_};
  test::NoEvents no_events_;
  std::unique_ptr<cluster::ClientCluster> cluster_;
  std::deque<std::unique_ptr<RespCall>> calls_;
  std::vector<RespCall*> starting_;
  std::map<std::uint16_t, unsigned> owners_;
};

void RespCall::start(Now now) {
  if (deadline_ == Deadline(0)) deadline_ = now.mono + 2s;
  if (!asking_) node_ = client_.owner(hash_slot(key_));
  request_.emplace();
  request_->operation.verb = verb_;
  request_->operation.key = key_;
  request_->operation.value = value_;
  request_->operation.deadline = deadline_;
  request_->operation.asking = asking_;
  request_->sink = this;
  client_.cluster().start_on(node_, *request_, now);
}

// What a server refuses comes as its text: redirects are read out of that.
void RespCall::on_done(socket::Request&, const socket::Completion& completion) {
  const auto error = ServerError::parse(completion.text);
  const bool refused = !completion.answered && completion.outcome == Outcome::refused;
  if (refused && error.execution() == protocol::resp::Execution::not_executed) {
    return follow(error);
  }
  ended_ = true;
  answered_ = completion.answered;
  status_ = completion.reply.status;
  outcome_ = completion.outcome;
  got_ = completion.reply.value;
  if (!completion.answered) client_.learn(hash_slot(key_), (node_ + 1) % client_.nodes());
}

void RespCall::follow(const ServerError& error) {
  asking_ = error.kind == protocol::resp::ErrorKind::ask;
  if (error.redirect) node_ = client_.node_at(error.redirect->host);
  if (error.redirect && !asking_) client_.learn(error.redirect->slot, node_);
  if (client_.world().now().mono >= deadline_) {
    ended_ = true;
    outcome_ = Outcome::not_sent;
    return;
  }
  const bool at_once = error.redirect && ++hops_ % 4 != 0;
  client_.world().after(at_once ? 0ms : 5ms, [this](Now) { client_.again(*this); });
}

// Three primaries, two replicas of each; the fourth primary joins later.
struct RespWorld {
  explicit RespWorld(std::uint64_t seed, test::resp_model::ClusterOptions options = {})
      : world(seed), network(world), resp(network, 3, seed, std::move(options)) {
    for (unsigned primary = 0; primary < 3; ++primary) resp.add_replica(primary);
    newcomer = resp.add_primary();
    world.run_for(1s);
    client = std::make_unique<RespClient>(world, network, resp.addresses());
    world.run_for(100ms);
  }
  // Until it ends.
  RespCall& ask(protocol::Verb verb, const std::string& key, const std::string& value = {}) {
    RespCall& call = client->begin(verb, key, value);
    world.run(world.now().mono + 5s, [&call] { return call.ended(); });
    return call;
  }

  SimWorld world;
  SimNetwork network;
  SimResp resp;
  unsigned newcomer = 0;
  std::unique_ptr<RespClient> client;
};

using protocol::Verb;

TEST(Resp, SessionsAndModelNodesUnderstandEachOther) {
  RespWorld run(1);
  EXPECT_TRUE(run.ask(Verb::set, "foo", "v").answered());
  EXPECT_EQ(run.ask(Verb::get, "foo").got(), "v");
  EXPECT_TRUE(run.ask(Verb::get, "bar").absent());
  EXPECT_EQ(run.resp.log().times({"SET", "foo", "v"}), 1u);
}

TEST(Resp, ARequestGoesBackAndForthWhileItsSlotIsOnItsWay) {
  RespWorld run(2);
  run.ask(Verb::set, "foo", "v");  // slot 12182, of node 2
  run.resp.changes().flip({12'182, 12'182}, 2, 0, {.gap = 100ms}, run.resp.now());
  EXPECT_EQ(run.ask(Verb::get, "foo").got(), "v");
  EXPECT_GT(run.resp.log().errors("MOVED"), 10u);
  EXPECT_EQ(run.client->owner(12'182), 0u);
}

TEST(Resp, AReplicaTakesOverFromASilentPrimary) {
  RespWorld run(3);
  run.ask(Verb::set, "foo", "v");
  run.resp.stop_for(2, 10s);
  run.resp.changes().fail_over(5, {}, run.resp.now());
  EXPECT_TRUE(run.ask(Verb::get, "foo").doubtful());
  EXPECT_EQ(run.ask(Verb::get, "foo").got(), "v");
  run.world.run_for(10s);
  EXPECT_EQ(run.resp.cluster().node(2).view.own().primary, 5u);
}

// Requests of one seed under all changes and faults. A key with a request in doubt is given up.
class RespStorm {
 public:
  explicit RespStorm(std::uint64_t seed, bool of_garnet)
      : random_(seed ^ 0x7e5b), run_(seed, options(of_garnet)) {}

  void go_on(int steps) {
    for (int i = 0; i < steps; ++i) {
      if (random_.below(4) == 0) change();
      if (random_.below(10) == 0) spoil();
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

  // About three in each of 13 slots.
  std::string draw_key() {
    const std::uint64_t number = random_.below(40);
    return "{" + std::to_string(number % 13) + "}k" + std::to_string(number);
  }

  // Changes come one after another.
  void change() {
    auto& changes = run_.resp.changes();
    if (!changes.over() || !run_.resp.cluster().settled()) return;
    const std::uint16_t slot = hash_slot(draw_key());
    const auto& view = run_.resp.cluster().node(0).view;
    const auto source = view.owner(slot);
    const unsigned target = random_.below(2) == 0 ? run_.newcomer : (source + 1) % 7;
    if (source == test::resp_model::nobody || source == target) return;
    const bool fit = !run_.resp.cluster().node(target).view.own().is_replica() &&
                     !run_.resp.cluster().node(source).view.own().is_replica();
    switch (random_.below(6)) {
      default:
        if (fit) changes.migrate({slot, slot}, source, target, {30ms, 50ms}, run_.resp.now());
        return;
      case 1:
        if (fit) changes.flip({slot, slot}, source, target, {10ms, 50ms}, run_.resp.now());
        return;
      case 0:
        return fail_over(source);
    }
  }
  void fail_over(unsigned primary) {
    for (unsigned node = 0; node < run_.resp.cluster().size(); ++node) {
      if (run_.resp.cluster().node(node).view.own().primary != primary) continue;
      return run_.resp.changes().fail_over(node, {10ms, 50ms}, run_.resp.now());
    }
  }
  void spoil() {
    const auto node = static_cast<unsigned>(random_.below(7));
    auto& faults = run_.resp.cluster().node(node).faults;
    const Deadline end = run_.resp.now() + std::chrono::milliseconds(random_.below(500));
    switch (random_.below(5)) {
      case 0:
        faults.down_until = end;
        return;
      case 1:
        faults.loading_until = end;
        return;
      case 2:
        faults.garbage_replies = 1;
        return;
      case 3:
        run_.resp.server(node).reset_all();
        return;
      default:
        if (!run_.resp.cluster().node(node).stopped) run_.resp.stop_for(node, 300ms);
    }
  }

  void begin(const std::string& key) {
    if (given_up_.contains(key) || busy_.contains(key)) return;
    const bool reads = random_.below(2) == 0;
    busy_[key] = reads ? &run_.client->begin(Verb::get, key)
                       : &run_.client->begin(Verb::set, key, key + "=" + std::to_string(++last_));
  }
  void check() {
    for (auto it = busy_.begin(); it != busy_.end();) {
      const RespCall& call = *it->second;
      if (call.ended()) check(call);
      it = call.ended() ? busy_.erase(it) : std::next(it);
    }
  }
  void check(const RespCall& call) {
    answered_ += call.answered() ? 1 : 0;
    const auto known = values_.find(call.key());
    if (call.is_get() && call.answered()) {
      EXPECT_EQ(call.absent(), known == values_.end()) << call.key();
      EXPECT_EQ(call.got(), known == values_.end() ? std::string() : known->second);
    }
    if (call.is_get()) return;
    if (call.answered()) values_[call.key()] = call.value();
    if (call.doubtful()) given_up_.insert(call.key());
    const std::size_t times = run_.resp.log().times({"SET", call.key(), call.value()});
    EXPECT_LE(times, call.answered() || call.doubtful() ? 1u : 0u) << call.value();
    EXPECT_GE(times, call.answered() ? 1u : 0u) << call.value();
  }

  Random random_;
  RespWorld run_;
  std::map<std::string, RespCall*> busy_;
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

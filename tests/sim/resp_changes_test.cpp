// Writes that depend on the present value of their keys, in Garnet slots that migrate key by key.
// Garnet has no transactions on a key that has left while its slot has not, so such a write goes to
// and fro between the two servers until the migration ends. It must succeed whenever that is before
// its deadline. Up to four increments of a key are in flight, and must be carried out in the order
// of their start.

#include <gtest/gtest.h>

#include <array>
#include <deque>

#include "protocol/resp/wire/hash_slot.h"
#include "tests/sim/resp_world.h"

namespace sheaf::sim {
namespace {

using protocol::Condition;
using protocol::Verb;
using protocol::resp::hash_slot;

constexpr std::string_view tag = "{t}";
constexpr unsigned migrations = 4;

// Increments a counter, or stores by version what it read, again and again. It starts one to four
// increments at once; each must count on where the one before it ended. A store by version waits
// for the version of the one before.
class ChangeWorker final : private socket::RequestSink, private socket::TimerSink {
 public:
  ChangeWorker(StackClient& client, std::string key, bool counts, std::uint64_t seed)
      : cluster_(client.cluster()),
        timer_(client.loop().timer(*this)),
        key_(std::move(key)),
        counts_(counts),
        random_(seed) {}

  void go_on(Now now) {
    in_flight_ = counts_ ? 1 + random_.below(changes_.size()) : 1;
    begun_ = now.mono;
    for (std::size_t i = 0, count = in_flight_; i < count; ++i) begin(changes_[i], now);
  }
  void stop() { stopped_ = true; }
  bool over() const { return in_flight_ == 0; }
  unsigned done() const { return done_; }
  std::chrono::nanoseconds slowest() const { return slowest_; }
  std::vector<std::string> findings;

 private:
  struct Change final : cluster::Request {
    unsigned number = 0;  // of all changes of the worker, from 1
  };

  void begin(Change& change, Now now) {
    change.number = ++begun_changes_;
    change.operation = {};
    change.operation.key = key_;
    change.operation.deadline = now.mono + 5s;
    if (counts_) {
      change.operation.verb = Verb::increment;
      change.operation.initial = 1;
    } else {
      value_ = key_ + "=" + std::to_string(done_);
      change.operation.verb = Verb::set;
      change.operation.value = value_;
      change.operation.version = version_;
      if (done_ > 0) change.operation.condition = Condition::if_version;
    }
    change.sink = this;
    cluster_.start(change, now);
  }
  void on_done(socket::Request& request, const socket::Completion& completion) override {
    const auto& change = static_cast<const Change&>(request);
    slowest_ = std::max(slowest_, completion.now.mono - begun_);
    if (!completion.answered) {
      findings.push_back(std::string(to_string(completion.outcome)) + ", " +
                         std::string(to_string(completion.reason)) + ": " +
                         std::string(completion.text));
    } else if (completion.reply.status != protocol::Status::done) {
      findings.emplace_back("somebody else has written");
    } else if (counts_ && completion.reply.number != change.number) {
      findings.push_back("change " + std::to_string(change.number) + " counted to " +
                         std::to_string(completion.reply.number.value_or(0)));
    }
    ++done_;
    version_ = completion.reply.version;
    if (--in_flight_ > 0) return;
    if (!stopped_ && findings.empty()) timer_->set(completion.now.mono + 20ms);
  }
  void on_timer(Now now) override { go_on(now); }

  cluster::ClientCluster& cluster_;
  const std::unique_ptr<socket::Timer> timer_;
  const std::string key_;
  const bool counts_;
  Random random_;
  std::array<Change, 4> changes_;
  std::string value_;
  std::string version_;
  unsigned begun_changes_ = 0;
  unsigned done_ = 0;
  std::size_t in_flight_ = 0;
  bool stopped_ = false;
  Deadline begun_{0};
  std::chrono::nanoseconds slowest_{0};
};

TEST(RespChanges, OfKeysThatHaveLeftASlotOfGarnetBeforeItAllSucceed) {
  test::resp_model::ClusterOptions options;
  options.dialect = test::resp_model::garnet();
  RespWorld run(1, options);
  std::deque<ChangeWorker> workers;
  for (unsigned i = 0; i < 40; ++i) {
    workers.emplace_back(*run.client, std::string(tag) + std::to_string(i), i % 2 == 0, i + 1);
  }
  run.client->later([&](Now now) {
    for (ChangeWorker& worker : workers) worker.go_on(now);
  });
  run.world.run_for(50ms);
  const std::uint16_t slot = hash_slot(tag);
  for (unsigned i = 0; i < migrations; ++i) {
    const unsigned source = run.resp.owner(slot);
    run.resp.changes().migrate({slot, slot}, source, (source + 1) % 3, {50ms, 20ms},
                               run.resp.now());
    const auto settled = [&run] { return run.resp.settled(); };
    ASSERT_TRUE(run.world.run(run.world.now().mono + 5s, settled));
    run.world.run_for(1s);
  }
  for (ChangeWorker& worker : workers) worker.stop();
  run.world.run_for(6s);
  std::chrono::nanoseconds slowest{0};
  for (ChangeWorker& worker : workers) {
    EXPECT_TRUE(worker.over());
    EXPECT_EQ(worker.findings, std::vector<std::string>());
    EXPECT_GT(worker.done(), 100u);
    slowest = std::max(slowest, worker.slowest());
  }
  EXPECT_GT(slowest, 1s) << "nobody waited for a migration";
  EXPECT_GT(run.resp.log().errors("ASK"), 7 * migrations);
}

}  // namespace
}  // namespace sheaf::sim

// Writes that depend on the present value of their keys, in Garnet slots that migrate key by key.
// Garnet has no transactions on a key that has left while its slot has not, so such a write goes to
// and fro between the two servers until the migration ends. It must succeed whenever that is before
// its deadline.

#include <gtest/gtest.h>

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

// Increments a counter, or stores by version what it read, again and again.
class ChangeWorker final : private socket::RequestSink, private socket::TimerSink {
 public:
  ChangeWorker(StackClient& client, std::string key, bool counts)
      : cluster_(client.cluster()),
        timer_(client.loop().timer(*this)),
        key_(std::move(key)),
        counts_(counts) {}

  void go_on(Now now) {
    request_.operation = {};
    request_.operation.key = key_;
    request_.operation.deadline = now.mono + 5s;
    if (counts_) {
      request_.operation.verb = Verb::increment;
      request_.operation.initial = 1;
    } else {
      value_ = key_ + "=" + std::to_string(done_);
      request_.operation.verb = Verb::set;
      request_.operation.value = value_;
      request_.operation.version = version_;
      if (done_ > 0) request_.operation.condition = Condition::if_version;
    }
    request_.sink = this;
    over_ = false;
    begun_ = now.mono;
    cluster_.start(request_, now);
  }
  void stop() { stopped_ = true; }
  bool over() const { return over_; }
  unsigned done() const { return done_; }
  std::chrono::nanoseconds slowest() const { return slowest_; }
  std::vector<std::string> findings;

 private:
  void on_done(socket::Request&, const socket::Completion& completion) override {
    over_ = true;
    slowest_ = std::max(slowest_, completion.now.mono - begun_);
    if (!completion.answered) {
      findings.push_back(std::string(to_string(completion.outcome)) + ", " +
                         std::string(to_string(completion.reason)) + ": " +
                         std::string(completion.text));
    } else if (completion.reply.status != protocol::Status::done) {
      findings.emplace_back("somebody else has written");
    } else if (counts_ && completion.reply.number != done_ + 1) {
      findings.push_back("counted to " + std::to_string(completion.reply.number.value_or(0)));
    }
    ++done_;
    version_ = completion.reply.version;
    if (!stopped_ && findings.empty()) timer_->set(completion.now.mono + 20ms);
  }
  void on_timer(Now now) override { go_on(now); }

  cluster::ClientCluster& cluster_;
  const std::unique_ptr<socket::Timer> timer_;
  const std::string key_;
  const bool counts_;
  cluster::Request request_;
  std::string value_;
  std::string version_;
  unsigned done_ = 0;
  bool over_ = true;
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
    workers.emplace_back(*run.client, std::string(tag) + std::to_string(i), i % 2 == 0);
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

// The connection on which a node's keys are watched: what it can vouch for when it ends, and that
// it detects a silent server even when it can send no more requests.

#include "node/watch_line.h"

#include <gtest/gtest.h>

#include <deque>

#include "tests/sim/kit/stack.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;

class WatchLineTest : public testing::Test,
                      private node::WatchLineOwner,
                      private socket::RequestSink {
 protected:
  WatchLineTest() {
    stack.world.run_for(1s);
    later([this](Now now) { line.open(now); });
    stack.world.run_for(1s);
  }
  ~WatchLineTest() override {
    later([this](Now now) { line.shut_down(now); });
    stack.world.run_for(1s);
  }
  void later(std::function<void(Now)> work) {
    client.later(std::move(work));
    stack.world.run_for(1us);
  }
  void submit(Now now) {
    socket::Request& request = requests.emplace_back();
    request.sink = this;
    request.operation.verb = protocol::Verb::get;
    request.operation.key = "key";
    ASSERT_TRUE(line.submit(request, now));
  }
  Deadline now() { return stack.world.now().mono; }

  Stack stack{31, 1};
  StackClient& client = stack.add_client();
  SimServer& broker = stack.broker(0);
  std::deque<socket::Request> requests;
  unsigned answered = 0;
  Deadline proof = never;    // as reported by the last end
  Deadline down_at = never;  // when that end came
  node::WatchLine line{client.cluster().node(0), client.loop(), *this, Random(5).fork()};

 private:
  void on_line_up(Now) override {}
  void on_line_room(Now) override {}
  void on_line_notification(const protocol::Notification&, Now) override {}
  void on_line_down(Now known, Now now) override {
    proof = known.mono;
    down_at = now.mono;
  }
  void on_line_failed(const protocol::CloseReason&, Now) override {}
  void on_done(socket::Request&, const socket::Completion& completion) override {
    answered += completion.answered ? 1 : 0;
  }
};

TEST_F(WatchLineTest, WhatItVouchesForEndsWhereTheLastAnsweredRequestWasSent) {
  broker.faults.delay = 200ms;
  const Deadline sent = now();
  later([&](Now at) { submit(at); });
  stack.world.run_for(400ms);
  ASSERT_EQ(answered, 1u);
  broker.reset_all();
  stack.world.run_for(300ms);
  ASSERT_NE(down_at, never);
  EXPECT_EQ(proof, sent);
}

// The line's window is full when the server stops, except for one place, which is reserved for the
// question whether the server is still there. The line asks after two seconds and waits one for the
// answer.
TEST_F(WatchLineTest, ASilentServerIsFoundOutInThreeSecondsAlsoWithAFullWindow) {
  broker.stop();
  later([&](Now at) {
    while (line.room() > 0) submit(at);
  });
  ASSERT_EQ(requests.size(), 511u);
  const Deadline stopped = now();
  stack.world.run_for(10s);
  ASSERT_NE(down_at, never);
  EXPECT_LE(down_at, stopped + 3s);
}

TEST_F(WatchLineTest, AnotherLoginThatAConnectionCannotTakeMakesItAnewAtOnce) {
  later([&](Now at) { line.renew_login(at); });
  EXPECT_EQ(down_at, never) << "nothing differs";
  later([&](Now at) {
    client.sessions().set_login(protocol::make_login("ann", "word"));
    line.renew_login(at);
  });
  stack.world.run_for(200ms);
  EXPECT_NE(down_at, never);
  EXPECT_TRUE(line.up());
}

// Without the renewal the wait would be half a minute after a permanent refusal.
TEST_F(WatchLineTest, AnAttemptThatWaitsIsMadeAtOnceWithAnotherLogin) {
  broker.crash();
  stack.world.run_for(5s);
  broker.restart();
  ASSERT_FALSE(line.up());
  later([&](Now at) { line.renew_login(at); });
  stack.world.run_for(20ms);
  EXPECT_TRUE(line.up());
}

}  // namespace
}  // namespace sheaf::sim

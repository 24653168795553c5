#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/read_clocks.h"
#include "tests/socket/uv/uv_fixture.h"

namespace sheaf::socket {
namespace {

TEST_F(UvLoopTest, TimerFiresAtItsDeadlineAndNotBefore) {
  Alarm alarm;
  auto timer = loop->timer(alarm);
  const Deadline due = read_monotonic() + 20ms;
  timer->set(due);
  turn_until([&] { return alarm.count == 1; });
  EXPECT_GE(alarm.fired.mono, due);
  EXPECT_LT(alarm.fired.mono, due + 2s);
}

// libuv's clock counts whole milliseconds: a wait that begins at the very end of one may be over
// before the poll begins.
TEST_F(UvLoopTest, AWaitThatIsOverBeforeItBeginsDoesNotLastForEver) {
  const auto start = read_monotonic();
  std::atomic<bool> over = false;
  std::thread watchdog([&] {
    while (!over && read_monotonic() < start + 20s) std::this_thread::yield();
    if (!over) loop->wake();
  });
  for (int i = 0; i < 500 && read_monotonic() < start + 5s; ++i) {
    while (read_monotonic() % 1ms < 998us) {
    }
    loop->turn(read_monotonic() + 500us);
  }
  over = true;
  watchdog.join();
  EXPECT_LT(read_monotonic() - start, 10s);
}

TEST_F(UvLoopTest, WakeFromAnotherThreadEndsTheWait) {
  std::thread other([&] { loop->wake(); });
  const Deadline start = read_monotonic();
  loop->turn(start + 30s);
  other.join();
  EXPECT_LT(read_monotonic() - start, 10s);
}

TEST_F(UvLoopTest, AWakeBeforeTheTurnIsNotLost) {
  loop->wake();
  const Deadline start = read_monotonic();
  loop->turn(start + 30s);
  EXPECT_LT(read_monotonic() - start, 10s);
}

TEST_F(UvLoopTest, DoNotWaitHoldsForTheNextTurn) {
  loop->do_not_wait();
  const Deadline start = read_monotonic();
  loop->turn(start + 30s);
  EXPECT_LT(read_monotonic() - start, 10s);
}

TEST_F(UvLoopTest, RefusedConnectionSaysSo) {
  Listener listener;
  const std::uint16_t port = listener.port();
  listener.close();
  Peer peer;
  connect(peer, port);
  EXPECT_EQ(peer.failed, "Connection refused");
}

TEST_F(UvLoopTest, ANameIsResolvedAndAnUnknownOneFailsWithItsReason) {
  Listener listener;
  Peer peer;
  dial = dialer->dial({"localhost", listener.port()}, read_monotonic() + 5s, peer, peer);
  turn_until([&] { return peer.stream != nullptr || !peer.failed.empty(); });
  EXPECT_NE(peer.stream, nullptr) << peer.failed;

  Peer lost;
  dial = dialer->dial({"no-such-host.invalid", 1}, read_monotonic() + 5s, lost, lost);
  turn_until([&] { return !lost.failed.empty(); });
  EXPECT_NE(lost.failed.find("look-up"), std::string::npos) << lost.failed;
}

TEST_F(UvLoopTest, ADestroyedDialCallsNobody) {
  Listener listener;
  Peer peer;
  dial = dialer->dial({"127.0.0.1", listener.port()}, read_monotonic() + 5s, peer, peer);
  dial.reset();
  loop->turn(read_monotonic() + 20ms);
  EXPECT_EQ(peer.stream, nullptr);
  EXPECT_TRUE(peer.failed.empty());
}

TEST_F(UvLoopTest, ALoopDestroyedDuringALookUpReturnsAtOnce) {
  Peer peer;
  dial = dialer->dial({"no-such-host.invalid", 1}, read_monotonic() + 5s, peer, peer);
  dial.reset();
  dialer.reset();
  const Deadline start = read_monotonic();
  loop.reset();
  EXPECT_LT(read_monotonic() - start, 2s);
}

TEST_F(UvLoopTest, LatenessShowsThatNobodyRanTheLoop) {
  Alarm alarm;
  auto timer = loop->timer(alarm);
  timer->set(read_monotonic() - 300ms);
  loop->turn(read_monotonic());
  EXPECT_EQ(alarm.count, 1);
  EXPECT_GE(loop->lateness(), 300ms);
}

// A program that turns a driver by poll() asks for turns that do not wait.
TEST_F(UvLoopTest, ATurnThatDoesNotWaitIsNotLate) {
  const Deadline before = read_monotonic();
  loop->turn(Deadline{0});
  EXPECT_LE(loop->lateness(), read_monotonic() - before);
}

struct Work final : Deferred {
  UvLoop* loop = nullptr;
  int runs = 0;
  int again = 0;
  void run_deferred(Now) override {
    ++runs;
    if (again-- > 0) loop->defer(*this);
  }
};

TEST_F(UvLoopTest, DeferredWorkRunsOnceForManyRequestsAndMayAskAgain) {
  Work work;
  work.loop = loop.get();
  work.again = 2;
  loop->defer(work);
  loop->defer(work);
  loop->turn(read_monotonic());
  EXPECT_EQ(work.runs, 3);
  loop->defer(work);
  loop->forget(work);
  loop->turn(read_monotonic());
  EXPECT_EQ(work.runs, 3);
}

}  // namespace
}  // namespace sheaf::socket

// Connections of the production loop, with each way of waiting for them.

#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <thread>

#include "base/read_clocks.h"
#include "tests/socket/uv/uv_fixture.h"

namespace sheaf::socket {
namespace {

// A connected stream and the server's end of it.
class Connected : public UvLoopTest {
 protected:
  void SetUp() override {
    connect(peer, listener.port());
    server = listener.accept();
  }
  void hear() {
    EXPECT_EQ(send(server, "x", 1, 0), 1);
    turn_until([&] { return peer.received == "x"; });
  }
  Listener listener;
  Peer peer;
  int server = -1;
};

class UvStreamTest : public Connected, public testing::WithParamInterface<Wait> {
 protected:
  void SetUp() override {
    loop->wait_by(GetParam());
    Connected::SetUp();
  }
  // Writes more than the connection takes, and reads at the other end until it takes more.
  void write_until_there_is_room_again() {
    const std::string much(32 << 20, 'x');
    const Bytes part[] = {as_bytes(much)};
    std::size_t left = peer.stream->write(part);
    ASSERT_LT(left, much.size());
    std::string sink(1 << 20, 0);
    turn_until([&] {
      const ssize_t got = recv(server, sink.data(), std::min(sink.size(), left), MSG_DONTWAIT);
      if (got > 0) left -= static_cast<std::size_t>(got);
      return peer.writable;
    });
  }
};

INSTANTIATE_TEST_SUITE_P(By, UvStreamTest, testing::Values(Wait::sleep, Wait::spin, Wait::read),
                         [](const auto& test) -> std::string {
                           if (test.param == Wait::sleep) return "sleep";
                           return test.param == Wait::spin ? "spin" : "read";
                         });

TEST_P(UvStreamTest, BytesGoBothWaysAndTheOrderlyEndIsReported) {
  const Bytes parts[] = {as_bytes("hello "), as_bytes(""), as_bytes("world")};
  EXPECT_EQ(peer.stream->write(parts), 11u);
  char buffer[32];
  EXPECT_EQ(recv(server, buffer, sizeof buffer, 0), 11);
  EXPECT_EQ(send(server, "answer", 6, 0), 6);
  close(server);
  turn_until([&] { return peer.closed; });
  EXPECT_EQ(peer.received, "answer");
  EXPECT_EQ(peer.error, 0);
}

TEST_P(UvStreamTest, AFullKernelBufferIsContinuedWhenWritable) {
  const std::string big(32 << 20, 'x');
  std::size_t sent = 0;
  std::size_t seen = 0;
  std::string sink(1 << 20, 0);
  while (sent < big.size()) {
    const Bytes part[] = {as_bytes(std::string_view(big).substr(sent))};
    const std::size_t taken = peer.stream->write(part);
    sent += taken;
    if (sent == big.size()) break;
    peer.writable = false;
    turn_until([&] {
      const ssize_t got = recv(server, sink.data(), sink.size(), MSG_DONTWAIT);
      if (got > 0) seen += static_cast<std::size_t>(got);
      return peer.writable;
    });
  }
  while (seen < big.size()) {
    const ssize_t got = recv(server, sink.data(), sink.size(), 0);
    ASSERT_GT(got, 0);
    seen += static_cast<std::size_t>(got);
  }
  EXPECT_EQ(seen, big.size());
  close(server);
}

TEST_P(UvStreamTest, MorePartsThanOneSystemCallTakesAreAllWritten) {
  const std::vector<Bytes> parts(1000, as_bytes("ab"));
  EXPECT_EQ(peer.stream->write(parts), 2000u);
  std::string got(2000, 0);
  EXPECT_EQ(recv(server, got.data(), got.size(), MSG_WAITALL), 2000);
  close(server);
}

TEST_P(UvStreamTest, WritingToAResetConnectionReportsTheErrorWithoutASignal) {
  const linger hard{1, 0};
  setsockopt(server, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
  close(server);
  const Bytes part[] = {as_bytes("x")};
  for (int i = 0; i < 3; ++i) peer.stream->write(part);  // SIGPIPE would end this process
  turn_until([&] { return peer.closed; });
  EXPECT_NE(peer.error, 0);
}

TEST_P(UvStreamTest, AResetConnectionSaysThatItWasReset) {
  const linger hard{1, 0};
  setsockopt(server, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
  close(server);
  turn_until([&] { return peer.closed; });
  EXPECT_EQ(peer.error, ECONNRESET);
}

// A server at its limit says why and hangs up before it has read what the client is writing.
TEST_P(UvStreamTest, LastWordsOfThePeerAreHeardAlthoughWritingFails) {
  ASSERT_EQ(send(server, "too many", 8, MSG_NOSIGNAL), 8);
  close(server);
  const Bytes part[] = {as_bytes("x")};
  for (int i = 0; i < 3; ++i) peer.stream->write(part);  // the first is answered by a reset
  turn_until([&] { return peer.closed; });
  EXPECT_EQ(peer.received, "too many");
  EXPECT_NE(peer.error, 0);
}

TEST_P(UvStreamTest, ASinkMayDestroyItsStreamWhileItReads) {
  peer.destroy_on_read = true;
  EXPECT_EQ(send(server, "bye", 3, 0), 3);
  turn_until([&] { return peer.stream == nullptr; });
  EXPECT_FALSE(peer.closed);
  close(server);
}

// Writing continues, no matter how the loop waited for the connection before.
TEST_P(UvStreamTest, WritingGoesOnAfterBytesWereRead) {
  hear();
  write_until_there_is_room_again();
  ::close(server);
}

// It would be told in every turn that it may.
TEST_P(UvStreamTest, OnceItMayWriteAgainTheLoopSleeps) {
  write_until_there_is_room_again();
  const Deadline end = read_monotonic() + 50ms;
  int turns = 0;
  for (; read_monotonic() < end; ++turns) loop->turn(end);
  EXPECT_LE(turns, 5);
  ::close(server);
}

TEST_P(UvStreamTest, AnEndedConnectionKeepsTheLoopFromNoSleep) {
  hear();
  ::close(server);
  turn_until([&] { return peer.closed; });
  const Deadline end = read_monotonic() + 50ms;
  int turns = 0;
  for (; read_monotonic() < end; ++turns) loop->turn(end);
  EXPECT_LE(turns, 3);  // libuv counts in milliseconds, and may wake up a fraction of one too early
}

// A dial and a second connection do not wait for the connection that is always readable.
TEST_P(UvStreamTest, ABusyConnectionKeepsNoOtherWaiting) {
  std::atomic<bool> over = false;
  std::thread talker([&] {
    while (!over) {
      send(server, "x", 1, MSG_DONTWAIT);
      std::this_thread::yield();
    }
    ::close(server);
  });
  Peer named;
  dial = dialer->dial({"localhost", listener.port()}, read_monotonic() + 60s, named, named);
  turn_until([&] { return named.stream != nullptr || !named.failed.empty(); });
  dial.reset();
  EXPECT_NE(named.stream, nullptr) << named.failed;
  if (named.stream != nullptr) {
    const int second = listener.accept();
    EXPECT_EQ(send(second, "here", 4, 0), 4);
    turn_until([&] { return named.received == "here"; });
    ::close(second);
  }
  over = true;
  talker.join();
  turn_until([&] { return peer.closed; });
}

// A loop that spins reads what something is due on, and must not forget the others until that is
// silent.
TEST_P(UvStreamTest, AConnectionThatExpectsNothingIsHeardBesideABusyOne) {
  Peer quiet;
  quiet.expects = false;
  connect(quiet, listener.port());
  const int other_end = listener.accept();
  const std::string much(60'000, 'x');
  peer.space.resize(1);
  EXPECT_EQ(send(server, much.data(), much.size(), 0), static_cast<ssize_t>(much.size()));
  EXPECT_EQ(send(other_end, "here", 4, 0), 4);
  turn_until([&] { return quiet.received == "here"; });
  EXPECT_LT(peer.received.size(), much.size());
  ::close(other_end);
}

// A loop that waits in reads may have told libuv to forget the other.
TEST_P(UvStreamTest, AConnectionThatWasReadBeforeIsHeardWhileAnotherIsSilent) {
  Peer other;
  connect(other, listener.port());
  const int other_end = listener.accept();
  peer.expects = false;
  EXPECT_EQ(send(other_end, "one", 3, 0), 3);
  turn_until([&] { return other.received == "one"; });
  std::swap(peer.expects, other.expects);
  EXPECT_EQ(send(server, "two", 3, 0), 3);
  turn_until([&] { return peer.received == "two"; });
  EXPECT_EQ(send(other_end, " three", 6, 0), 6);
  turn_until([&] { return other.received == "one three"; });
  ::close(other_end);
  turn_until([&] { return other.closed; });
}

// Both are due, and what the first reads ends the second before it is read.
TEST_P(UvStreamTest, AConnectionMayEndAnotherThatIsToBeRead) {
  Peer other;
  connect(other, listener.port());
  const int other_end = listener.accept();
  peer.destroys = &other;
  other.destroys = &peer;
  EXPECT_EQ(send(server, "x", 1, 0), 1);
  EXPECT_EQ(send(other_end, "x", 1, 0), 1);
  turn_until([&] { return peer.stream == nullptr || other.stream == nullptr; });
  EXPECT_NE(peer.stream == nullptr, other.stream == nullptr);
  ::close(other_end);
}

TEST_P(UvStreamTest, ATimerFiresInTimeBesideASilentConnection) {
  Alarm alarm;
  auto timer = loop->timer(alarm);
  for (const auto length : {2ms, 21ms, 60ms}) {
    auto least = std::chrono::nanoseconds(10s);
    for (int i = 0; i < 10; ++i) {
      const Deadline due = read_monotonic() + length;
      timer->set(due);
      const int fired = alarm.count;
      turn_until([&] { return alarm.count > fired; });
      EXPECT_GE(alarm.fired.mono, due);
      least = std::min(least, alarm.fired.mono - due);
    }
    EXPECT_LT(least, longest_read / 2);
  }
}

// Signals come more often than the longest read lasts.
TEST_P(UvStreamTest, SignalsDoNotKeepADeadlineFromComing) {
  struct sigaction action{};
  action.sa_handler = [](int) {};
  struct sigaction before{};
  sigaction(SIGUSR1, &action, &before);
  std::atomic<bool> over = false;
  std::thread other([&over, self = pthread_self()] {
    const Deadline end = read_monotonic() + 20s;
    while (!over && read_monotonic() < end) {
      pthread_kill(self, SIGUSR1);
      std::this_thread::yield();
    }
  });
  Alarm alarm;
  auto timer = loop->timer(alarm);
  const Deadline due = read_monotonic() + 50ms;
  timer->set(due);
  while (alarm.count == 0) loop->turn(never);
  over = true;
  other.join();
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_LT(alarm.fired.mono, due + 5s);
}

using UvReadTest = Connected;

// The price of waiting in a read, and its limit.
TEST_F(UvReadTest, AWakeIsNoticedAfterTheLongestReadAtMost) {
  loop->wait_by(Wait::read);
  // The kernel may end a read early, for a signal or for work of its own.
  auto longest = std::chrono::nanoseconds(0);
  for (int i = 0; i < 20 && longest < longest_read / 2; ++i) {
    loop->wake();
    const Deadline start = read_monotonic();
    loop->turn(never);
    longest = std::max(longest, read_monotonic() - start);
  }
  EXPECT_GE(longest, longest_read / 2);
  EXPECT_LT(longest, 10s);
  // The wake is over now.
  loop->wait_by(Wait::sleep);
  const Deadline end = read_monotonic() + 50ms;
  int turns = 0;
  for (; read_monotonic() < end; ++turns) loop->turn(end);
  EXPECT_LE(turns, 3);  // libuv counts in milliseconds, and may wake up a fraction of one too early
}

TEST_F(UvReadTest, BytesEndTheWait) {
  loop->wait_by(Wait::read);
  for (std::size_t i = 1; i <= 100; ++i) {
    std::thread other([&] { send(server, "x", 1, 0); });
    while (peer.received.size() < i) loop->turn(never);
    other.join();
  }
  // A loop that sleeps instead is notified of the end, too.
  loop->wait_by(Wait::sleep);
  ::close(server);
  while (!peer.closed) loop->turn(never);
}

}  // namespace
}  // namespace sheaf::socket

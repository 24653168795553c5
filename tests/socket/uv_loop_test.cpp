#include "socket/uv_loop.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <string>
#include <thread>

namespace sheaf::socket {
namespace {

using namespace std::chrono_literals;

// A listening socket of the test's own; the kernel chooses the port.
class Listener {
 public:
  Listener() {
    fd_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(fd_, 8), 0);
    socklen_t size = sizeof address;
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~Listener() { close(); }
  std::uint16_t port() const { return port_; }
  int accept() const { return ::accept(fd_, nullptr, nullptr); }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
  std::uint16_t port_ = 0;
};

// Both sinks of one connection, recording what came.
struct Peer final : StreamSink, DialSink {
  std::unique_ptr<Stream> stream;
  std::string failed;
  std::string received;
  std::string space = std::string(64 * 1024, 0);
  bool closed = false;
  bool writable = false;
  int error = 0;
  bool destroy_on_read = false;

  void on_connected(std::unique_ptr<Stream> s, Now) override { stream = std::move(s); }
  void on_dial_failed(std::string text, Now) override { failed = std::move(text); }
  std::span<std::byte> read_space() override { return std::as_writable_bytes(std::span(space)); }
  void on_read(std::size_t size, Now) override {
    received.append(space, 0, size);
    if (destroy_on_read) stream.reset();
  }
  void on_writable(Now) override { writable = true; }
  void on_closed(int e, Now) override { closed = true, error = e; }
};

struct Alarm final : TimerSink {
  Now fired{};
  int count = 0;
  void on_timer(Now now) override { fired = now, ++count; }
};

class UvLoopTest : public testing::Test {
 protected:
  void turn_until(const std::function<bool()>& done) {
    const Deadline end = read_monotonic() + 10s;
    while (!done() && read_monotonic() < end) loop->turn(read_monotonic() + 100ms);
    ASSERT_TRUE(done());
  }
  void connect(Peer& peer, std::uint16_t port) {
    dial = dialer->dial({"127.0.0.1", port}, read_monotonic() + 5s, peer, peer);
    turn_until([&] { return peer.stream != nullptr || !peer.failed.empty(); });
    dial.reset();
  }
  std::unique_ptr<UvLoop> loop = *UvLoop::create({});
  std::unique_ptr<Dialer> dialer = loop->tcp_dialer();
  std::unique_ptr<Dial> dial;
};

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
  for (int i = 0; i < 500 && read_monotonic() < start + 10s; ++i) {
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

TEST_F(UvLoopTest, HurryKeepsTheTurnFromWaiting) {
  loop->hurry();
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

TEST_F(UvLoopTest, BytesGoBothWaysAndTheOrderlyEndIsReported) {
  Listener listener;
  Peer peer;
  connect(peer, listener.port());
  const int server = listener.accept();
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

TEST_F(UvLoopTest, AFullKernelBufferIsContinuedWhenWritable) {
  Listener listener;
  Peer peer;
  connect(peer, listener.port());
  const int server = listener.accept();
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

TEST_F(UvLoopTest, MorePartsThanOneSystemCallTakesAreAllWritten) {
  Listener listener;
  Peer peer;
  connect(peer, listener.port());
  const int server = listener.accept();
  const std::vector<Bytes> parts(1000, as_bytes("ab"));
  EXPECT_EQ(peer.stream->write(parts), 2000u);
  std::string got(2000, 0);
  EXPECT_EQ(recv(server, got.data(), got.size(), MSG_WAITALL), 2000);
  close(server);
}

TEST_F(UvLoopTest, WritingToAResetConnectionReportsTheErrorWithoutASignal) {
  Listener listener;
  Peer peer;
  connect(peer, listener.port());
  const int server = listener.accept();
  const linger hard{1, 0};
  setsockopt(server, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
  close(server);
  const Bytes part[] = {as_bytes("x")};
  for (int i = 0; i < 3; ++i) peer.stream->write(part);  // SIGPIPE would end this process
  turn_until([&] { return peer.closed; });
  EXPECT_NE(peer.error, 0);
}

TEST_F(UvLoopTest, AResetConnectionSaysThatItWasReset) {
  Listener listener;
  Peer peer;
  connect(peer, listener.port());
  const int server = listener.accept();
  const linger hard{1, 0};
  setsockopt(server, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
  close(server);
  turn_until([&] { return peer.closed; });
  EXPECT_EQ(peer.error, ECONNRESET);
}

// A server at its limit says why and hangs up, before it has read what we were writing.
TEST_F(UvLoopTest, LastWordsOfThePeerAreHeardAlthoughWritingFails) {
  Listener listener;
  Peer peer;
  connect(peer, listener.port());
  const int server = listener.accept();
  ASSERT_EQ(send(server, "too many", 8, MSG_NOSIGNAL), 8);
  close(server);
  const Bytes part[] = {as_bytes("x")};
  for (int i = 0; i < 3; ++i) peer.stream->write(part);  // the first is answered by a reset
  turn_until([&] { return peer.closed; });
  EXPECT_EQ(peer.received, "too many");
  EXPECT_NE(peer.error, 0);
}

TEST_F(UvLoopTest, ASinkMayDestroyItsStreamWhileItReads) {
  Listener listener;
  Peer peer;
  connect(peer, listener.port());
  const int server = listener.accept();
  peer.destroy_on_read = true;
  EXPECT_EQ(send(server, "bye", 3, 0), 3);
  turn_until([&] { return peer.stream == nullptr; });
  EXPECT_FALSE(peer.closed);
  close(server);
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

TEST_F(UvLoopTest, LatenessTellsThatNobodyRanTheLoop) {
  Alarm alarm;
  auto timer = loop->timer(alarm);
  timer->set(read_monotonic() - 300ms);
  loop->turn(read_monotonic());
  EXPECT_EQ(alarm.count, 1);
  EXPECT_GE(loop->lateness(), 300ms);
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

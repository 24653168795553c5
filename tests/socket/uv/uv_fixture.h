#pragma once

// The test's own loop and sockets, on ports that the kernel chooses.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "base/read_clocks.h"
#include "socket/uv/uv_loop.h"
#include "tests/support/listener.h"

namespace sheaf::socket {

using namespace std::chrono_literals;

using test::Listener;

// Both sinks of one connection, recording what they receive.
struct Peer final : StreamSink, DialSink {
  std::unique_ptr<Stream> stream;
  std::string failed;
  std::string received;
  std::string space = std::string(64 * 1024, 0);
  bool closed = false;
  bool writable = false;
  int error = 0;
  bool destroy_on_read = false;
  Peer* destroys = nullptr;  // whose stream it destroys when it reads
  bool expects = true;

  void on_connected(std::unique_ptr<Stream> s, Now) override { stream = std::move(s); }
  void on_dial_failed(DialFailure why, Now) override { failed = std::move(why.text); }
  std::span<std::byte> read_space() override { return std::as_writable_bytes(std::span(space)); }
  void on_read(std::size_t size, Now) override {
    received.append(space, 0, size);
    if (destroys != nullptr) destroys->stream.reset();
    if (destroy_on_read) stream.reset();
  }
  void on_writable(Now) override { writable = true; }
  bool expecting() const override { return expects; }
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
  std::unique_ptr<Dialer> dialer = make_tcp_dialer(*loop);
  std::unique_ptr<Dial> dial;
};

}  // namespace sheaf::socket

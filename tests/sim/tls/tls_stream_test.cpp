#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>

#include "socket/tls/tls_dialer.h"
#include "tests/sim/kit/sim_echo.h"
#include "tests/socket/tls/tls_fixture.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;
using socket::tls::MemoryServer;
using socket::tls::ServerTerms;

// What the server does and what it has seen.
struct Script {
  ServerTerms terms;
  bool silent = false;           // accepts and sends nothing
  std::size_t cut_after = ~0uz;  // sends this many bytes, then ends without close_notify
  int accepted = 0;              // connections
  int closed = 0;                // connections that the client ended with close_notify
  std::string received{};
};

// Echoes what it receives, over TLS. "Q" asks for an orderly end.
class TlsEcho final : public SimPeer {
 public:
  TlsEcho(SimConnection& connection, Script& script)
      : connection_(connection), script_(script), tls_(script.terms) {}
  std::size_t on_bytes(std::string_view bytes, Now) override {
    if (script_.silent || pending_.size() > 100'000) return 0;
    tls_.take(bytes);
    if (!tls_.received.empty()) {
      script_.received += tls_.received;
      const bool quit = tls_.received.ends_with('Q');
      tls_.say(tls_.received);
      tls_.received.clear();
      if (quit) tls_.close();
    }
    if (tls_.closed) ++script_.closed;
    pending_ += tls_.give();
    send();
    return bytes.size();
  }
  void on_writable(Now) override { send(); }
  void on_end(Now) override {}

 private:
  void send() {
    const std::size_t most = std::min(pending_.size(), script_.cut_after - sent_);
    const std::size_t taken = connection_.send(std::string_view(pending_).substr(0, most));
    pending_.erase(0, taken);
    sent_ += taken;
    if (sent_ == script_.cut_after) connection_.end();
  }

  SimConnection& connection_;
  Script& script_;
  MemoryServer tls_;
  std::string pending_;
  std::size_t sent_ = 0;
};

class TlsService final : public SimService {
 public:
  explicit TlsService(Script& script) : script_(script) {}
  std::unique_ptr<SimPeer> accept(SimConnection& connection, Now) override {
    ++script_.accepted;
    return std::make_unique<TlsEcho>(connection, script_);
  }
  void tick(Now) override {}
  Deadline next_tick() const override { return never; }

 private:
  Script& script_;
};

class TlsStreamTest : public socket::tls::TlsTest {
 protected:
  TlsStreamTest() {
    world.step_wall(std::chrono::seconds(test::certificate_time) - world.now().wall);
    host.faults.delay = 1ms;
  }
  void call(Caller& caller, std::chrono::nanoseconds limit = 5s) {
    caller.call(*dialer, "broker.example", 8883, world.now().mono + limit);
  }
  void connect(Caller& caller) {
    call(caller);
    ASSERT_TRUE(run([&] { return caller.stream != nullptr || !caller.failed.empty(); }));
    ASSERT_EQ(caller.failed, "");
  }
  std::string failure(std::chrono::nanoseconds limit = 5s) {
    Caller caller;
    call(caller, limit);
    EXPECT_TRUE(run([&] { return !caller.failed.empty() || caller.stream != nullptr; }));
    EXPECT_EQ(caller.closed, 0);
    return caller.failed;
  }
  bool run(const std::function<bool()>& done) { return world.run(world.now().mono + 60s, done); }
  void write_all(Caller& caller, std::string_view text) {
    while (!text.empty()) {
      const int before = caller.writable;
      text.remove_prefix(caller.write(text));
      if (text.empty()) return;
      EXPECT_EQ(caller.write("x"), 0u) << "until on_writable";
      ASSERT_TRUE(run([&] { return caller.writable > before || caller.closed > 0; }));
      ASSERT_EQ(caller.closed, 0);
    }
  }

  Script script{.terms = {.identity = &server}};
  SimWorld world{7};
  SimNetwork network{world};
  SimServer& host = network.add_server(
      "broker.example", 8883, [this](Now) { return std::make_unique<TlsService>(script); });
  SimLoop loop{world};
  std::unique_ptr<socket::Dialer> dialer =
      socket::tls::make_tls_dialer(loop, network.dialer(loop), files(trusting(ca)));
};

TEST_F(TlsStreamTest, AStreamComesWhenTheHandshakeIsVerified) {
  Caller caller;
  const Deadline begin = world.now().mono;
  connect(caller);
  EXPECT_EQ(caller.when.mono, begin + 4ms) << "two round trips";
  EXPECT_EQ(caller.write("hello"), 5u);
  ASSERT_TRUE(run([&] { return caller.received == "hello"; }));
}

// Our process stops before the connection is made, or during the handshake, for longer than the
// server had time.
TEST_F(TlsStreamTest, OurOwnPauseIsNotHeldAgainstTheHandshake) {
  for (const auto before_pause : {1ms, 3ms}) {
    Caller caller;
    call(caller, 1s);
    world.run_for(before_pause);
    loop.pause(3s);
    ASSERT_TRUE(run([&] { return caller.stream != nullptr || !caller.failed.empty(); }));
    EXPECT_EQ(caller.failed, "");
  }
}

TEST_F(TlsStreamTest, MuchGoesThroughANetworkThatDoesEverythingInPieces) {
  host.faults.window = 3'000;
  host.faults.max_piece = 700;
  host.faults.short_write = 0.5;
  Caller caller;
  connect(caller);
  std::string text;
  for (int i = 0; text.size() < 150'000; ++i) text += std::to_string(i) + ",";
  write_all(caller, text);
  ASSERT_TRUE(run([&] { return caller.received.size() >= text.size(); }));
  EXPECT_TRUE(caller.received == text);
  EXPECT_GT(caller.writable, 0);
}

TEST_F(TlsStreamTest, ASinkWithoutSpaceHoldsTheServerBackAndGetsAllOfItLater) {
  host.faults.window = 3'000;
  Caller caller;
  connect(caller);
  caller.reading = false;
  const std::string text(10'000, 'z');
  write_all(caller, text);
  world.run_for(1s);
  EXPECT_EQ(caller.received, "");
  caller.reading = true;
  ASSERT_TRUE(run([&] { return caller.received.size() == text.size(); }));
}

TEST_F(TlsStreamTest, ASmallSpaceIsFilledManyTimes) {
  Caller caller;
  connect(caller);
  caller.space_size = 10;
  write_all(caller, std::string(1'000, 's'));
  ASSERT_TRUE(run([&] { return caller.received.size() == 1'000; }));
  EXPECT_EQ(caller.reads.size(), 100u);
}

TEST_F(TlsStreamTest, AnOrderlyEndFollowsTheLastWords) {
  Caller caller;
  connect(caller);
  EXPECT_EQ(caller.write("bye Q"), 5u);
  ASSERT_TRUE(run([&] { return caller.closed > 0; }));
  EXPECT_EQ(caller.received, "bye Q");
  EXPECT_EQ(caller.error, 0);
  world.run_for(1s);
  EXPECT_EQ(caller.closed, 1);
}

TEST_F(TlsStreamTest, WhoDestroysTheStreamSaysGoodbye) {
  Caller caller;
  connect(caller);
  caller.stream.reset();
  ASSERT_TRUE(run([&] { return script.closed == 1; }));
  EXPECT_EQ(caller.closed, 0) << "after a destructor no sink is called";
}

TEST_F(TlsStreamTest, AResetIsReportedAsWhatItIs) {
  Caller caller;
  connect(caller);
  host.reset_all();
  ASSERT_TRUE(run([&] { return caller.closed > 0; }));
  EXPECT_EQ(caller.error, ECONNRESET);
}

// Wherever the server ends the connection without a close_notify, the client sees exactly one clear
// end.
TEST_F(TlsStreamTest, ACutAnywhereIsAFailedDialOrABrokenConnection) {
  int failed = 0;
  int broken = 0;
  for (std::size_t cut = 1; broken < 4 && cut < 100'000; cut += 7) {
    script.cut_after = cut;
    Caller caller;
    call(caller);
    ASSERT_TRUE(run([&] { return !caller.failed.empty() || caller.closed > 0; })) << cut;
    if (caller.closed > 0) {
      ASSERT_EQ(caller.error, EPROTO);
      ++broken;
    } else {
      ASSERT_EQ(caller.failed, "TLS: the server ended the connection during the handshake");
      ++failed;
    }
    world.run_for(100ms);
    ASSERT_EQ(caller.closed + (caller.failed.empty() ? 0 : 1), 1);
  }
  EXPECT_GT(failed, 50);
  EXPECT_GT(broken, 0);
}

TEST_F(TlsStreamTest, AServerThatIsNotTheRightOneFailsTheDial) {
  const test::Identity self = test::make_identity({}, nullptr);
  script.terms.identity = &self;
  EXPECT_EQ(failure(), "TLS: the server's certificate is self-signed and not trusted");
  EXPECT_EQ(script.received, "");
}

TEST_F(TlsStreamTest, ASilentServerIsGivenUpAtTheDeadline) {
  script.silent = true;
  const Deadline begin = world.now().mono;
  EXPECT_EQ(failure(200ms),
            "TLS: the server did not answer the handshake in time; a server without TLS may behave "
            "like this");
  EXPECT_EQ(world.now().mono, begin + 199ms) << "before the caller gives up and knows less";
}

TEST_F(TlsStreamTest, ARefusedConnectionIsReportedAsBefore) {
  host.crash();
  EXPECT_EQ(failure(), "connection refused");
}

TEST_F(TlsStreamTest, ADialThatIsDestroyedAtAnyMomentCallsNobody) {
  for (auto after = 0us; after < 6'000us; after += 250us) {
    Caller caller;
    call(caller);
    world.run_for(after);
    caller.dial.reset();
    const bool connected = caller.stream != nullptr;
    world.run_for(100ms);
    EXPECT_EQ(caller.stream != nullptr, connected);
    EXPECT_EQ(caller.failed, "");
    EXPECT_EQ(connected, after >= 4'000us) << after.count();
  }
}

// Tests life rule 6 in each of the calls.
struct Destroyer final : socket::StreamSink, socket::DialSink {
  std::unique_ptr<socket::Dial> dial;
  std::unique_ptr<socket::Stream> stream;
  bool at_once = false;
  int calls = 0;
  int error = 0;
  std::string why;
  std::string space = std::string(3, 0);
  void on_connected(std::unique_ptr<socket::Stream> made, Now) override {
    ++calls;
    if (!at_once) stream = std::move(made);
    dial.reset();
  }
  void on_dial_failed(socket::DialFailure, Now) override { ++calls, dial.reset(); }
  std::span<std::byte> read_space() override { return std::as_writable_bytes(std::span(space)); }
  void on_read(std::size_t, Now) override { ++calls, stream.reset(); }
  void on_writable(Now) override { ++calls, stream.reset(); }
  void on_closed(int code, Now) override {
    ++calls;
    error = code;
    why = stream->failure();
    stream.reset();
  }
};

TEST_F(TlsStreamTest, ASinkMayDestroyTheStreamInAnyCall) {
  const auto dial = [&](Destroyer& sink) {
    sink.dial = dialer->dial({"broker.example", 8883}, world.now().mono + 5s, sink, sink);
    ASSERT_TRUE(run([&] { return sink.calls == 1; }));
  };
  const auto ends = [&](Destroyer& sink, std::string_view text) {
    const Bytes parts[] = {as_bytes(text)};
    sink.stream->write(parts);
    ASSERT_TRUE(run([&] { return sink.calls == 2; }));
    world.run_for(100ms);
    EXPECT_EQ(sink.calls, 2);
  };
  Destroyer connected;
  connected.at_once = true;
  dial(connected);
  Destroyer reading;
  dial(reading);
  ends(reading, "hello");
  Destroyer writing;
  dial(writing);
  host.faults.window = 1'000;
  ends(writing, std::string(100'000, 'w'));
  host.faults.window = 256 * 1024;
  Destroyer closing;
  dial(closing);
  host.reset_all();
  ASSERT_TRUE(run([&] { return closing.calls == 2; }));
  const test::Identity self = test::make_identity({}, nullptr);
  script.terms.identity = &self;
  Destroyer failing;
  dial(failing);
  world.run_for(100ms);
  EXPECT_EQ(failing.calls, 1);
}

TEST_F(TlsStreamTest, ALaterConnectionResumesTheSession) {
  script.terms.tickets = true;
  for (int i = 0; i < 3; ++i) {
    Caller caller;
    const Deadline begin = world.now().mono;
    connect(caller);
    EXPECT_EQ(caller.when.mono, begin + 4ms);
    EXPECT_EQ(caller.write("hello"), 5u);
    ASSERT_TRUE(run([&] { return caller.received == "hello"; }));
    caller.stream.reset();
  }
  EXPECT_EQ(script.accepted, 3);
}

// Some servers demand certificates and have not named their sessions (OpenSSL,
// SSL_CTX_set_session_id_context): they issue tickets, and abort the handshake of any client that
// uses one.
TEST_F(TlsStreamTest, AServerThatDoesNotTakeItsOwnTicketsIsConnectedToWithoutThem) {
  script.terms.tickets = true;
  script.terms.client_ca = &ca;
  socket::tls::TlsOptions options = trusting(ca);
  options.certificate_file = file("own.pem", server.certificate_pem());
  options.key_file = file("own.key", server.key_pem());
  dialer = socket::tls::make_tls_dialer(loop, network.dialer(loop), files(options));
  for (const int connections : {1, 3, 4}) {
    Caller caller;
    connect(caller);
    EXPECT_EQ(caller.write("hello"), 5u);
    ASSERT_TRUE(run([&] { return caller.received == "hello"; }));
    EXPECT_EQ(script.accepted, connections);
    caller.stream.reset();
  }
}

TEST_F(TlsStreamTest, NewFilesAreTakenByTheNextDial) {
  const test::Identity other = test::make_authority("another authority");
  file("ca.pem", other.certificate_pem());
  dialer = socket::tls::make_tls_dialer(loop, network.dialer(loop), files(trusting(other)));
  EXPECT_THAT(failure(), testing::HasSubstr("leads to no trusted authority"));
  file("ca.pem", "nothing");
  EXPECT_THAT(failure(),
              testing::EndsWith("; new files were not taken: tls_ca " +
                                (folder / "ca.pem").string() + " has no certificate in PEM form"));
  file("ca.pem", ca.certificate_pem());
  Caller caller;
  connect(caller);
}

// The server's demand comes after the client's handshake in TLS 1.3.
TEST_F(TlsStreamTest, AClientWithoutACertificateHearsThatTheServerWantsOne) {
  script.terms.client_ca = &ca;
  Destroyer sink;
  sink.dial = dialer->dial({"broker.example", 8883}, world.now().mono + 5s, sink, sink);
  ASSERT_TRUE(run([&] { return sink.calls == 2; }));
  EXPECT_EQ(sink.error, EPROTO);
  EXPECT_EQ(sink.why, "TLS: the server requires a client certificate; set tls_cert and tls_key");
}

}  // namespace
}  // namespace sheaf::sim

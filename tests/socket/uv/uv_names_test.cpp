// Names with several addresses, and name servers that are slow.

#include <gmock/gmock.h>
#include <poll.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <stdexcept>

#include "tests/socket/uv/uv_fixture.h"
#include "tests/support/names.h"
#include "tests/support/silent_server.h"

namespace sheaf::socket {
namespace {

using test::Names;
using test::SilentServer;

constexpr const char* name = "several.sheaf.test";

class UvNamesTest : public UvLoopTest {
 protected:
  ~UvNamesTest() override { Names::instance().release(); }
  // At both addresses, on the same port, because a name cannot lead to another one.
  template <class First>
  void serve_at_second(std::optional<First>& first) {
    for (int tries = 0; !first; ++tries) {
      second.emplace("127.0.0.1");
      try {
        first.emplace("127.0.0.2", second->port());
      } catch (const std::runtime_error&) {  // another process has that port there
        if (tries == 10) throw;
      }
    }
    Names::instance().lead(name, {"127.0.0.2", "127.0.0.1"});
  }
  void dial_name(Peer& peer, std::chrono::nanoseconds time = 10s) {
    dial = dialer->dial({name, second->port()}, read_monotonic() + time, peer, peer);
    turn_until([&] { return peer.stream != nullptr || !peer.failed.empty(); });
    dial.reset();
  }
  static bool has_caller(int fd) {
    pollfd waiting{fd, POLLIN, 0};
    return ::poll(&waiting, 1, 0) == 1;
  }
  // The sockets of this process, "socket:[INODE]".
  static std::set<std::string> sockets() {
    std::set<std::string> found;
    for (const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;  // a descriptor that another thread has closed meanwhile
      std::string what = std::filesystem::read_symlink(file.path(), gone).string();
      if (what.starts_with("socket:")) found.insert(std::move(what));
    }
    return found;
  }

  std::optional<Listener> second;
};

TEST_F(UvNamesTest, AnAddressThatIsSilentDoesNotHideTheOther) {
  std::optional<SilentServer> first;
  serve_at_second(first);
  const std::set<std::string> before = sockets();
  Peer peer;
  dial_name(peer);
  EXPECT_NE(peer.stream, nullptr) << peer.failed;
  std::vector<std::string> made;
  const std::set<std::string> after = sockets();
  std::ranges::set_difference(after, before, std::back_inserter(made));
  EXPECT_THAT(made, testing::SizeIs(1)) << "the other attempts are over";
}

// The loop comes back long after the deadline, because the process was stopped.
TEST_F(UvNamesTest, OurOwnPauseIsNotHeldAgainstTheAddress) {
  std::optional<SilentServer> silent;
  serve_at_second(silent);
  Peer peer;
  dial = dialer->dial({"127.0.0.2", second->port()}, read_monotonic() - 300ms, peer, peer);
  loop->turn(read_monotonic());
  EXPECT_EQ(peer.failed, "");
  const Deadline back = read_monotonic();
  turn_until([&] { return !peer.failed.empty(); });
  EXPECT_EQ(peer.failed, "connect timed out");
  EXPECT_GE(read_monotonic() - back, 200ms) << "it gets the time of the pause";
}

TEST_F(UvNamesTest, AnAddressThatWasOvertakenIsNotWaitedForAgain) {
  std::optional<SilentServer> silent;
  serve_at_second(silent);
  Peer before;
  dial_name(before);
  ASSERT_NE(before.stream, nullptr) << before.failed;
  ::close(second->accept());
  silent.reset();
  const Listener first("127.0.0.2", second->port());
  Peer peer;
  dial_name(peer);
  ASSERT_NE(peer.stream, nullptr) << peer.failed;
  EXPECT_TRUE(has_caller(second->descriptor()));
  EXPECT_FALSE(has_caller(first.descriptor()));
}

TEST_F(UvNamesTest, AnAddressThatRefusesDoesNotHideTheOther) {
  second.emplace("127.0.0.1");
  Names::instance().lead(name, {"127.0.0.3", "127.0.0.1"});
  Peer peer;
  dial_name(peer);
  EXPECT_NE(peer.stream, nullptr) << peer.failed;
}

TEST_F(UvNamesTest, IfNoAddressAnswersTheReasonIsThatOfTheNearest) {
  std::optional<SilentServer> first;
  serve_at_second(first);
  second->close();
  Peer refused;
  Names::instance().lead(name, {"127.0.0.1", "127.0.0.3"});
  dial_name(refused);
  EXPECT_EQ(refused.failed, "Connection refused");
  Peer unreachable;
  Names::instance().lead(name, {"127.0.0.1", "255.255.255.255"});
  dial_name(unreachable);
  EXPECT_EQ(unreachable.failed, "Connection refused") << "our own lack of a route says less";
  Peer late;
  Names::instance().lead(name, {"127.0.0.1", "127.0.0.2"});
  dial_name(late, 100ms);
  EXPECT_TRUE(late.failed.starts_with("connect timed out")) << late.failed;
}

// A server that is stopped still accepts; only the session knows that nothing comes from it.
TEST_F(UvNamesTest, AnAddressThatWasUselessIsTriedAfterTheOthers) {
  std::optional<Listener> first;
  second.emplace("127.0.0.1");
  first.emplace("127.0.0.2", second->port());
  Names::instance().lead(name, {"127.0.0.2", "127.0.0.1"});
  Peer deaf;
  dial_name(deaf);
  ASSERT_NE(deaf.stream, nullptr) << deaf.failed;
  ASSERT_FALSE(has_caller(second->descriptor()));
  deaf.stream->found_useless();
  Peer peer;
  dial_name(peer);
  ASSERT_NE(peer.stream, nullptr) << peer.failed;
  EXPECT_TRUE(has_caller(second->descriptor()));
}

// Its outage must not become ours.
TEST_F(UvNamesTest, WhileTheNameServerIsSilentTheLastAddressesServe) {
  second.emplace("127.0.0.1");
  Names::instance().lead(name, {"127.0.0.1"});
  Peer before;
  dial_name(before);
  ASSERT_NE(before.stream, nullptr) << before.failed;
  Names::instance().hold();
  Peer peer;
  dial_name(peer);
  EXPECT_NE(peer.stream, nullptr) << peer.failed;
  Peer unknown;
  dial = dialer->dial({"unknown.sheaf.test", 1}, read_monotonic() + 100ms, unknown, unknown);
  turn_until([&] { return !unknown.failed.empty(); });
  EXPECT_EQ(unknown.failed, "name look-up timed out");
  dial.reset();
}

}  // namespace
}  // namespace sheaf::socket

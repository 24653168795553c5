// Three processes that want to lead, on every kind of server. The leader is killed, stopped, or its
// connections are cut, again and again: at no time may two write, and another leads soon. And
// campaigns that begin while their server is down.

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>

#include <sheaf/leader.h>

#include "tests/live/client/leader_judge.h"
#include "tests/live/client/lock_processes.h"
#include "tests/support/extent.h"
#include "tests/support/lent.h"
#include "tests/support/own_process.h"
#include "tests/support/wait_for_condition.h"
#ifdef SHEAF_TEST_BROKERS
#include "tests/support/broker_process.h"
#endif
#ifdef SHEAF_TEST_MEMCACHED_SERVERS
#include "tests/support/memcached_process.h"
#endif
#ifdef SHEAF_TEST_REDIS_SERVERS
#include "tests/support/garnet_process.h"
#include "tests/support/redis_process.h"
#endif

namespace sheaf::test {
namespace {

std::int64_t clock_now() { return Clock::now().time_since_epoch().count(); }

// ---- one process

// Ends its connections, as a network that fails does.
void cut_connections(int) {
  for (int fd = 3; fd < 256; ++fd) {
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) == 0 &&
        peer.ss_family == AF_INET) {
      ::shutdown(fd, SHUT_RDWR);
    }
  }
}

struct Office {
  std::string uri;
  std::chrono::milliseconds lease;
  bool usurped = false;  // by a process that never campaigns; none of them writes by its term then
};

void raise_count(LeaderJudge& judge, Client& client, LockGuard& term, const Office& office,
                 std::size_t process, std::uint32_t number_of_term) {
  const std::int64_t began = clock_now();
  const auto old = office.usurped ? client.get("{role}n") : term.read("{role}n");
  if (!old) return;
  const int next = number_in(*old) + 1;
  const std::string text = std::to_string(next);
  const auto written = office.usurped ? client.set("{role}n", text) : term.write("{role}n", text);
  if (written && written->stored) {
    judge.note(process, number_of_term, static_cast<std::size_t>(next), began);
  }
}

int hold_office(LeaderJudge& judge, const Office& office, std::size_t process) {
  // The parent's connections to servers that later tests borrow are not this process's to cut.
  ::close_range(3, ~0U, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGUSR1, cut_connections);
  Client client = open(office.uri);
  LeaderElection election(client, office.usurped && process == 0 ? "other" : "role",
                          {.holder = std::to_string(process), .lease = office.lease});
  while (!judge.over) {
    const auto elected = election.campaign({.wait = 500ms});
    if (!elected || !*elected) continue;
    const std::uint32_t number = judge.begin_term();
    const auto term = election.term();
    while (!judge.over && term->held()) {
      raise_count(judge, client, *term, office, process, number);
      wait_out(1ms);
    }
  }
  return 0;
}

// The first requests of a server that compiles itself while it runs take longer than a lease.
int warm_up(const Office& office) {
  Client client = open(office.uri);
  Locker locker(client);
  for (int i = 0; i < 20; ++i) {
    auto term = locker.lock("warm", {.wait = 30s});
    if (!term || !term->read("{warm}n") || !term->write("{warm}n", "1")) return 1;
  }
  return 0;
}

// ---- the servers

class LeaderServer {
 public:
  virtual ~LeaderServer() = default;
  virtual std::string uri() const = 0;
  virtual void kill() = 0;
  virtual void restart() = 0;
};

template <class Server>
class Borrowed final : public LeaderServer {
 public:
  explicit Borrowed(const char* scheme) : scheme_(scheme) {}
  std::string uri() const override {
    return scheme_ + std::string("://127.0.0.1:") + std::to_string(server_->port()) +
           "?timeout=1s&connect_timeout=1s";
  }
  void kill() override { server_.to_break().kill(); }
  void restart() override { server_.to_break().restart(); }

 private:
  const char* scheme_;
  Lent<Server> server_;
};

#ifdef SHEAF_TEST_REDIS_SERVERS
class OwnGarnet final : public LeaderServer {
 public:
  std::string uri() const override {
    return "redis://127.0.0.1:" + std::to_string(server_.port()) + "?timeout=1s&connect_timeout=1s";
  }
  void kill() override { server_.kill(); }
  void restart() override { server_.restart(); }

 private:
  GarnetProcess server_;
};
#endif

struct ServerOfLeaders {
  const char* name;
  std::unique_ptr<LeaderServer> (*make)();
  std::chrono::milliseconds lease;
  bool (*installed)() = [] { return true; };
};

template <class Server>
std::unique_ptr<LeaderServer> borrow(const char* scheme) {
  return std::make_unique<Borrowed<Server>>(scheme);
}

std::vector<ServerOfLeaders> servers_of_leaders() {
  std::vector<ServerOfLeaders> all;
#ifdef SHEAF_TEST_BROKERS
  all.push_back({"Brokers", [] { return borrow<BrokerProcess>("mqtt"); }, 300ms});
#endif
#ifdef SHEAF_TEST_MEMCACHED_SERVERS
  all.push_back({"Memcached", [] { return borrow<MemcachedProcess>("memcached"); }, 1s});
#endif
#ifdef SHEAF_TEST_REDIS_SERVERS
  all.push_back({"RedisServers", [] { return borrow<RedisProcess>("redis"); }, 300ms});
  all.push_back({"Garnet",
                 [] { return std::unique_ptr<LeaderServer>(std::make_unique<OwnGarnet>()); }, 1s,
                 [] { return is_installed(RespSoftware::garnet); }});
#endif
  return all;
}

class Leaders : public testing::TestWithParam<ServerOfLeaders> {
 protected:
  void SetUp() override {
    if (!GetParam().installed()) GTEST_SKIP() << "not installed";
    if (may_fork()) server = GetParam().make();
  }
  // A new leader has this long.
  std::chrono::milliseconds limit() const { return GetParam().lease + 1s; }
  std::unique_ptr<LeaderServer> server;  // null: the test is over
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Leaders);
INSTANTIATE_TEST_SUITE_P(On, Leaders, testing::ValuesIn(servers_of_leaders()),
                         [](const auto& test) { return test.param.name; });

// ---- the test's process

class Offices {
 public:
  Offices(LeaderJudge& judge, Office office) : judge_(judge), office_(std::move(office)) {
    EXPECT_EQ(wait_for(start_process([&] { return warm_up(office_); })), 0);
    for (std::size_t i = 0; i < pids_.size(); ++i) start(i);
  }
  ~Offices() {
    for (const pid_t pid : pids_) {
      if (pid == 0) continue;
      ::kill(pid, SIGKILL);
      wait_for(pid);
    }
  }
  Offices(const Offices&) = delete;
  Offices& operator=(const Offices&) = delete;

  std::size_t leader() const { return static_cast<std::size_t>(judge_.leader.load()); }
  // Harms the leader. Returns how long it took until another wrote; after a cut, until anyone did.
  Clock::duration harm(int signal) {
    const std::size_t harmed = leader();
    const std::int64_t since = clock_now();
    ::kill(pids_[harmed], signal);
    wait_for_condition("a new leader", [&] {
      for (std::size_t i = 0; i < pids_.size(); ++i) {
        if ((signal == SIGUSR1 || i != harmed) && judge_.writes[i] > since) return true;
      }
      return false;
    });
    const auto took = std::chrono::nanoseconds(clock_now() - since);
    if (signal == SIGSTOP) ::kill(pids_[harmed], SIGCONT);
    if (signal == SIGKILL) {
      EXPECT_TRUE(WIFSIGNALED(wait_for(pids_[harmed])));
      start(harmed);
    }
    return took;
  }
  void end() {
    judge_.over = true;
    for (pid_t& pid : pids_) EXPECT_EQ(wait_for(std::exchange(pid, 0)), 0);
  }

 private:
  void start(std::size_t i) {
    pids_[i] = start_process([&] { return hold_office(judge_, office_, i); });
  }

  LeaderJudge& judge_;
  const Office office_;
  std::array<pid_t, LeaderJudge::processes> pids_{};
};

TEST_P(Leaders, ThatAreKilledStoppedOrCutOffNeverWriteBesideTheNextWhichComesSoon) {
  if (server == nullptr) return;
  LeaderJudge& judge = LeaderJudge::make();
  Offices offices(judge, {server->uri(), GetParam().lease});
  wait_for_condition("a first leader", [&] { return judge.leader >= 0; });
  std::vector<Clock::duration> times;
  const std::uint64_t rounds = std::max<std::uint64_t>(extent_of(5), 3);
  for (std::uint64_t i = 0; i < rounds; ++i) {
    times.push_back(offices.harm(std::array{SIGSTOP, SIGKILL, SIGUSR1}[i % 3]));
  }
  offices.end();
  EXPECT_EQ(judge.findings(), "");
  EXPECT_GT(judge.terms(), rounds / 2);
  std::ranges::sort(times);
  const auto ms = [](Clock::duration time) { return static_cast<int>(time / 1ms); };
  RecordProperty("median_ms", ms(times[times.size() / 2]));
  RecordProperty("longest_ms", ms(times.back()));
  // A busy machine delays some rounds, so the median counts.
  EXPECT_LT(times[times.size() / 2], limit() * slowness);
}

TEST_P(Leaders, AreJudgedByWhatFindsOneThatNeverCampaigned) {
  if (server == nullptr) return;
  LeaderJudge& judge = LeaderJudge::make();
  Offices offices(judge, {server->uri(), GetParam().lease, true});
  wait_for_condition("two that write", [&] { return !judge.findings().empty(); });
  offices.end();
}

TEST(LeaderJudge, FindsANumberWrittenTwiceAndATermThatComesBack) {
  LeaderJudge& twice = LeaderJudge::make();
  twice.note(0, 1, 7, 0);
  EXPECT_EQ(twice.findings(), "");
  twice.note(1, 2, 7, 0);
  EXPECT_EQ(twice.findings(), "two writes of 7 were acknowledged");
  LeaderJudge& back = LeaderJudge::make();
  for (const auto& [term, number] : {std::pair{1u, 1u}, {1u, 2u}, {2u, 3u}, {3u, 5u}}) {
    back.note(0, term, number, 0);
  }
  EXPECT_EQ(back.findings(), "");
  back.note(0, 1, 4, 0);
  EXPECT_EQ(back.findings(), "term 1 wrote 4 after a later term had written");
}

// Locker::lock without a wait gives up after a second here.
TEST_P(Leaders, ACampaignGoesOnUntilItsServerIsBack) {
  if (server == nullptr) return;
  Client client = open(server->uri());
  LeaderElection blocking(client, "role", {.holder = "A", .lease = GetParam().lease});
  LeaderElection asynchronous(client, "{role}2", {.holder = "B", .lease = GetParam().lease});
  server->kill();
  EXPECT_EQ(blocking.campaign({.wait = 200ms}).error().outcome, Outcome::not_sent);
  auto elected = asynchronous.async().campaign().future();
  std::thread campaigning([&] { EXPECT_TRUE(blocking.campaign().value()); });
  wait_out(1500ms);
  EXPECT_EQ(elected.wait_for(0s), std::future_status::timeout);
  server->restart();
  campaigning.join();
  EXPECT_TRUE(elected.get().value());
  EXPECT_EQ(asynchronous.leader().value().holder, "B");
}

#ifdef SHEAF_TEST_REDIS_SERVERS
// Out of memory: an answer that ends Locker::lock at once.
TEST(RedisLeaders, AServerThatRefusesForAWhileIsAskedAgain) {
  Lent<RedisProcess> server;
  Client client = open("redis://127.0.0.1:" + std::to_string(server->port()));
  const auto limit_memory = [&](const char* bytes) {
    client.execute({"CONFIG", "SET", "maxmemory", bytes}).value();
  };
  limit_memory("1");
  EXPECT_EQ(Locker(client).lock("role").error().reason, Reason::quota);
  LeaderElection blocking(client, "role");
  LeaderElection asynchronous(client, "role2");
  EXPECT_EQ(blocking.campaign({.wait = 100ms}).error().reason, Reason::quota);
  EXPECT_EQ(asynchronous.async().campaign({.wait = 100ms}).future().get().error().reason,
            Reason::quota);
  std::stop_source source;
  const std::stop_token stop = source.get_token();
  auto stopped = asynchronous.async().campaign({.stop = &stop}).future();
  EXPECT_EQ(stopped.wait_for(50ms), std::future_status::timeout);
  source.request_stop();
  EXPECT_EQ(stopped.get().error().reason, Reason::cancelled);
  auto elected = asynchronous.async().campaign().future();
  std::thread campaigning([&] { EXPECT_TRUE(blocking.campaign().value()); });
  wait_out(200ms);
  EXPECT_EQ(elected.wait_for(0s), std::future_status::timeout);
  limit_memory("0");
  campaigning.join();
  EXPECT_TRUE(elected.get().value());
}
#endif

}  // namespace
}  // namespace sheaf::test

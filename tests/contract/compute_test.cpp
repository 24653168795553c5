// get_or_compute on every endpoint: one computation for all callers that miss, and what happens
// when the computing caller fails, is slow or is killed.

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <latch>
#include <stdexcept>
#include <thread>

#include <sheaf/client.h>

#include "tests/contract/endpoints.h"
#include "tests/support/own_process.h"
#include "tests/support/sanitized.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;

// Pauses of waiting callers and of the machine.
constexpr auto pauses = 2s * test::slowness;
using Clock = std::chrono::steady_clock;

class Computing : public test::OnEndpoint {};

INSTANTIATE_TEST_SUITE_P(On, Computing, testing::ValuesIn(test::all_factories()),
                         [](const auto& test) { return test.param.name; });

// Endpoints that other processes can reach, too.
class ComputingInProcesses : public Computing {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ComputingInProcesses);
std::vector<test::EndpointFactory> shared_factories() {
  auto factories = test::all_factories();
  std::erase_if(factories, [](const auto& each) { return each.name.starts_with("Embedded"); });
  return factories;
}
INSTANTIATE_TEST_SUITE_P(On, ComputingInProcesses, testing::ValuesIn(shared_factories()),
                         [](const auto& test) { return test.param.name; });

TEST_P(Computing, AMissIsComputedAndStoredAHitIsRead) {
  int computed = 0;
  const auto compute = [&] { return "made " + std::to_string(++computed); };
  const auto first = client->get_or_compute("{key}", {}, compute);
  ASSERT_TRUE(first) << first.error().message();
  EXPECT_EQ(first->data, "made 1");
  EXPECT_EQ(client->get("{key}").value()->data, "made 1");
  EXPECT_EQ(client->get("{key}").value()->version, first->version);
  EXPECT_EQ(client->get_or_compute("{key}", {}, compute).value().data, "made 1");
  EXPECT_EQ(computed, 1);
  EXPECT_FALSE(client->get("{key}:sheaf-lease").value().has_value());
}

TEST_P(Computing, AnEmptyValueIsAValue) {
  int computed = 0;
  const auto compute = [&] { return ++computed, std::string(); };
  EXPECT_EQ(client->get_or_compute("key", {}, compute).value().data, "");
  EXPECT_EQ(client->get_or_compute("key", {}, compute).value().data, "");
  EXPECT_EQ(computed, 1);
}

TEST_P(Computing, TwoHundredThreadsThatMissOneKeyComputeItOnce) {
  std::atomic<int> computed = 0;
  std::atomic<int> wrong = 0;
  std::latch together(200);
  std::vector<std::thread> crowd;
  for (int i = 0; i < 200; ++i) {
    crowd.emplace_back([&] {
      together.arrive_and_wait();
      const auto got = client->get_or_compute("key", {.timeout = 20s},
                                              [&] { return ++computed, std::string("made"); });
      if (!got || got->data != "made") ++wrong;
    });
  }
  for (std::thread& thread : crowd) thread.join();
  EXPECT_EQ(computed, 1);
  EXPECT_EQ(wrong, 0);
}

TEST_P(Computing, TwoClientsComputeItOnceAsTwoProcessesWould) {
  Client other = test::open(endpoint->uri());
  std::atomic<int> computed = 0;
  std::latch begun(1);
  std::latch asked(1);
  std::thread second([&] {
    begun.wait();
    asked.count_down();
    const auto got = other.get_or_compute("key", {.timeout = 20s},
                                          [&] { return ++computed, std::string("second"); });
    EXPECT_EQ(got.value().data, "first");
  });
  const auto got = client->get_or_compute("key", {.timeout = 20s}, [&] {
    begun.count_down();
    asked.wait();
    return ++computed, std::string("first");
  });
  EXPECT_EQ(got.value().data, "first");
  second.join();
  EXPECT_EQ(computed, 1);
}

TEST_P(Computing, AnExceptionIsItsCallersAndTheNextInLineComputes) {
  std::latch begun(1);
  std::latch waits(1);
  std::thread next([&] {
    begun.wait();
    waits.count_down();
    const auto got =
        client->get_or_compute("key", {.timeout = 20s}, [] { return std::string("made"); });
    EXPECT_EQ(got.value().data, "made");
  });
  const auto start = Clock::now();
  EXPECT_THROW((void)client->get_or_compute("key", {.lease = 60s, .timeout = 20s},
                                            [&]() -> std::string {
                                              begun.count_down();
                                              waits.wait();
                                              throw std::runtime_error("no database");
                                            }),
               std::runtime_error);
  next.join();
  EXPECT_LT(Clock::now() - start, 10s);  // the lease was given back
  EXPECT_EQ(client->get("key").value()->data, "made");
}

TEST_P(Computing, WhoWaitsEndsAtItsOwnDeadline) {
  std::latch begun(1);
  std::latch over(1);
  std::thread slow([&] {
    const auto got = client->get_or_compute("key", {.timeout = 20s}, [&] {
      begun.count_down();
      over.wait();
      return std::string("made");
    });
    EXPECT_EQ(got.value().data, "made");
  });
  begun.wait();
  const auto got =
      client->get_or_compute("key", {.timeout = 1s}, [] { return std::string("wrong"); });
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().reason, Reason::timed_out);
  EXPECT_EQ(got.error().outcome, Outcome::not_sent);
  over.count_down();
  slow.join();
}

TEST_P(Computing, AValueThatCannotBeStoredIsReturnedAndTheLeaseGivenBack) {
  const std::string large((16u << 20) + 1, 'x');
  const auto first =
      client->get_or_compute("key", {.lease = 60s, .timeout = 20s}, [&] { return large; });
  ASSERT_TRUE(first) << first.error().message();
  EXPECT_TRUE(first->data == large);
  EXPECT_TRUE(first->version.empty());
  const auto start = Clock::now();
  EXPECT_EQ(client->get_or_compute("key", {.timeout = 20s}, [] { return std::string("small"); })
                .value()
                .data,
            "small");
  EXPECT_LT(Clock::now() - start, 10s);
}

TEST_P(Computing, WhoOutlivesItsLeaseChangesNothingThatAnotherStored) {
  Client other = test::open(endpoint->uri());
  const auto late = client->get_or_compute("key", {.lease = 1s, .timeout = 20s}, [&] {
    EXPECT_EQ(other.get_or_compute("key", {.timeout = 20s}, [] { return std::string("newer"); })
                  .value()
                  .data,
              "newer");
    return std::string("older");
  });
  EXPECT_EQ(late.value().data, "older");
  EXPECT_TRUE(late.value().version.empty());
  EXPECT_EQ(client->get("key").value()->data, "newer");
}

TEST_P(Computing, BadArgumentsAreRefusedBeforeAnythingIsAsked) {
  const auto compute = [] { return std::string("x"); };
  const auto refused = [](const Result<Value>& result) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().outcome, Outcome::invalid);
    EXPECT_EQ(result.error().reason, Reason::bad_argument);
  };
  refused(client->get_or_compute("", {}, compute));
  refused(client->get_or_compute("key", {.lease = 0ms}, compute));
  const Result<Value> longest = client->get_or_compute("key", {.lease = 25h}, compute);
  refused(longest);
  EXPECT_EQ(longest.error().text, "the lease is 25h; it must be 1 ms to 24 h");
  refused(client->get_or_compute("key", {.ttl = 0ms}, compute));
  refused(client->get_or_compute("key", {.timeout = 0ms}, compute));
  refused(client->get_or_compute("key", {}, nullptr));
  EXPECT_FALSE(client->get("key").value().has_value());
}

// A child process that computes and never returns. Its constructor waits until it has begun.
class Process {
 public:
  Process(const std::string& uri, std::chrono::seconds lease) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      Client client = test::open(uri);
      (void)client.get_or_compute("key", {.lease = lease, .timeout = 20s}, [&]() -> std::string {
        static_cast<void>(::write(ends[1], "x", 1));
        for (;;) ::pause();
      });
      ::_exit(0);
    }
    ::close(ends[1]);
    pollfd begun{ends[0], POLLIN, 0};
    if (::poll(&begun, 1, 20'000) != 1) throw std::runtime_error("the process did not begin");
    ::close(ends[0]);
  }
  ~Process() { kill(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
};

TEST_P(ComputingInProcesses, AProcessThatIsKilledWhileItComputesDelaysOthersByItsLeaseAtMost) {
  if (!test::may_fork()) return;
  client.reset();  // no other thread may run during fork()
  constexpr auto lease = 2s;
  const auto start = Clock::now();
  Process computing(endpoint->uri(), lease);
  client.emplace(test::open(endpoint->uri()));
  const auto early =
      client->get_or_compute("key", {.timeout = 100ms}, [] { return std::string("wrong"); });
  EXPECT_FALSE(early);  // it computes, so no other caller does
  computing.kill();
  const auto got =
      client->get_or_compute("key", {.timeout = 20s}, [] { return std::string("made"); });
  ASSERT_TRUE(got) << got.error().message();
  EXPECT_EQ(got->data, "made");
  EXPECT_LT(Clock::now() - start, lease + pauses);
}

}  // namespace
}  // namespace sheaf

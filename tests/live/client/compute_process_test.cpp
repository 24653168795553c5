// get_or_compute between processes: many callers miss one key at once, and a process is killed
// while all others wait for its result.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sheaf/client.h>

#include "tests/contract/endpoints.h"
#include "tests/support/own_process.h"
#include "tests/support/sanitized.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// The longest pauses of waiting callers and of the machine.
constexpr auto pauses = 2s * test::slowness;

// Bytes from child processes to this one, or in the other direction.
class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_, O_CLOEXEC) != 0) throw std::runtime_error("no pipe could be made");
  }
  ~Pipe() {
    close_in();
    ::close(ends_[0]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void report() const {
    if (::write(ends_[1], "x", 1) != 1) std::abort();
  }
  // True if `count` reports have come within 20 s.
  bool wait_for(int count) const {
    for (char byte = 0; count > 0; --count) {
      pollfd ready{ends_[0], POLLIN, 0};
      if (::poll(&ready, 1, 20'000) != 1 || ::read(ends_[0], &byte, 1) != 1) return false;
    }
    return true;
  }
  // Waits until no process can report any more. Returns how many reports arrived.
  int count() {
    close_in();
    int reports = 0;
    for (char byte = 0; ::read(ends_[0], &byte, 1) == 1;) ++reports;
    return reports;
  }
  void close_in() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  int ends_[2] = {-1, -1};
};

// A child process, killed with the object.
class Process {
 public:
  template <class Work>
  explicit Process(const Work& work) : pid_(::fork()) {
    if (pid_ < 0) throw std::runtime_error("no process could be started");
    if (pid_ > 0) return;
    int code = 99;
    try {
      code = work();
    } catch (const std::exception& error) {
      static_cast<void>(std::fprintf(stderr, "process: %s\n", error.what()));
    }
    ::_exit(code);
  }
  ~Process() { kill(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // The exit code, or the status of waitpid if the process did not exit by itself.
  int end() {
    int status = 0;
    EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : status;
  }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    end();
  }

 private:
  pid_t pid_;
};

// Shared by the processes of a test.
struct Meeting {
  std::string uri;
  Pipe here;      // each thread reports before it asks
  Pipe go;        // they ask when it is closed
  Pipe computed;  // each computation reports
};

// Runs `size` threads of one client that all ask for the key. Returns how many did not get it.
int crowd(Meeting& meeting, int size) {
  meeting.go.close_in();
  Client client = test::open(meeting.uri);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < size; ++i) {
    threads.emplace_back([&] {
      meeting.here.report();
      static_cast<void>(meeting.go.wait_for(1));
      const auto got = client.get_or_compute("key", {.timeout = 20s}, [&] {
        meeting.computed.report();
        ::poll(nullptr, 0, 50);  // so that the others arrive meanwhile
        return std::string("made");
      });
      if (!got || got->data != "made") ++wrong;
    });
  }
  for (std::thread& thread : threads) thread.join();
  return wrong;
}

class ComputingProcesses : public testing::TestWithParam<test::EndpointFactory> {
 protected:
  void SetUp() override {
    endpoint_ = GetParam().make();
    meeting.uri = endpoint_->uri();
  }
  // No client is open in this process, because fork() must not meet other threads.
  void start_crowds(int processes, int threads) {
    for (int i = 0; i < processes; ++i) {
      crowds_.push_back(
          std::make_unique<Process>([this, threads] { return crowd(meeting, threads); }));
    }
  }
  void expect_all_served_by_one_computation() {
    for (const auto& process : crowds_) EXPECT_EQ(process->end(), 0) << "callers without the value";
    EXPECT_EQ(meeting.computed.count(), 1);
    EXPECT_EQ(test::open(meeting.uri).get("key").value()->data, "made");
  }
  Meeting meeting;

 private:
  std::unique_ptr<test::Endpoint> endpoint_;
  std::vector<std::unique_ptr<Process>> crowds_;
};

// An embedded engine belongs to one process, so it has nothing to test here.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ComputingProcesses);
std::vector<test::EndpointFactory> factories() {
  auto all = test::all_factories();
  std::erase_if(all, [](const auto& each) { return each.name.starts_with("Embedded"); });
  return all;
}
INSTANTIATE_TEST_SUITE_P(On, ComputingProcesses, testing::ValuesIn(factories()),
                         [](const auto& test) { return test.param.name; });

TEST_P(ComputingProcesses, TwoHundredThreadsOfFourComputeAKeyOnce) {
  if (!test::may_fork()) return;
  start_crowds(4, 50);
  ASSERT_TRUE(meeting.here.wait_for(200));
  meeting.go.close_in();
  expect_all_served_by_one_computation();
}

TEST_P(ComputingProcesses, OneThatIsKilledDelaysAllWhoWaitByItsLeaseAtMost) {
  if (!test::may_fork()) return;
  constexpr auto lease = 2s;
  Pipe begun;
  Process computing([&]() -> int {
    meeting.go.close_in();
    Client client = test::open(meeting.uri);
    (void)client.get_or_compute("key", {.lease = lease, .timeout = 20s}, [&]() -> std::string {
      begun.report();
      for (;;) ::pause();
    });
    return 0;
  });
  ASSERT_TRUE(begun.wait_for(1));
  const auto lease_ends = Clock::now() + lease;  // or earlier
  start_crowds(2, 20);
  ASSERT_TRUE(meeting.here.wait_for(40));
  meeting.go.close_in();
  const auto asked = Clock::now();
  ::poll(nullptr, 0, 300);  // they ask and wait
  computing.kill();
  expect_all_served_by_one_computation();
  EXPECT_LT(Clock::now(), std::max(lease_ends, asked) + pauses);
}

}  // namespace
}  // namespace sheaf

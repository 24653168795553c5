// Holders in processes of their own that are stopped past their lease, on every kind of server that
// processes can share. However long a holder was stopped, it neither extends nor releases the next
// holder's lock, and no increment of a counter is lost.

#include "tests/live/client/lock_processes.h"
#include "tests/support/own_process.h"

namespace sheaf::test {
namespace {

std::vector<EndpointFactory> servers() {
  auto all = all_factories();
  std::erase_if(all, [](const auto& factory) { return factory.name.starts_with("Embedded"); });
  return all;
}

class StoppedHolders : public testing::TestWithParam<EndpointFactory> {
 protected:
  const std::unique_ptr<Endpoint> endpoint = GetParam().make();
  const std::string uri = endpoint->uri();
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StoppedHolders);
INSTANTIATE_TEST_SUITE_P(On, StoppedHolders, testing::ValuesIn(servers()),
                         [](const auto& test) { return test.param.name; });

TEST_P(StoppedHolders, NeitherExtendNorReleaseTheNextHoldersLock) {
  if (!may_fork()) return;
  const pid_t holder = start_process([&] {
    Client client = open(uri);
    Locker locker(client, {.lease = 300ms});
    auto guard = locker.lock("press", {.wait = 10s});
    if (!guard) return 1;
    raise(SIGSTOP);
    // Its renewal is long overdue. This release is what the destructor would do.
    const auto released = guard->release();
    return guard->held() || (released && *released) ? 2 : 0;
  });
  ASSERT_TRUE(WIFSTOPPED(wait_for(holder)));
  Client client = open(uri);
  Locker locker(client, {.lease = 5s * slowness});
  const auto next = locker.lock("press", {.wait = 30s});
  ASSERT_TRUE(next) << next.error().message();
  const std::string ours = client.get("press").value()->data;
  kill(holder, SIGCONT);
  const int status = wait_for(holder);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(next->held());
  EXPECT_EQ(client.get("press").value()->data, ours) << "still the next holder's";
}

// Makes increments, each under a new lock. Stops itself twice between a read and its write.
int count(const std::string& uri, int increments) {
  Client client = open(uri);
  Locker locker(client, {.lease = 300ms});
  for (int done = 0, tries = 0; done < increments;) {
    auto guard = locker.lock("sum", {.wait = 30s});
    if (!guard) continue;
    const auto old = guard->read("{sum}n");
    if (!old) continue;
    if (++tries == increments / 3 || tries == increments * 2 / 3) raise(SIGSTOP);
    const auto written = guard->write("{sum}n", std::to_string(number_in(*old) + 1));
    if (written && written->stored) ++done;
  }
  return 0;
}

TEST_P(StoppedHolders, LoseNoAcknowledgedIncrementOfACounter) {
  if (!may_fork()) return;
  constexpr int processes = 4;
  constexpr int increments = each / 10;
  std::vector<pid_t> pids;
  for (int i = 0; i < processes; ++i) {
    pids.push_back(start_process([&] { return count(uri, increments); }));
  }
  EXPECT_EQ(herd(pids, 1s), 2 * processes);
  Client client = open(uri);
  EXPECT_GE(number_in(client.get("{sum}n").value()), processes * increments)
      << "writes that ended unknown may add to it";
}

}  // namespace
}  // namespace sheaf::test

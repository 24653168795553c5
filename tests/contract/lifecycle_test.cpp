// Opening, closing, forking: every callback exactly once, whatever is in flight.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <thread>

#include <sheaf/async.h>
#include <sheaf/client.h>

#include "base/random.h"
#include "tests/contract/endpoints.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;

TEST(Lifecycle, AnOpenedClientThatIsNeverUsedClosesAtOnce) {
  for (int i = 0; i < 20; ++i) test::open("embedded://3?name=unused");
}

TEST(Lifecycle, DestroyingAClientWithWorkInFlightCompletesEveryCallbackOnce) {
  Random random(3);
  for (int round = 0; round < 60; ++round) {
    std::atomic<int> started = 0;
    std::atomic<int> ended = 0;
    {
      Client client = test::open("embedded://3?name=lifecycle");
      const int operations = static_cast<int>(random.below(200));
      for (int i = 0; i < operations; ++i) {
        ++started;
        client.async().get("key/" + std::to_string(i)).then([&](Result<GetResult>) { ++ended; });
        if (random.below(20) == 0) std::this_thread::yield();
      }
    }
    ASSERT_EQ(started, ended);
  }
}

// An AsyncClient may outlive its Client, so its calls may race with the end.
TEST(Lifecycle, CallsOfAnAsyncClientDuringTheEndCompleteEveryCallbackOnce) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> started = 0;
    std::atomic<int> ended = 0;
    auto client = std::make_unique<Client>(test::open("embedded://1?name=async-end"));
    const AsyncClient async = client->async();
    std::latch ready(3);
    const auto calls = [&](bool batches) {
      std::atomic<int> own_started = 0;
      std::atomic<int> own_ended = 0;
      std::atomic<bool> over = false;
      ready.arrive_and_wait();
      while (!over) {
        ++own_started;
        if (batches) {
          const std::string_view keys[] = {"a", "b"};
          async.get_many(keys).then([&](const AsyncClient::Gets& got) {
            if (!got[0].result) over = true;
            ++own_ended;
          });
        } else {
          async.get("k").then([&](const Result<GetResult>& got) {
            if (!got) over = true;
            ++own_ended;
          });
        }
      }
      while (own_started > own_ended) std::this_thread::yield();
      started += own_started;
      ended += own_ended;
    };
    std::thread single(calls, false);
    std::thread batch(calls, true);
    ready.arrive_and_wait();
    client.reset();
    single.join();
    batch.join();
    ASSERT_EQ(started, ended);
  }
}

TEST(Lifecycle, WorkForAnUnreachableNodeIsCompletedWhenTheClientGoes) {
  std::atomic<int> ended = 0;
  {
    Client client = test::open("mqtt://127.0.0.1:1");
    for (int i = 0; i < 50; ++i) {
      client.async().set("k", "v").then([&](Result<SetResult> result) {
        EXPECT_FALSE(result);
        EXPECT_TRUE(result.error().outcome == Outcome::not_sent ||
                    result.error().outcome == Outcome::shutdown);
        ++ended;
      });
    }
  }
  EXPECT_EQ(ended, 50);
}

TEST(Lifecycle, AClientMayBeDestroyedFromItsOwnCallback) {
  for (int round = 0; round < 30; ++round) {
    std::latch gone(1);
    std::atomic<int> ended = 0;
    auto* client = new Client(test::open("embedded://3?name=own"));
    for (int i = 0; i < 20; ++i) client->async().get("x").then([&](Result<GetResult>) { ++ended; });
    client->async().get("y").then([&, client](Result<GetResult>) {
      delete client;
      ++ended;
      gone.count_down();
    });
    gone.wait();
    EXPECT_EQ(ended, 21);
  }
}

TEST(Lifecycle, ACallbackThatStartsMoreWorkDuringTheEndGetsAResult) {
  std::atomic<int> ended = 0;
  {
    Client client = test::open("embedded://1?name=more");
    for (int i = 0; i < 100; ++i) {
      client.async().get("x").then([&](Result<GetResult>) {
        ++ended;
        const auto late = client.get("y");
        EXPECT_TRUE(late || late.error().outcome == Outcome::shutdown) << late.error().message();
      });
    }
  }
  EXPECT_EQ(ended, 100);
}

TEST(Lifecycle, AnExecutorRunsTheCallbacks) {
  std::mutex mutex;
  std::vector<std::function<void()>> jobs;
  ClientOptions options;
  options.executor = [&](std::function<void()> job) {
    const std::scoped_lock lock(mutex);
    jobs.push_back(std::move(job));
  };
  std::atomic<int> ended = 0;
  {
    Client client = test::open("embedded://1?name=executor", options);
    for (int i = 0; i < 10; ++i) client.async().get("x").then([&](Result<GetResult>) { ++ended; });
    client.get("x").value();
    std::vector<std::function<void()>> some;
    {
      const std::scoped_lock lock(mutex);
      some.swap(jobs);
    }
    for (auto& job : some) job();
  }
  EXPECT_EQ(ended, 10);
  for (auto& job : jobs) job();  // too late: they find no work
  EXPECT_EQ(ended, 10);
}

TEST(Lifecycle, AForkedChildIsRefusedAndTheParentGoesOn) {
  Client client = test::open("embedded://3?name=fork");
  client.set("k", "v").value();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto got = client.get("k");
    const bool refused_as_forked = !got && got.error().reason == Reason::forked;
    {
      const Client dying = std::move(client);
    }
    _exit(refused_as_forked ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(client.get("k").value()->data, "v");
}

TEST(Lifecycle, BadConfigurationsAreOneSentenceEach) {
  for (const char* uri :
       {"", "mqtt://", "http://a", "mqtts://a?tls_ca=none", "rediss://a?tls_key=none",
        "mqtt://a?tls_name=a", "mqtt://a:0", "mqtt://a*0", "mqtt://a,a", "mqtt://a?x=1",
        "embedded://0", "embedded://2?spelling=latin", "mqtt://u:p@example.org"}) {
    const auto client = Client::open(uri);
    ASSERT_FALSE(client) << uri;
    EXPECT_FALSE(client.error().text.empty()) << uri;
    EXPECT_EQ(client.error().text.find('\n'), std::string::npos);
  }
}

#ifndef SHEAF_TEST_TLS
TEST(Lifecycle, ABuildWithoutTlsRefusesItsSchemes) {
  for (const std::string scheme : {"mqtts", "memcacheds", "rediss"}) {
    const auto client = Client::open(scheme + "://127.0.0.1:1");
    ASSERT_FALSE(client);
    EXPECT_EQ(client.error().outcome, Outcome::unsupported);
    EXPECT_EQ(client.error().reason, Reason::bad_configuration);
    EXPECT_EQ(client.error().text, scheme + ":// needs TLS, and this sheaf was built without it");
  }
}
#endif

}  // namespace
}  // namespace sheaf

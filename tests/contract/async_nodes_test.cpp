// Requests of a client to all of its nodes, without blocking.

#include <gtest/gtest.h>

#include <future>
#include <stop_token>
#include <string>
#include <vector>

#include <sheaf/async.h>

#include "tests/contract/endpoints.h"
#include "tests/support/task.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;

class NodesAsked : public test::OnEndpoint {};
INSTANTIATE_TEST_SUITE_P(On, NodesAsked, testing::ValuesIn(test::all_factories()),
                         [](const auto& test) { return test.param.name; });

TEST_P(NodesAsked, ACallbackGetsWhatTheBlockingFormReturns) {
  const AsyncClient async = client->async();
  const auto reports = test::begin_with_callback(async.check_nodes({.timeout = 10s})).get();
  const auto blocking = client->check_nodes({.timeout = 10s});
  ASSERT_EQ(reports.size(), blocking.size());
  for (std::size_t i = 0; i < reports.size(); ++i) {
    EXPECT_EQ(reports[i].stats.node, blocking[i].stats.node);
    EXPECT_FALSE(reports[i].error) << reports[i].error->message();
    EXPECT_TRUE(reports[i].round_trip);
    EXPECT_EQ(reports[i].stats.health, NodeHealth::up);
  }
  const auto versions = test::begin_with_callback(async.server_versions({.timeout = 10s})).get();
  ASSERT_EQ(versions.size(), blocking.size());
  EXPECT_EQ(versions[0].text.has_value(), client->supports(Feature::server_stats));
  const auto stats = test::begin_with_callback(async.server_stats({}, {.timeout = 10s})).get();
  EXPECT_EQ(stats[0].text.has_value(), client->supports(Feature::server_stats));
}

TEST_P(NodesAsked, ACommandForAllIsAnsweredByEachThatOwnsKeys) {
  const auto replies = client->execute_on_all({"PING"}, {.timeout = 10s});
  const auto later =
      test::begin_with_callback(client->async().execute_on_all({"PING"}, {.timeout = 10s})).get();
  ASSERT_EQ(replies.has_value(), client->supports(Feature::commands));
  ASSERT_EQ(later.has_value(), replies.has_value());
  if (!replies) {
    EXPECT_EQ(replies.error().outcome, Outcome::unsupported);
    EXPECT_EQ(later.error().outcome, Outcome::unsupported);
    return;
  }
  ASSERT_FALSE(replies->empty());
  ASSERT_EQ(later->size(), replies->size());
  for (std::size_t i = 0; i < replies->size(); ++i) {
    EXPECT_EQ((*replies)[i].node, (*later)[i].node);
    ASSERT_TRUE((*replies)[i].reply) << (*replies)[i].reply.error().message();
    EXPECT_EQ((*replies)[i].reply->text(), "PONG");
  }
}

test::Task<std::size_t> ask(AsyncClient client) {
  const auto reports = co_await client.check_nodes();
  const auto texts = co_await client.server_versions();
  co_return reports.size() == texts.size() ? reports.size() : 0;
}

TEST_P(NodesAsked, ACoroutineMayAwaitIt) {
  const std::size_t asked = ask(client->async()).get();
  EXPECT_EQ(asked, client->stats().size()) << "all that the client knows by then";
}

TEST_P(NodesAsked, AStoppedTokenEndsItAtOnce) {
  std::stop_source stop;
  stop.request_stop();
  const std::stop_token token = stop.get_token();
  const auto reports =
      test::begin_with_callback(client->async().check_nodes({.stop = &token})).get();
  for (const NodeReport& report : reports) {
    ASSERT_TRUE(report.error);
    EXPECT_EQ(report.error->reason, Reason::cancelled);
  }
}

}  // namespace
}  // namespace sheaf

// How much heap a client holds: for each node that it only knows, and with the connections that it
// uses. docs/sizing.md promises these limits.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include <sheaf/client.h>

#include "tests/support/counted_heap.h"
#include "tests/support/heap_servers.h"

namespace sheaf {
namespace {

// Opens a client, lets it work, and returns what it then holds.
template <class Work>
std::size_t heap_of(const std::string& uri, const Work& work) {
  const auto config = ClusterConfig::parse_uri(uri);
  EXPECT_TRUE(config) << config.error().message();
  const std::size_t before = test::heap_in_use();
  auto client = Client::open(*config);
  EXPECT_TRUE(client) << client.error().message();
  work(*client);
  return test::heap_in_use() - before;
}

std::size_t heap_of_idle_client(unsigned nodes) {
  return heap_of(test::uri_of_unconnected(nodes), [](Client&) {});
}

// Servers, and gets and sets that use a connection to each of them.
class UsedClient : public testing::Test {
 protected:
  std::size_t heap(std::size_t servers) {
    return heap_of(test::uri_of_started(servers_, servers), use);
  }

 private:
  static void use(Client& client) {
    const std::string value(100, 'v');
    for (int i = 0; i < 1'000; ++i) {
      const std::string key = "user/" + std::to_string(i);
      ASSERT_TRUE(client.set(key, value));
      const auto got = client.get(key);
      ASSERT_TRUE(got && *got);
    }
    for (const NodeStats& node : client.stats()) {
      ASSERT_EQ(node.connections, 1u);
      ASSERT_GT(node.replies, 100u);
    }
  }

  std::vector<std::unique_ptr<test::MemcachedProcess>> servers_;
};

TEST(HeapOfAClient, ANodeThatIsNotConnectedTakesLessThan2Kilobytes) {
  heap_of_idle_client(1);  // what a process makes once
  const std::size_t few = heap_of_idle_client(8);
  const std::size_t many = heap_of_idle_client(1'008);
  EXPECT_LT(many - few, 2'000u * 1'000);
  EXPECT_GT(many - few, 200u * 1'000) << "the heap is counted";
}

TEST(HeapOfAClient, IsGivenBackWhenItCloses) {
  heap_of_idle_client(1);
  const std::size_t before = test::heap_in_use();
  heap_of_idle_client(100);
  EXPECT_LT(test::heap_in_use(), before + 1'000);
}

TEST_F(UsedClient, HoldsLessThan30KilobytesWithOneConnection) {
  heap(1);
  EXPECT_LT(heap(1), 30'000u);
}

TEST_F(UsedClient, HoldsLessThan120KilobytesWithEightConnections) {
  heap(1);
  EXPECT_LT(heap(8), 120'000u);
}

}  // namespace
}  // namespace sheaf

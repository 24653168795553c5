// A GET in the steady state allocates nothing.

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "tests/protocol/scarce_memory.h"
#include "tests/store/engine/store_fixture.h"

namespace sheaf::store {
namespace {

using protocol::allocations_made;

TEST(EngineAllocations, AGetInTheSteadyStateMakesNone) {
  Store store;
  const std::string value(5000, 'v');
  store.ask({"SET", "key", value});
  const std::string payload = payload_of({"GET", "key"});
  const std::string absent = payload_of({"GET", "a key that is absent and longer than a word"});
  Request request;
  request.client_id = "client-id1";
  request.response_topic = "clients/client-id1/answers";
  request.correlation = "0123456789abcdef";
  request.timestamp = "1696374425000:0:ce28fe72-9a52-4491-b518-4daeb162f901";
  request.payload = payload;
  store.engine.execute(request, store.now);

  const auto before = allocations_made;
  std::size_t bytes = 0;
  for (int i = 0; i < 100; ++i) {
    request.payload = payload;
    bytes += store.engine.execute(request, store.now).payload.size();
    request.payload = absent;
    bytes += store.engine.execute(request, store.now).payload.size();
    store.now.mono += 1ms;
  }
  EXPECT_EQ(allocations_made - before, 0u);
  EXPECT_EQ(bytes, 100 * (value.size() + 9 + 5));
  // The counter works.
  store.ask({"GET", "key"});
  EXPECT_GT(allocations_made - before, 0u);
}

TEST(EngineAllocations, TheAnswersBufferDoesNotKeepALargeValue) {
  Store store;
  store.ask({"SET", "large", std::string(4 << 20, 'v')});
  store.ask({"GET", "large"});
  Request request;
  request.response_topic = "x";
  const auto before = allocations_made;
  store.engine.execute(request, store.now);  // its payload is a syntax error
  const auto first = allocations_made - before;
  store.engine.execute(request, store.now);
  EXPECT_EQ(first, 1u);  // a new, small buffer
  EXPECT_EQ(allocations_made - before, first);
}

}  // namespace
}  // namespace sheaf::store

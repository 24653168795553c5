// A GET in the steady state allocates nothing. This program replaces operator new to count.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>

#include "tests/store/engine/store_fixture.h"

namespace {
std::size_t allocations = 0;
}

[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace sheaf::store {
namespace {

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

  const std::size_t before = allocations;
  std::size_t bytes = 0;
  for (int i = 0; i < 100; ++i) {
    request.payload = payload;
    bytes += store.engine.execute(request, store.now).payload.size();
    request.payload = absent;
    bytes += store.engine.execute(request, store.now).payload.size();
    store.now.mono += 1ms;
  }
  EXPECT_EQ(allocations - before, 0u);
  EXPECT_EQ(bytes, 100 * (value.size() + 9 + 5));
  // The counter works.
  store.ask({"GET", "key"});
  EXPECT_GT(allocations - before, 0u);
}

TEST(EngineAllocations, TheAnswersBufferDoesNotKeepALargeValue) {
  Store store;
  store.ask({"SET", "large", std::string(4 << 20, 'v')});
  store.ask({"GET", "large"});
  Request request;
  request.response_topic = "x";
  const std::size_t before = allocations;
  store.engine.execute(request, store.now);  // its payload is a syntax error
  const std::size_t first = allocations - before;
  store.engine.execute(request, store.now);
  EXPECT_EQ(first, 1u);  // a new, small buffer
  EXPECT_EQ(allocations - before, first);
}

}  // namespace
}  // namespace sheaf::store

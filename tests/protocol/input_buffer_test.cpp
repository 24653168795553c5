#include "protocol/input_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/poison.h"
#include "base/random.h"
#include "tests/protocol/scarce_memory.h"
#include "tests/support/sanitized.h"

namespace sheaf::protocol {
namespace {

using namespace std::chrono_literals;

void put(InputBuffer& buffer, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto space = buffer.space();
    ASSERT_FALSE(space.empty());
    const std::size_t part = std::min(space.size(), bytes.size());
    std::memcpy(space.data(), bytes.data(), part);
    buffer.added(part);
    bytes.remove_prefix(part);
  }
}

TEST(InputBuffer, KeepsWhatIsNotConsumedInOnePiece) {
  InputBuffer buffer(1 << 20);
  std::string expected;
  for (int i = 0; i < 2000; ++i) {
    const std::string part(static_cast<std::size_t>(i % 97), static_cast<char>('a' + i % 26));
    put(buffer, part);
    expected += part;
    if (i % 3 == 0) {
      const std::size_t half = expected.size() / 2;
      buffer.consumed(half);
      expected.erase(0, half);
    }
    ASSERT_EQ(buffer.data(), expected);
  }
}

TEST(InputBuffer, IsFullAtItsLimitAndHasRoomAgainAfterwards) {
  InputBuffer buffer(10'000);
  put(buffer, std::string(10'000, 'x'));
  EXPECT_TRUE(buffer.space().empty());
  EXPECT_EQ(buffer.capacity(), 10'000u);
  buffer.consumed(1);
  EXPECT_EQ(buffer.space().size(), 1u);
}

TEST(InputBuffer, GrowsWithWhatArrivesOnly) {
  InputBuffer buffer(256u << 20);
  EXPECT_LE(buffer.space().size(), 64u * 1024);
  put(buffer, std::string(100'000, 'x'));
  EXPECT_LE(buffer.capacity(), 400'000u);
}

TEST(InputBuffer, GivesALargeBufferBackWhenItIsEmpty) {
  InputBuffer buffer(16u << 20);
  put(buffer, std::string(8u << 20, 'x'));
  buffer.consumed(8u << 20);
  buffer.space();
  EXPECT_LE(buffer.capacity(), 64u * 1024);
}

TEST(InputBuffer, TakesNoMoreAtFirstThanItIsAskedTo) {
  InputBuffer small(1 << 20, 8 * 1024);
  EXPECT_EQ(small.space().size(), 8u * 1024);
  InputBuffer bounded(100);
  EXPECT_EQ(bounded.space().size(), 100u);
}

TEST(InputBuffer, PassesOverWhatIsHereAndWhatIsStillToCome) {
  InputBuffer buffer(1 << 20);
  put(buffer, "head, and some");
  buffer.consumed(6);
  buffer.skip(100'000);
  EXPECT_TRUE(buffer.skipping());
  EXPECT_EQ(buffer.data(), "");
  put(buffer, std::string(100'000 - 8, 'x'));
  EXPECT_FALSE(buffer.skipping());
  EXPECT_EQ(buffer.data(), "");
  EXPECT_LE(buffer.capacity(), 64u * 1024) << "what is skipped is not kept";
  put(buffer, "next");
  EXPECT_EQ(buffer.data(), "next");
  buffer.skip(2);
  EXPECT_FALSE(buffer.skipping());
  EXPECT_EQ(buffer.data(), "xt");
}

// ---- shared memory

Now at(std::chrono::nanoseconds mono) { return {mono, std::chrono::milliseconds(0)}; }

// One read of `bytes`, which must fit.
void read(InputBuffer& buffer, std::string_view bytes, Now now = {}) {
  const auto space = buffer.space();
  ASSERT_GE(space.size(), bytes.size());
  std::memcpy(space.data(), bytes.data(), bytes.size());
  buffer.added(bytes.size(), now);
}

TEST(SharedInput, AConnectionThatGetsWholeMessagesHasNoMemoryOfItsOwn) {
  SharedInput shared;
  InputBuffer buffer(1 << 20);
  buffer.share(shared);
  const auto before = allocations_made;
  for (int i = 0; i < 100; ++i) {
    read(buffer, "a message");
    EXPECT_EQ(buffer.data(), "a message");
    buffer.consumed(9);
    EXPECT_TRUE(buffer.settle());
  }
  EXPECT_EQ(buffer.capacity(), 0u);
  EXPECT_EQ(allocations_made - before, 1u) << "the shared memory";
}

TEST(SharedInput, ThePartOfAMessageIsKeptWhileOthersRead) {
  SharedInput shared;
  InputBuffer one(1 << 20);
  InputBuffer other(1 << 20);
  one.share(shared);
  other.share(shared);
  read(one, "half a ");
  EXPECT_TRUE(one.settle());
  read(other, "something else");
  EXPECT_TRUE(other.settle());
  EXPECT_EQ(one.data(), "half a ");
  one.space();  // nothing was there to be read
  read(other, ", and more");
  EXPECT_EQ(other.data(), "something else, and more");
  EXPECT_TRUE(other.settle());
  EXPECT_EQ(one.data(), "half a ");
  read(one, "message");
  EXPECT_EQ(one.data(), "half a message");
  EXPECT_LE(one.capacity(), 256u);
}

TEST(SharedInput, WhileOneHasItAnotherReadsIntoItsOwnMemory) {
  SharedInput shared;
  InputBuffer one(1 << 20);
  one.share(shared);
  read(one, "first");
  {
    InputBuffer other(1 << 20);
    other.share(shared);
    read(other, "second");
    EXPECT_GT(other.capacity(), 0u);
    EXPECT_EQ(other.data(), "second");
    EXPECT_EQ(one.data(), "first");
  }
  EXPECT_TRUE(one.settle());
  EXPECT_EQ(one.data(), "first");
}

TEST(SharedInput, IsFreeAgainWhenTheConnectionThatHasItIsGone) {
  SharedInput shared;
  auto one = std::make_unique<InputBuffer>(1 << 20);
  one->share(shared);
  read(*one, "first");
  EXPECT_TRUE(shared.space().empty());
  one.reset();
  EXPECT_FALSE(shared.space().empty());
}

TEST(SharedInput, GrowsWhileReadsFillItAndShrinksInAPeriodThatDoesNot) {
  SharedInput shared;
  InputBuffer buffer(16u << 20);
  buffer.share(shared);
  const std::string bytes(SharedInput::most, 'x');
  const auto take = [&](std::size_t size, std::chrono::nanoseconds now) {
    read(buffer, std::string_view(bytes).substr(0, std::min(size, buffer.space().size())), at(now));
    buffer.consumed(size);
    EXPECT_TRUE(buffer.settle());
  };
  EXPECT_EQ(buffer.space().size(), SharedInput::least);
  for (int i = 0; i < 10; ++i) take(SharedInput::most, 1s);
  EXPECT_EQ(buffer.space().size(), SharedInput::most);
  const auto before = allocations_made;
  for (int i = 1; i < 100; ++i) take(i % 2 == 0 ? 40'000 : 10, i * 1s);
  EXPECT_EQ(allocations_made, before) << "still needed in every period";
  for (int i = 100; i < 121; ++i) take(10, i * 1s);
  EXPECT_EQ(buffer.space().size(), SharedInput::least);
  EXPECT_EQ(buffer.capacity(), 0u);
}

TEST(SharedInput, ALargeMessageIsReadIntoMemoryOfItsOwnWhichIsUsedAgain) {
  SharedInput shared;
  InputBuffer buffer(16u << 20);
  buffer.share(shared);
  const std::string message(200'000, 'm');
  std::size_t made = 0;
  for (int i = 0; i < 10; ++i) {
    const auto before = allocations_made;
    std::string_view rest = message;
    while (!rest.empty()) {
      const std::string_view part = rest.substr(0, buffer.space().size());
      read(buffer, part);
      EXPECT_TRUE(buffer.settle());
      rest.remove_prefix(part.size());
    }
    EXPECT_EQ(buffer.data(), message);
    buffer.consumed(message.size());
    made = allocations_made - before;
    EXPECT_TRUE(i == 0 || made == 0);
  }
  EXPECT_GE(buffer.capacity(), message.size());
  buffer.trim();
  EXPECT_EQ(buffer.capacity(), 0u);
}

TEST(SharedInput, WithoutMemoryForTheRestTheRestIsLostAndSaidToBe) {
  SharedInput shared;
  InputBuffer buffer(1 << 20);
  buffer.share(shared);
  read(buffer, "half a ");
  const Scarce scarce(0);
  EXPECT_FALSE(buffer.settle());
  EXPECT_EQ(buffer.data(), "");
  EXPECT_FALSE(shared.space().empty()) << "others can read";
}

TEST(SharedInput, AViewOfWhatWasGivenBackIsReportedByAddressSanitizer) {
  SharedInput shared;
  InputBuffer buffer(1 << 20);
  buffer.share(shared);
  read(buffer, "whole");
  const std::string_view view = buffer.data();
  EXPECT_FALSE(is_poisoned(view.data()));
  buffer.consumed(view.size());
  EXPECT_TRUE(buffer.settle());
  EXPECT_EQ(is_poisoned(view.data()), test::address_sanitized);
  read(buffer, "next");
  EXPECT_EQ(buffer.data(), "next");
}

// Connections read, parse and settle in random order, in pieces of any size.
TEST(SharedInput, EveryConnectionGetsItsOwnBytesInOrder) {
  Random letters(1);
  std::string text(2 * SharedInput::most, '\0');
  for (char& letter : text) letter = static_cast<char>('a' + letters.below(26));
  for (std::uint64_t run = 0; run < 200; ++run) {
    Random random(run);
    SharedInput shared;
    std::vector<std::unique_ptr<InputBuffer>> buffers;
    std::vector<std::string> expected(3);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      buffers.push_back(std::make_unique<InputBuffer>(1 << 20));
      buffers.back()->share(shared);
    }
    for (int step = 0; step < 300; ++step) {
      const std::size_t i = random.below(expected.size());
      InputBuffer& buffer = *buffers[i];
      const auto space = buffer.space();
      if (random.below(4) == 0) continue;
      const std::size_t most = random.below(3) == 0 ? space.size() : 1 + random.below(2'000);
      const std::size_t size = std::min({most, space.size(), text.size() / 2});
      const std::string bytes = text.substr(random.below(text.size() - size + 1), size);
      std::memcpy(space.data(), bytes.data(), bytes.size());
      buffer.added(bytes.size(), at(step * 1s));
      expected[i] += bytes;
      if (random.below(5) == 0) {
        const std::size_t skipped = random.below(expected[i].size() + 1);
        buffer.skip(skipped);
        expected[i].erase(0, skipped);
      }
      ASSERT_EQ(buffer.data(), expected[i]);
      const std::size_t parsed =
          random.below(2) == 0 ? expected[i].size() : random.below(expected[i].size() + 1);
      buffer.consumed(parsed);
      expected[i].erase(0, parsed);
      if (random.below(8) != 0) {
        ASSERT_TRUE(buffer.settle());
      }
      if (random.below(20) == 0) buffer.trim();
      for (std::size_t other = 0; other < expected.size(); ++other) {
        ASSERT_EQ(buffers[other]->data(), expected[other]) << "run " << run << ", step " << step;
      }
    }
  }
}

}  // namespace
}  // namespace sheaf::protocol

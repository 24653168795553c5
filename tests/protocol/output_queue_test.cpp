#include "protocol/output_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "base/random.h"

namespace sheaf::protocol {
namespace {

using Progress = OutputQueue::Progress;

OutputQueue::FrameId put(OutputQueue& queue, std::string_view bytes) {
  queue.buffer().append(bytes);
  return queue.end();
}
OutputQueue::FrameId put(OutputQueue& queue, std::string_view before, std::string_view borrowed,
                         std::string_view after) {
  queue.reserve(before.size() + after.size(), OutputQueue::copy_limit + 1);  // as if it were large
  queue.buffer().append(before);
  queue.borrow(borrowed);
  queue.buffer().append(after);
  return queue.end();
}
std::string all(OutputQueue& queue) {
  std::string bytes;
  for (const Bytes part : queue.parts()) bytes += as_text(part);
  return bytes;
}

TEST(OutputQueue, SmallNeighboursAreOnePiece) {
  OutputQueue queue;
  put(queue, "one");
  put(queue, "two");
  EXPECT_EQ(queue.parts().size(), 1U);
  EXPECT_EQ(all(queue), "onetwo");
  EXPECT_EQ(queue.size(), 6U);
}

TEST(OutputQueue, BorrowedBytesStayWhereTheyAre) {
  OutputQueue queue;
  const std::string value = "VALUE";
  put(queue, "a");
  put(queue, "head:", value, ":tail");
  put(queue, "b");
  const auto parts = queue.parts();
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(as_text(parts[0]), "ahead:");
  EXPECT_EQ(as_text(parts[1]).data(), value.data());
  EXPECT_EQ(as_text(parts[2]), ":tailb");
}

TEST(OutputQueue, SameBytesAgainUntilTheyAreTaken) {
  OutputQueue queue;
  put(queue, "ab", "cd", "ef");
  for (const std::string_view rest : {"abcdef", "bcdef", "cdef", "def", "ef", "f"}) {
    EXPECT_EQ(all(queue), rest);
    EXPECT_EQ(all(queue), rest);
    queue.taken(1);
  }
  EXPECT_TRUE(queue.empty());
  EXPECT_TRUE(queue.parts().empty());
}

TEST(OutputQueue, ProgressIsKnownToTheByte) {
  OutputQueue queue;
  const auto first = put(queue, "ab", "cd", "ef");
  const auto second = put(queue, "gh");
  EXPECT_EQ(queue.progress(first), Progress::waiting);
  for (int byte = 1; byte <= 8; ++byte) {
    queue.taken(1);
    EXPECT_EQ(queue.progress(first), byte < 6 ? Progress::begun : Progress::written) << byte;
    EXPECT_EQ(queue.progress(second), byte < 7   ? Progress::waiting
                                      : byte < 8 ? Progress::begun
                                                 : Progress::written);
    EXPECT_EQ(queue.needs_borrowed(first), byte < 4) << byte;
    EXPECT_EQ(queue.half_written(), byte != 6 && byte != 8) << byte;
  }
}

TEST(OutputQueue, ErasedFrameLeavesNoTrace) {
  for (const int which : {0, 1, 2}) {
    OutputQueue queue;
    const OutputQueue::FrameId frames[] = {put(queue, "one"), put(queue, "two", "TWO", "two"),
                                           put(queue, "three")};
    queue.erase(frames[which]);
    const std::string_view left[] = {"twoTWOtwothree", "onethree", "onetwoTWOtwo"};
    EXPECT_EQ(all(queue), left[which]);
    EXPECT_EQ(queue.size(), left[which].size());
    put(queue, "four");
    EXPECT_EQ(all(queue), std::string(left[which]) + "four");
    queue.taken(queue.size());
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(put(queue, "five") > frames[0], true);
    EXPECT_EQ(all(queue), "five");
  }
}

TEST(OutputQueue, ClearForgetsEverything) {
  OutputQueue queue;
  put(queue, "ab", "cd", "ef");
  queue.taken(3);
  queue.clear();
  EXPECT_TRUE(queue.empty());
  EXPECT_FALSE(queue.half_written());
  put(queue, "new");
  EXPECT_EQ(all(queue), "new");
}

TEST(OutputQueue, ManyPiecesComeInSeveralTurns) {
  OutputQueue queue;
  std::string expected;
  for (int i = 0; i < 500; ++i) {
    put(queue, "head", "VALUE", "tail");
    expected += "headVALUEtail";
  }
  std::string written;
  while (!queue.empty()) {
    EXPECT_LE(queue.parts().size(), 64U);
    const std::string turn = all(queue);
    ASSERT_FALSE(turn.empty());
    written += turn;
    queue.taken(turn.size());
  }
  EXPECT_EQ(written, expected);
}

TEST(OutputQueue, MemoryIsBoundedWhileAStalledLinkSeesSubmitsAndCancels) {
  OutputQueue queue;
  put(queue, std::string(1'000, 'f'));
  queue.taken(1);
  auto keep = put(queue, std::string(1'000, 'k'));
  for (int i = 0; i < 100'000; ++i) {
    const auto next = put(queue, std::string(1'000, 'n'));
    queue.erase(keep);
    keep = next;
  }
  EXPECT_EQ(queue.size(), 1'999U);
  EXPECT_LT(queue.capacity(), 512U * 1024);
}

TEST(OutputQueue, LargeBuffersAreGivenBack) {
  OutputQueue queue;
  put(queue, std::string(10 << 20, 'x'));
  queue.taken(queue.size());
  EXPECT_LT(queue.capacity(), 512U * 1024);
}

// Compared with a model: a list of frames, each with its text.
TEST(OutputQueue, BehavesLikeAListOfFramesUnderRandomUse) {
  struct Model {
    OutputQueue::FrameId id = 0;
    std::string text;
    std::size_t left = 0;
  };
  Random random(3);
  const std::string borrowed(3'000, 'B');
  OutputQueue queue;
  std::deque<Model> model;
  std::string expected;
  std::string written;
  for (int step = 0; step < 50'000; ++step) {
    const std::uint64_t action = random.below(4);
    if (action < 2) {
      const std::string before(random.below(300), 'a');
      const std::string after(1 + random.below(30), 'z');
      const auto middle = std::string_view(borrowed).substr(
          0, random.below(3) == 0 ? random.below(borrowed.size()) : 0);
      const std::string text = before + std::string(middle) + after;
      const auto id = middle.empty() ? put(queue, text) : put(queue, before, middle, after);
      model.push_back({id, text, text.size()});
    } else if (action == 2 && !model.empty()) {
      const auto victim = model.begin() + static_cast<std::ptrdiff_t>(random.below(model.size()));
      if (victim->left < victim->text.size()) continue;
      queue.erase(victim->id);
      model.erase(victim);
    } else {
      const std::string turn = all(queue);
      std::size_t take = turn.empty() ? 0 : random.below(turn.size() + 1);
      if (random.below(50) == 0) take = turn.size();
      written += turn.substr(0, take);
      queue.taken(take);
      while (take > 0) {
        Model& front = model.front();
        const std::size_t part = std::min(take, front.left);
        expected += front.text.substr(front.text.size() - front.left, part);
        front.left -= part;
        take -= part;
        if (front.left == 0) model.pop_front();
      }
    }
    ASSERT_EQ(written.size(), expected.size());
    for (const Model& frame : model) {
      ASSERT_EQ(queue.progress(frame.id),
                frame.left == frame.text.size() ? Progress::waiting : Progress::begun);
    }
  }
  EXPECT_EQ(written, expected);
  EXPECT_GT(written.size(), 1'000'000U);
}

// ---- the gate

TEST(OutputQueue, WhatComesAfterTheGateWaitsUntilSomethingHasPassedIt) {
  OutputQueue queue;
  const std::string value = "VALUE";
  put(queue, "before;");
  const auto last = put(queue, "last;");
  queue.close_gate();
  const auto held = put(queue, "held:", value, ";");
  put(queue, "more;");
  EXPECT_EQ(all(queue), "before;last;");
  queue.taken(12);
  EXPECT_TRUE(queue.parts().empty());
  EXPECT_EQ(queue.size(), 16U);
  EXPECT_EQ(queue.progress(last), Progress::written);
  EXPECT_EQ(queue.progress(held), Progress::waiting);
  put(queue, "first:", value, "!;");
  const auto first = queue.pass_gate();
  EXPECT_LT(last, first);
  EXPECT_LT(first, held);
  const auto after = put(queue, "after");
  EXPECT_EQ(all(queue), "first:VALUE!;held:VALUE;more;after");
  EXPECT_EQ(queue.progress(first), Progress::waiting);
  queue.taken(7);
  EXPECT_EQ(queue.progress(first), Progress::begun);
  EXPECT_TRUE(queue.needs_borrowed(first));
  queue.erase(held);
  EXPECT_EQ(all(queue), "ALUE!;more;after");
  queue.taken(16);
  EXPECT_EQ(queue.progress(after), Progress::written);
  EXPECT_TRUE(queue.empty());
}

TEST(OutputQueue, TheGateOpensWithItsFrameThatIsErasedOrByItself) {
  OutputQueue queue;
  const auto last = put(queue, "last;");
  queue.close_gate();
  put(queue, "held;");
  queue.erase(last);
  EXPECT_EQ(all(queue), "held;");
  put(queue, "last;");
  queue.close_gate();
  put(queue, "more;");
  EXPECT_EQ(all(queue), "held;last;");
  queue.open_gate();
  EXPECT_EQ(all(queue), "held;last;more;");
  const auto alone = put(queue, "alone;");
  queue.close_gate();
  queue.erase(alone);
  put(queue, "next;");
  EXPECT_EQ(all(queue), "held;last;more;next;");
  queue.close_gate();
  put(queue, "held");
  queue.clear();
  put(queue, "new");
  EXPECT_EQ(all(queue), "new");
}

// ---- writes with a limit

constexpr std::size_t write_limit = 100;

// Frames of random sizes, some around a borrowed value.
struct RandomFrames {
  explicit RandomFrames(Random& random) : values(40) {
    for (std::string& value : values) {
      value.assign(random.below(3) == 0 ? random.below(400) : 0, 'v');
      const std::string before(1 + random.below(60), 'b');
      const std::string after(random.below(3), 'a');
      value.empty() ? put(queue, before + after) : put(queue, before, value, after);
      bytes += before + value + after;
      ends.push_back(bytes.size());
    }
  }
  std::vector<std::string> values;
  OutputQueue queue;
  std::string bytes;
  std::vector<std::size_t> ends;  // of the frames
};

TEST(OutputQueue, WritesWithALimitEndWithAFrameUnlessItIsLarger) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    RandomFrames frames(random);
    frames.queue.limit_writes(write_limit);
    std::size_t begin = 0;
    while (!frames.queue.empty()) {
      const std::string text = all(frames.queue);
      const std::size_t end = begin + text.size();
      ASSERT_FALSE(text.empty());
      ASSERT_LE(text.size(), write_limit);
      ASSERT_EQ(text, frames.bytes.substr(begin, text.size()));
      // The frame in which the write begins.
      const auto frame = std::ranges::upper_bound(frames.ends, begin);
      const std::size_t frame_begin = frame == frames.ends.begin() ? 0 : frame[-1];
      if (begin > frame_begin) {
        ASSERT_EQ(end, std::min(*frame, begin + write_limit));
      } else if (*frame - begin > write_limit) {
        ASSERT_EQ(text.size(), write_limit);
      } else {
        ASSERT_TRUE(std::ranges::binary_search(frames.ends, end));
        const auto next = std::ranges::upper_bound(frames.ends, end);
        if (next != frames.ends.end()) {
          ASSERT_GT(*next - begin, write_limit);
        }
      }
      frames.queue.taken(text.size());
      begin = end;
    }
    EXPECT_EQ(begin, frames.bytes.size());
  }
}

// The kernel did not take all of a write.
TEST(OutputQueue, TheRestOfAFrameIsWrittenAloneWithALimit) {
  OutputQueue queue;
  queue.limit_writes(write_limit);
  for (const char* frame : {"first", "second", "third"}) put(queue, frame);
  EXPECT_EQ(all(queue), "firstsecondthird");
  queue.taken(8);
  EXPECT_EQ(all(queue), "ond");
  queue.taken(3);
  EXPECT_EQ(all(queue), "third");
}

}  // namespace
}  // namespace sheaf::protocol

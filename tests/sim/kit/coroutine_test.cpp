#include "tests/sim/kit/coroutine.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <exception>
#include <stdexcept>
#include <string>

namespace sheaf::sim {
namespace {

// Two coroutines, and the test itself as a third.
struct Three {
  Coroutine test;
  Coroutine* a = nullptr;
  Coroutine* b = nullptr;
  std::string text;
};

// Begins `work` on a coroutine that returns to the test when it ends.
Coroutine& begin(Three& three, const std::function<void()>& work) {
  return Coroutine::make([&three, work]() -> Coroutine& {
    work();
    return three.test;
  });
}

TEST(Coroutine, WorkStopsInTheMiddleAndGoesOnThere) {
  Three three;
  three.a = &begin(three, [&] {
    const std::string own = "a";
    three.text += own + "1";
    three.a->switch_to(*three.b);
    three.text += own + "2";
  });
  three.b = &begin(three, [&] {
    const std::string own = "b";
    three.text += own + "1";
    three.b->switch_to(three.test);
    three.text += own + "2";
  });
  three.test.switch_to(*three.a);
  EXPECT_EQ(three.text, "a1b1");
  three.test.switch_to(*three.a);
  EXPECT_EQ(three.text, "a1b1a2");
  three.test.switch_to(*three.b);
  EXPECT_EQ(three.text, "a1b1a2b2");
}

TEST(Coroutine, AStackServesOtherWorkWhenItsWorkHasEnded) {
  Three three;
  Coroutine& first = begin(three, [&] { three.text += "1"; });
  three.test.switch_to(first);
  Coroutine& second = begin(three, [&] { three.text += "2"; });
  EXPECT_EQ(&first, &second);
  three.test.switch_to(second);
  EXPECT_EQ(three.text, "12");
}

// One coroutine handles an exception while the other throws, handles and ends one.
TEST(Coroutine, EachHandlesItsOwnExceptions) {
  Three three;
  three.a = &begin(three, [&] {
    try {
      try {
        throw std::runtime_error("of a");
      } catch (const std::runtime_error&) {
        three.a->switch_to(*three.b);
        throw;
      }
    } catch (const std::runtime_error& error) {
      three.text += error.what();
    }
  });
  three.b = &begin(three, [&] {
    EXPECT_EQ(std::current_exception(), nullptr);
    try {
      throw std::runtime_error("of b");
    } catch (const std::runtime_error& error) {
      three.text += std::string(error.what()) + ", ";
      three.b->switch_to(*three.a);
    }
  });
  three.test.switch_to(*three.a);
  EXPECT_EQ(three.text, "of b, of a");
  EXPECT_EQ(std::current_exception(), nullptr);
  three.test.switch_to(*three.b);
}

// Switches while an exception unwinds its stack.
struct SwitchesWhenItGoes {
  Three& three;
  ~SwitchesWhenItGoes() { three.a->switch_to(*three.b); }
};

TEST(Coroutine, AnExceptionOnItsWayIsThatOfOneStack) {
  Three three;
  three.a = &begin(three, [&] {
    try {
      const SwitchesWhenItGoes switches{three};
      throw std::runtime_error("of a");
    } catch (const std::runtime_error& error) {
      three.text += error.what();
    }
  });
  int seen = -1;
  three.b = &begin(three, [&] {
    seen = std::uncaught_exceptions();
    three.b->switch_to(*three.a);
  });
  three.test.switch_to(*three.a);
  EXPECT_EQ(seen, 0);
  EXPECT_EQ(three.text, "of a");
  three.test.switch_to(*three.b);
}

TEST(Coroutine, EachHasItsOwnErrno) {
  Three three;
  three.a = &begin(three, [&] {
    errno = ENOENT;
    three.a->switch_to(three.test);
    EXPECT_EQ(errno, ENOENT);
  });
  errno = EINTR;
  three.test.switch_to(*three.a);
  EXPECT_EQ(errno, EINTR);
  three.test.switch_to(*three.a);
}

// The result is used so that the compiler cannot turn this into a loop.
unsigned recurse(unsigned depth) {
  volatile char block[4096] = {};
  block[depth % sizeof block] = 1;
  return depth == 0 ? 0 : recurse(depth - 1) + static_cast<unsigned>(block[0]);
}

TEST(CoroutineDeathTest, AStackThatIsTooSmallEndsTheProcess) {
  Three three;
  EXPECT_DEATH(
      {
        Coroutine& deep = begin(three, [&] { recurse(1'000); });
        three.test.switch_to(deep);
      },
      "");
}

}  // namespace
}  // namespace sheaf::sim

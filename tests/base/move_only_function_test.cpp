#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <sheaf/move_only_function.h>

namespace sheaf {
namespace {

using Count = MoveOnlyFunction<int(int)>;

// The number of living objects, and how often they have moved.
struct Ledger {
  int alive = 0;
  int moves = 0;
};

// Adds its number to its argument. `Size` is its size. A move may throw only if `MayThrow`.
template <std::size_t Size, bool MayThrow = false>
class Adder {
 public:
  Adder(Ledger& ledger, int number) : ledger_(&ledger), number_(number) { ++ledger_->alive; }
  Adder(Adder&& other) noexcept(!MayThrow) : ledger_(other.ledger_), number_(other.number_) {
    ++ledger_->alive;
    ++ledger_->moves;
  }
  Adder& operator=(Adder&&) = delete;
  ~Adder() { --ledger_->alive; }
  int operator()(int value) { return value + number_; }

 private:
  Ledger* ledger_;
  int number_;
  std::array<std::byte, Size> room_{};
};

using Small = Adder<8>;
using Large = Adder<100>;
using MayThrow = Adder<8, true>;

template <class T>
class MoveOnlyFunctionOf : public testing::Test {};
using Kinds = testing::Types<Small, Large, MayThrow>;
TYPED_TEST_SUITE(MoveOnlyFunctionOf, Kinds);

TYPED_TEST(MoveOnlyFunctionOf, CallsWhatItHoldsWhereverItWasMoved) {
  Ledger ledger;
  {
    Count first = TypeParam(ledger, 3);
    EXPECT_EQ(first(4), 7);
    Count second = std::move(first);
    EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(second(4), 7);
    Count third;
    third = std::move(second);
    EXPECT_EQ(third(5), 8);
    EXPECT_EQ(ledger.alive, 1);
  }
  EXPECT_EQ(ledger.alive, 0);
}

TYPED_TEST(MoveOnlyFunctionOf, DestroysWhatItHeldWhenItGetsAnother) {
  Ledger ledger;
  Count function = TypeParam(ledger, 1);
  function = TypeParam(ledger, 2);
  EXPECT_EQ(ledger.alive, 1);
  EXPECT_EQ(function(0), 2);
  function = nullptr;
  EXPECT_EQ(ledger.alive, 0);
  EXPECT_EQ(function, nullptr);
}

TYPED_TEST(MoveOnlyFunctionOf, MovedIntoItselfItKeepsWhatItHolds) {
  Ledger ledger;
  Count function = TypeParam(ledger, 1);
  Count& same = function;
  function = std::move(same);
  EXPECT_EQ(function(1), 2);
  EXPECT_EQ(ledger.alive, 1);
}

TEST(MoveOnlyFunction, WhatIsLargeOrMayThrowDoesNotMoveWithIt) {
  Ledger large, may_throw, small;
  Count of_large = Large(large, 0);
  Count of_may_throw = MayThrow(may_throw, 0);
  Count of_small = Small(small, 0);
  const int before = small.moves;
  const Count moved[] = {std::move(of_large), std::move(of_may_throw), std::move(of_small)};
  EXPECT_EQ(large.moves, 1);
  EXPECT_EQ(may_throw.moves, 1);
  EXPECT_EQ(small.moves, before + 1);
}

TEST(MoveOnlyFunction, IsMovedAndNotCopied) {
  static_assert(!std::is_copy_constructible_v<Count>);
  static_assert(!std::is_copy_assignable_v<Count>);
  static_assert(std::is_nothrow_move_constructible_v<Count>);
  static_assert(std::is_nothrow_move_assignable_v<Count>);
}

TEST(MoveOnlyFunction, TakesOnlyWhatCanBeCalledWithItsSignature) {
  static_assert(std::is_constructible_v<Count, int (*)(int)>);
  static_assert(std::is_constructible_v<Count, long (*)(long)>);
  static_assert(!std::is_constructible_v<Count, int (*)(int, int)>);
  static_assert(!std::is_constructible_v<Count, std::string (*)(int)>);
  static_assert(!std::is_constructible_v<Count, int>);
  static_assert(std::is_constructible_v<MoveOnlyFunction<void()>, int (*)()>);
}

TEST(MoveOnlyFunction, OwnsWhatCannotBeCopied) {
  auto owned = std::make_unique<std::string>("owned");
  const MoveOnlyFunction<std::string()> function = [text = std::move(owned)] { return *text; };
  EXPECT_EQ(function(), "owned");
}

TEST(MoveOnlyFunction, WhatItHoldsMayChangeItself) {
  const MoveOnlyFunction<int()> next = [number = 0]() mutable { return ++number; };
  EXPECT_EQ(next(), 1);
  EXPECT_EQ(next(), 2);
}

TEST(MoveOnlyFunction, PassesOnWhatOnlyMovesAndReferences) {
  const MoveOnlyFunction<std::unique_ptr<int>(std::unique_ptr<int>)> same =
      [](std::unique_ptr<int> value) { return value; };
  EXPECT_EQ(*same(std::make_unique<int>(7)), 7);
  const MoveOnlyFunction<int&(int&)> reference = [](int& value) -> int& { return value; };
  int value = 1;
  reference(value) = 2;
  EXPECT_EQ(value, 2);
}

int doubled(int value) { return 2 * value; }
struct Scale {
  int by = 3;
  int times(int value) const { return by * value; }
};

TEST(MoveOnlyFunction, TakesFunctionsMembersAndStdFunctions) {
  EXPECT_EQ(Count(doubled)(4), 8);
  EXPECT_EQ(Count(&doubled)(4), 8);
  const MoveOnlyFunction<int(Scale&, int)> times = &Scale::times;
  Scale scale;
  EXPECT_EQ(times(scale, 5), 15);
  const std::function<int(int)> copied = doubled;
  EXPECT_EQ(Count(copied)(5), 10);
  EXPECT_EQ(copied(5), 10);
}

TEST(MoveOnlyFunction, NullPointersAndEmptyFunctionsAreNothing) {
  int (*none)(int) = nullptr;
  int (Scale::*no_member)(int) const = nullptr;
  EXPECT_FALSE(Count());
  EXPECT_FALSE(Count(nullptr));
  EXPECT_FALSE(Count(none));
  EXPECT_FALSE((MoveOnlyFunction<int(Scale&, int)>(no_member)));
  EXPECT_FALSE(Count(std::function<int(int)>()));
  EXPECT_FALSE(Count(MoveOnlyFunction<long(long)>()));
  EXPECT_TRUE(Count(doubled));
}

TEST(MoveOnlyFunction, CallingNothingThrows) {
  EXPECT_THROW(Count()(1), std::bad_function_call);
  Count moved = doubled;
  const Count taken = std::move(moved);
  EXPECT_THROW(moved(1), std::bad_function_call);  // NOLINT(bugprone-use-after-move)
}

TEST(MoveOnlyFunction, WhatThrowsWhileItIsMadeLeavesNothingBehind) {
  struct Throws {
    Throws() = default;
    Throws(const Throws&) { throw std::runtime_error("no copy"); }
    void operator()() const {}
  };
  const Throws throws;
  EXPECT_THROW(MoveOnlyFunction<void()>{throws}, std::runtime_error);
}

TEST(MoveOnlyFunction, WhatItHoldsIsAligned) {
  struct alignas(64) Aligned {
    std::uintptr_t operator()() const { return reinterpret_cast<std::uintptr_t>(this) % 64; }
  };
  EXPECT_EQ(MoveOnlyFunction<std::uintptr_t()>(Aligned())(), 0u);
}

TEST(MoveOnlyFunction, AFunctionMayReplaceItselfWhileItRuns) {
  MoveOnlyFunction<int()> function;
  function = [&function, number = 5] {
    const int kept = number;
    function = nullptr;
    return kept;
  };
  EXPECT_EQ(function(), 5);
  EXPECT_EQ(function, nullptr);
}

}  // namespace
}  // namespace sheaf

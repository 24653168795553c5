// What a forked child finds of its parent.

#include "base/fork_mark.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <thread>
#include <vector>

namespace sheaf {
namespace {

// Runs `check` in a forked child. True if it returned true.
template <class Check>
bool in_a_child(Check check) {
  const pid_t child = fork();
  if (child == 0) _exit(check() ? 0 : 1);
  int status = -1;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

struct Counted {
  explicit Counted(const Counted* parent) : generation(parent ? parent->generation + 1 : 0) {}
  const int generation;
};

TEST(ForkMark, TellsTheChildFromItsParent) {
  const ForkMark mark;
  EXPECT_FALSE(mark.forked());
  EXPECT_TRUE(in_a_child([&] { return mark.forked() && !ForkMark().forked(); }));
  EXPECT_FALSE(mark.forked());
}

TEST(PerProcess, EachChildHasAnObjectOfItsOwnThatIsMadeOfItsParents) {
  static constinit PerProcess<Counted> counted;
  Counted& first = counted.get();
  EXPECT_EQ(first.generation, 0);
  EXPECT_TRUE(in_a_child([&] {
    Counted& own = counted.get();
    const bool right = &own != &first && own.generation == 1 && &counted.get() == &own;
    return right && in_a_child([&] { return counted.get().generation == 2; });
  }));
  EXPECT_EQ(&counted.get(), &first);
}

TEST(PerProcess, ThreadsThatAskAtOnceGetTheSameObject) {
  static constinit PerProcess<Counted> counted;
  std::vector<Counted*> got(8);
  std::vector<std::thread> threads;
  for (Counted*& place : got) threads.emplace_back([&place] { place = &counted.get(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::set<Counted*>(got.begin(), got.end()).size(), 1u);
}

}  // namespace
}  // namespace sheaf

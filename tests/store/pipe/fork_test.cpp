// Engines in a forked child, whose parent was using its own.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/read_clocks.h"
#include "socket/uv/uv_loop.h"
#include "store/pipe/pipe_dialer.h"
#include "tests/store/pipe/raw_client.h"

namespace sheaf::store::pipe {
namespace {

// The engine of the parent is locked when it forks, as if another thread were using it.
TEST(PipeFork, AChildHasEnginesOfItsOwn) {
  const Engines before = *open_engines("fork", 1, {});
  const auto loop = *socket::UvLoop::create({});
  PipeLane lane(*loop, before);
  pid_t child = 0;
  {
    SharedEngine::Guard locked(*before[0], lane, loop->now());
    child = fork();
    if (child == 0) {
      alarm(30);  // ends a child that hangs
      const auto own = *open_engines("fork", 1, {});
      const auto other_loop = *socket::UvLoop::create({});
      PipeLane other_lane(*other_loop, own);
      const SharedEngine::Guard free(*own[0], other_lane, other_loop->now());
      _exit(own[0] != before[0] ? 0 : 1);
    }
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ((*open_engines("fork", 1, {}))[0], before[0]);
}

}  // namespace
}  // namespace sheaf::store::pipe

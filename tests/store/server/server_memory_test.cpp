#include <gtest/gtest.h>

#include "store/server/server_session.h"
#include "tests/protocol/scarce_memory.h"

namespace sheaf::store::server {
namespace {

TEST(ServerSession, EndsWhenThereIsNoMemoryForItsInput) {
  const SessionLimits limits;
  ServerSession session(limits, {});
  {
    const protocol::Scarce memory(0);
    EXPECT_TRUE(session.input_space().empty());
  }
  EXPECT_TRUE(session.closed());
  EXPECT_EQ(session.end_text(), "out of memory");
}

}  // namespace
}  // namespace sheaf::store::server

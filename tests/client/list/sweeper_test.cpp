#include "client/list/sweeper.h"

#include <gtest/gtest.h>

namespace sheaf::client::list {
namespace {

// A store that has lost its memory counts its ids from 1 again.
TEST(ListSweeper, OnAnotherConnectionATreeThatWasSweptMayBeThereAgain) {
  const Keys keys("jobs");
  Sweeper sweeper(keys);
  const std::vector<Garbage> garbage{{Garbage::Kind::tree, 5}};
  sweeper.sweep(garbage, {});
  calls::Command command;
  ASSERT_TRUE(sweeper.poll(command));
  EXPECT_EQ(command.operation.key, keys.segment(5));
  socket::Completion absent;
  absent.answered = true;
  absent.reply.status = protocol::Status::absent;
  EXPECT_TRUE(sweeper.on_answer(command.id, absent));
  std::vector<Garbage> of_head = garbage;
  sweeper.forget_swept(of_head);
  EXPECT_TRUE(of_head.empty());

  sweeper.start_over();
  of_head = garbage;
  sweeper.forget_swept(of_head);
  EXPECT_EQ(of_head.size(), 1u);
}

}  // namespace
}  // namespace sheaf::client::list

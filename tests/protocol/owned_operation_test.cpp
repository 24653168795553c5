// What an owned operation keeps, and what its views point to.

#include "protocol/owned_operation.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace sheaf::protocol {
namespace {

using namespace std::chrono_literals;

// An operation with every field set; the caller may change its texts.
Operation full(const std::string& text) {
  Operation operation;
  operation.verb = Verb::increment;
  operation.condition = Condition::if_version;
  operation.ttl = 7ms;
  operation.deadline = 11s;
  operation.flags = 13;
  operation.delta = 17;
  operation.initial = 19;
  operation.key = std::string_view(text).substr(0, 3);
  operation.value = std::string_view(text).substr(3, 3);
  operation.fence = std::string_view(text).substr(6, 3);
  operation.version = std::string_view(text).substr(9, 3);
  return operation;
}

void expect_full(const Operation& operation) {
  EXPECT_EQ(operation.verb, Verb::increment);
  EXPECT_EQ(operation.condition, Condition::if_version);
  EXPECT_EQ(operation.ttl, 7ms);
  EXPECT_EQ(operation.deadline, 11s);
  EXPECT_EQ(operation.flags, 13u);
  EXPECT_EQ(operation.delta, 17u);
  EXPECT_EQ(operation.initial, 19u);
  EXPECT_EQ(operation.key, "key");
  EXPECT_EQ(operation.value, "val");
  EXPECT_EQ(operation.fence, "fen");
  EXPECT_EQ(operation.version, "ver");
}

TEST(OwnedOperation, KeepsEveryFieldAfterTheCallersTextsAreGone) {
  std::string text = "keyvalfenver";
  const OwnedOperation owned(full(text));
  text.assign("xxxxxxxxxxxx");
  expect_full(owned.view());
}

TEST(OwnedOperation, ViewsOfACopyAndOfAMovedOnePointIntoIt) {
  std::string text = "keyvalfenver";
  auto first = std::make_unique<OwnedOperation>(full(text));
  const OwnedOperation copy = *first;
  const OwnedOperation moved = std::move(*first);
  first.reset();
  expect_full(copy.view());
  expect_full(moved.view());
  EXPECT_EQ(copy.view().key.data(), copy.key.data());
  EXPECT_EQ(moved.view().key.data(), moved.key.data());
}

}  // namespace
}  // namespace sheaf::protocol

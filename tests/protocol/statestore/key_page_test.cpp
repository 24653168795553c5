#include "protocol/statestore/key_page.h"

#include <gtest/gtest.h>

#include <string>

namespace sheaf::protocol::statestore {
namespace {

using namespace std::chrono_literals;

TEST(KeyPage, ComesBackAsItWasWritten) {
  std::string text;
  append_cursor(text, {17, ~std::uint64_t{0}});
  EXPECT_EQ(text, "17.ffffffffffffffff\n");
  const KeyPage::Entry odd{std::string_view("a\n\0 ", 4), 20, 1'500ms};
  append_entry(text, odd);
  append_entry(text, {"k", 0, {}});
  const auto page = KeyPage::parse(text);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->next, (KeyCursor{17, ~std::uint64_t{0}}));
  EXPECT_EQ(page->entries, (std::vector<KeyPage::Entry>{odd, {"k", 0, {}}}));
}

TEST(KeyPage, WhatIsNoPageIsRefused) {
  for (const char* text : {"", "1\n", "x.1\n", "1.\n", "1.g\n", "1.1ffffffffffffffff\n",
                           "1.a\n3 1 -\nab", "1.a\n1 1\na", "1.a\n1 1 x\na", "1.a\n1 1 -1\na",
                           "1.a\n1 1 9223372036854775808\na", "1.a\nx", "1.a\n1 1 -\nab"}) {
    EXPECT_FALSE(KeyPage::parse(text)) << text;
  }
}

TEST(KeyPage, AStoreFindsItsOwnCursor) {
  EXPECT_EQ(place_in("7.a,8.b", 0xb), 8u);
  EXPECT_EQ(place_in("7.a,8.b", 0xc), std::nullopt);
  EXPECT_EQ(place_in("-", 0xa), std::nullopt);
  EXPECT_EQ(place_in("", 0xa), std::nullopt);
  EXPECT_EQ(place_in("x,,9.a", 0xa), 9u);
}

}  // namespace
}  // namespace sheaf::protocol::statestore

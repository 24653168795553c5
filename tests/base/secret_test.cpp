#include "base/secret.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <type_traits>

namespace sheaf {
namespace {

// The line VmFlags in /proc/self/smaps for the mapping of `address`.
std::string flags_of(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t first = 0, last = 0;
    char dash = 0;
    std::istringstream words(line);
    if (words >> std::hex >> first >> dash >> last && dash == '-')
      inside = first <= at && at < last;
    if (inside && line.starts_with("VmFlags:")) return line + " ";
  }
  return {};
}

TEST(Secret, HoldsItsBytesAndHasNoCopies) {
  const Secret secret(std::string_view("geheim\0!", 8));
  EXPECT_EQ(secret.view(), std::string_view("geheim\0!", 8));
  EXPECT_FALSE(secret.empty());
  static_assert(!std::is_copy_constructible_v<Secret> && !std::is_copy_assignable_v<Secret>);
  static_assert(std::is_nothrow_move_constructible_v<Secret>);
  static_assert(!std::is_convertible_v<Secret, std::string_view>, "nothing prints it by accident");
}

TEST(Secret, EmptyOnesAreEmpty) {
  EXPECT_TRUE(Secret().empty());
  EXPECT_TRUE(Secret(std::string_view()).view().empty());
  EXPECT_EQ(Secret(), Secret(std::string_view()));
}

TEST(Secret, NoCoreDumpHasItsPages) {
  const std::string beside(5000, 'x');
  const Secret secret("geheim");
  EXPECT_NE(flags_of(secret.view().data()).find(" dd "), std::string::npos);
  EXPECT_EQ(flags_of(beside.data()).find(" dd "), std::string::npos);
}

TEST(Secret, MovesAndLeavesNothingBehind) {
  Secret first("geheim");
  const char* const bytes = first.view().data();
  Secret second(std::move(first));
  EXPECT_TRUE(first.empty());
  EXPECT_EQ(second.view().data(), bytes);
  Secret third("other");
  third = std::move(second);
  EXPECT_TRUE(second.empty());
  EXPECT_EQ(third.view(), "geheim");
  Secret& itself = third;
  third = std::move(itself);
  EXPECT_EQ(third.view(), "geheim");
}

TEST(Secret, TakesATextAndWipesIt) {
  std::string text = "a password that is too long to lie in the object itself";
  const char* const bytes = text.data();
  const std::size_t size = text.size();
  const Secret secret = Secret::take(text);
  EXPECT_EQ(secret.view(), "a password that is too long to lie in the object itself");
  EXPECT_TRUE(text.empty());
  EXPECT_EQ(std::string(bytes, size), std::string(size, '\0'));  // the text still has the memory
}

TEST(Secret, WipingATextReachesWhatItHeldBefore) {
  std::string text(60, 's');
  text.resize(3);
  const char* const bytes = text.data();
  wipe(text);
  EXPECT_EQ(std::string(bytes, 60), std::string(60, '\0'));
  std::string small = "short";
  wipe(small);
  EXPECT_TRUE(small.empty());
  wipe(small);
}

TEST(Secret, ShrinksAndWipesTheRest) {
  Secret secret(6);
  EXPECT_EQ(secret.view(), std::string_view("\0\0\0\0\0\0", 6));
  std::ranges::copy(std::string_view("geheim"), secret.writable().begin());
  const char* const bytes = secret.view().data();
  secret.shrink(9);
  EXPECT_EQ(secret.view(), "geheim");
  secret.shrink(2);
  EXPECT_EQ(secret.view(), "ge");
  EXPECT_EQ(std::string_view(bytes, 6), std::string_view("ge\0\0\0\0", 6));
}

TEST(Secret, ComparesByItsBytes) {
  EXPECT_EQ(Secret("geheim"), Secret("geheim"));
  EXPECT_NE(Secret("geheim"), Secret("geheiM"));
  EXPECT_NE(Secret("Geheim"), Secret("geheim"));
  EXPECT_NE(Secret("geheim"), Secret("geheim1"));
  EXPECT_NE(Secret("geheim"), Secret());
}

TEST(Secret, MayBeLongerThanAPage) {
  const std::string text(70'000, 'k');
  const Secret secret{std::string_view(text)};
  EXPECT_EQ(secret.view(), text);
}

}  // namespace
}  // namespace sheaf

// Decisions of valid documents about users and clients.

#include "store/rights/rights.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"

namespace sheaf::store::rights {
namespace {

namespace wire = protocol::statestore;
using std::chrono_literals::operator""ms;

Rights parsed(std::string_view document) {
  auto rights = parse_rights(document);
  if (!rights) throw std::runtime_error(rights.error());
  return std::move(*rights);
}

Subject user(std::string name, std::string client_id = "client-id") {
  return {std::move(name), std::move(client_id)};
}
Subject anonymous(std::string client_id) { return {std::nullopt, std::move(client_id)}; }

bool may(const Rights& rights, const Subject& subject, RightSet what, std::string_view key) {
  return rights.grant(subject).allows(what, key);
}

TEST(Rights, WhatNoEntryAllowsIsRefused) {
  const Rights nothing = parsed("{}");
  EXPECT_FALSE(may(nothing, user("ann"), Right::read, "key"));
  const Rights rights = parsed(R"({"users":{"ann":{"keys":{"key":["read"]}}}})");
  EXPECT_TRUE(may(rights, user("ann"), Right::read, "key"));
  EXPECT_FALSE(may(rights, user("ann"), Right::write, "key"));
  EXPECT_FALSE(may(rights, user("ann"), Right::read, "key2"));
  EXPECT_FALSE(may(rights, user("ann"), Right::read, "ke"));
  EXPECT_FALSE(may(rights, user("bob"), Right::read, "key"));
  EXPECT_FALSE(may(rights, anonymous("ann"), Right::read, "key")) << "a client ID is no user";
}

TEST(Rights, AStarAtTheEndStandsForAnyBytes) {
  const Rights rights = parsed(R"({"users":{"ann":{"keys":{"line4/*":["read"]}}}})");
  EXPECT_TRUE(may(rights, user("ann"), Right::read, "line4/"));
  EXPECT_TRUE(may(rights, user("ann"), Right::read, "line4/speed"));
  EXPECT_TRUE(may(rights, user("ann"), Right::read, std::string("line4/\0\xFF", 8)));
  EXPECT_FALSE(may(rights, user("ann"), Right::read, "line4"));
  EXPECT_FALSE(may(rights, user("ann"), Right::read, "line40"));
  EXPECT_FALSE(may(rights, user("ann"), Right::read, "Line4/speed"));
}

TEST(Rights, AllEntriesThatFitAddUp) {
  const Rights rights = parsed(R"({
    "users": {"ann": {"keys": {"a*": ["read"], "ab*": ["write"], "abc": ["watch"]}}},
    "clients": {"press-*": {"keys": {"ab*": ["lock"]}}},
    "everybody": {"keys": {"*": ["watch"]}}})");
  const Subject ann = user("ann", "press-1");
  for (const Right right : {Right::read, Right::write, Right::watch, Right::lock}) {
    EXPECT_TRUE(may(rights, ann, right, "abc"));
  }
  EXPECT_FALSE(may(rights, ann, Right::write, "a"));
  EXPECT_FALSE(may(rights, user("ann", "press"), Right::lock, "abc"));
  EXPECT_TRUE(may(rights, anonymous("press-2"), Right::lock, "ab"));
  EXPECT_TRUE(may(rights, anonymous("other"), Right::watch, "anything"));
  EXPECT_FALSE(may(rights, anonymous("other"), Right::read, "anything"));
}

TEST(Rights, LimitsComeFromTheNarrowestEntryThatHasSome) {
  const Rights rights = parsed(R"({
    "users": {"ann": {"limits": {"keys": 2}}, "bob": {}},
    "clients": {"press-*": {"limits": {"bytes": "1KiB"}}, "press-1": {"limits": {"watches": 0}},
                "press-2": {}},
    "everybody": {"limits": {"requests_per_second": 9}}})");
  using Counted = std::pair<std::string, Quota>;
  const auto of = [&](const Subject& subject) {
    const Grant grant = rights.grant(subject);
    return Counted(grant.account_name, grant.quota);
  };
  EXPECT_EQ(of(user("ann", "press-1")), Counted("client press-1", Quota{.watches = 0}));
  EXPECT_EQ(of(user("ann", "press-2")), Counted("client press-2", Quota{.bytes = 1024}));
  EXPECT_EQ(of(user("ann", "x")), Counted("user ann", Quota{.keys = 2}));
  EXPECT_EQ(of(user("bob", "x")), Counted("user bob", Quota{.requests = 9}));
  EXPECT_EQ(of(anonymous("x")), Counted("client x", Quota{.requests = 9}));
}

TEST(Rights, WhoMayInspectHasAnEntryThatSaysSo) {
  const Rights rights = parsed(
      R"({"users":{"ann":{"inspect":true},"bob":{"keys":{"*":["read","write","watch"]}}},
          "clients":{"dashboard-*":{"inspect":true}},"everybody":{"inspect":false}})");
  EXPECT_TRUE(rights.grant(user("ann")).inspect);
  EXPECT_FALSE(rights.grant(user("bob")).inspect) << "not even with every right to every key";
  EXPECT_TRUE(rights.grant(user("bob", "dashboard-1")).inspect);
  EXPECT_FALSE(rights.grant(anonymous("ann")).inspect);
  EXPECT_FALSE(parsed("{}").grant(user("ann")).inspect);
}

TEST(Rights, WithoutLimitsNothingIsCounted) {
  const Rights rights = parsed(R"({"users":{"ann":{"keys":{"*":["read"]}}}})");
  EXPECT_EQ(rights.grant(user("ann")).account_name, "");
  EXPECT_EQ(rights.grant(user("ann")).quota, Quota{});
}

TEST(Rights, EachVerbNeedsItsRight) {
  const RightSet write = Right::write;
  const RightSet write_or_lock = RightSet(Right::write) | Right::lock;
  const auto set = [](wire::SetCondition condition, std::chrono::milliseconds expiry) {
    return wire::Request(wire::SetRequest{"k", "v", condition, expiry});
  };
  using wire::SetCondition;
  EXPECT_EQ(needed(wire::GetRequest{"k"}, true), Right::read);
  EXPECT_TRUE(needed(wire::GetRequest{wire::probe_key}, true).empty());
  EXPECT_EQ(needed(wire::DelRequest{wire::probe_key}, false), write);
  EXPECT_EQ(needed(wire::DelRequest{"k"}, false), write);
  EXPECT_EQ(needed(wire::VdelRequest{"k", "v"}, false), write_or_lock);
  EXPECT_EQ(needed(wire::KeyNotifyRequest{"k"}, false), Right::watch);
  EXPECT_TRUE(needed(wire::KeyNotifyRequest{"k", true}, false).empty());
  EXPECT_EQ(needed(set(SetCondition::if_absent_or_equal, 1ms), false), write_or_lock);
  EXPECT_EQ(needed(set(SetCondition::if_absent_or_equal, 1ms), true), write);
  EXPECT_EQ(needed(set(SetCondition::if_absent_or_equal, 0ms), false), write);
  EXPECT_EQ(needed(set(SetCondition::if_absent, 1ms), false), write);
  EXPECT_EQ(needed(set(SetCondition::none, 1ms), false), write);
  EXPECT_EQ(verb_of(wire::Request(wire::KeyNotifyRequest{"k"})), "KEYNOTIFY");
  EXPECT_EQ(key_of(wire::Request(wire::VdelRequest{"k", "v"})), "k");
}

// Random patterns over few letters. The maps must find what a plain comparison finds.
TEST(Rights, DecisionsAreThoseOfAPlainComparison) {
  constexpr std::string_view words[] = {"read", "write", "watch", "lock"};
  constexpr Right all[] = {Right::read, Right::write, Right::watch, Right::lock};
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto letters = [&](std::uint64_t most) {
      std::string text;
      for (auto i = random.below(most + 1); i > 0; --i) text += random.below(2) == 0 ? 'a' : 'b';
      return text;
    };
    std::map<std::string, std::size_t> patterns;
    std::string document;
    for (int i = 0; i < 6; ++i) {
      std::string pattern = letters(4);
      if (random.below(2) == 0 || pattern.empty()) pattern += '*';
      if (!patterns.emplace(pattern, random.below(4)).second) continue;
      document += (document.empty() ? "\"" : ",\"") + pattern + "\":[\"" +
                  std::string(words[patterns[pattern]]) + "\"]";
    }
    const Rights rights = parsed(R"({"users":{"u":{"keys":{)" + document + "}}}}");
    for (int i = 0; i < 50; ++i) {
      const std::string key = letters(6);
      for (std::size_t right = 0; right < 4; ++right) {
        bool wanted = false;
        for (const auto& [pattern, given] : patterns) {
          const bool open = pattern.ends_with('*');
          const std::string text = open ? pattern.substr(0, pattern.size() - 1) : pattern;
          wanted = wanted || (given == right && (open ? key.starts_with(text) : key == text));
        }
        ASSERT_EQ(may(rights, user("u"), all[right], key), wanted) << key << " in " << document;
      }
    }
  }
}

}  // namespace
}  // namespace sheaf::store::rights

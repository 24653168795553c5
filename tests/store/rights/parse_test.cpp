// Refused documents, each with one sentence that names the place.

#include <gtest/gtest.h>

#include <string>

#include "store/rights/rights.h"

namespace sheaf::store::rights {
namespace {

std::string refusal(std::string_view document) {
  const auto rights = parse_rights(document);
  return rights ? "accepted" : rights.error();
}

std::string refusal_of_keys(const std::string& keys) {
  return refusal(R"({"users":{"ann":{"keys":)" + keys + "}}}");
}

TEST(RightsDocument, WhatIsNoJsonIsRefusedWithItsPlace) {
  EXPECT_EQ(refusal(""), "line 1, column 1: this is not JSON");
  EXPECT_EQ(refusal("{\n  \"users\": {,}}"), "line 2, column 13: this is not JSON");
  EXPECT_EQ(refusal("[]"), "the document must be a JSON object");
  EXPECT_EQ(refusal(std::string(max_rights_bytes + 1, ' ')), "the document is longer than 1 MiB");
}

TEST(RightsDocument, FieldsThatThereAreNotAreRefused) {
  EXPECT_EQ(refusal(R"({"user":{}})"),
            "user is not a field here (users, clients and everybody are)");
  EXPECT_EQ(refusal(R"({"users":{"ann":{"rights":{}}}})"),
            "users.ann.rights is not a field here (keys, limits and inspect are)");
  EXPECT_EQ(refusal(R"({"everybody":{"limits":{"requests":1}}})"),
            "everybody.limits.requests is not a limit (keys, bytes, watches and "
            "requests_per_second are)");
}

TEST(RightsDocument, UsersPatternsAndRightsThatAreGivenTwiceAreRefused) {
  EXPECT_EQ(refusal(R"({"users":{"ann":{},"ann":{}}})"), "users.ann is given twice");
  EXPECT_EQ(refusal(R"({"users":{},"users":{}})"), "users is given twice");
  EXPECT_EQ(refusal_of_keys(R"({"a/*":["read"],"a/*":["write"]})"),
            "users.ann.keys.\"a/*\" is given twice");
  EXPECT_EQ(refusal_of_keys(R"({"a":["read","read"]})"), "users.ann.keys.a[1] is given twice");
}

TEST(RightsDocument, OddPatternsAreRefused) {
  EXPECT_EQ(refusal_of_keys(R"({"":["read"]})"),
            "users.ann.keys.\"\" is an empty pattern (\"*\" is for all)");
  EXPECT_EQ(refusal_of_keys(R"({"a*b":["read"]})"),
            "users.ann.keys.\"a*b\" has a \"*\" that is not at its end");
  EXPECT_EQ(refusal_of_keys(R"({"a**":["read"]})"),
            "users.ann.keys.\"a**\" has a \"*\" that is not at its end");
  EXPECT_EQ(refusal_of_keys(R"({"a\n":["read"]})"),
            "users.ann.keys.\"a\\x0A\" has a control character, which no pattern may have");
  EXPECT_EQ(refusal_of_keys("{\"" + std::string(4097, 'k') + "\":[\"read\"]}"),
            "users.ann.keys.\"" + std::string(64, 'k') + "...\" is longer than 4096 bytes");
  EXPECT_EQ(refusal(R"({"clients":{"a*b":{}}})"),
            "clients.\"a*b\" has a \"*\" that is not at its end");
  EXPECT_EQ(refusal(R"({"users":{"":{}}})"), "users.\"\" is an empty name");
}

TEST(RightsDocument, RightsAreAListOfWords) {
  const std::string rule = "must be a list of one or more of read, write, watch and lock";
  EXPECT_EQ(refusal_of_keys(R"({"k":"read"})"), "users.ann.keys.k " + rule);
  EXPECT_EQ(refusal_of_keys(R"({"k":[]})"), "users.ann.keys.k " + rule);
  EXPECT_EQ(refusal_of_keys(R"({"k":["reed"]})"),
            "users.ann.keys.k[0] must be read, write, watch or lock");
  EXPECT_EQ(refusal_of_keys(R"({"k":["read",1]})"),
            "users.ann.keys.k[1] must be read, write, watch or lock");
  EXPECT_EQ(refusal_of_keys("[]"), "users.ann.keys must be an object of patterns of keys");
  EXPECT_EQ(refusal(R"({"users":[]})"), "users must be an object of names");
  EXPECT_EQ(refusal(R"({"users":{"ann":["read"]}})"),
            "users.ann must be an object with keys, limits and inspect");
}

TEST(RightsDocument, InspectIsTrueOrFalse) {
  EXPECT_EQ(refusal(R"({"users":{"ann":{"inspect":true}},"everybody":{"inspect":false}})"),
            "accepted");
  EXPECT_EQ(refusal(R"({"users":{"ann":{"inspect":"yes"}}})"),
            "users.ann.inspect must be true or false");
  EXPECT_EQ(refusal(R"({"users":{"ann":{"inspect":1}}})"),
            "users.ann.inspect must be true or false");
}

TEST(RightsDocument, LimitsAreNumbers) {
  const auto limit = [](const std::string& text) {
    return refusal(R"({"everybody":{"limits":)" + text + "}}");
  };
  EXPECT_EQ(limit("1"), "everybody.limits must be an object of limits");
  EXPECT_EQ(limit(R"({"keys":-1})"), "everybody.limits.keys must be a whole number, 0 or more");
  EXPECT_EQ(limit(R"({"watches":1.5})"),
            "everybody.limits.watches must be a whole number, 0 or more");
  EXPECT_EQ(limit(R"({"bytes":"16MB"})"),
            "everybody.limits.bytes must be a number of bytes, such as 1000 or \"16MiB\"");
  for (const std::string number : {"0", "1000001", "\"5\""}) {
    EXPECT_EQ(limit(R"({"requests_per_second":)" + number + "}"),
              "everybody.limits.requests_per_second must be a whole number from 1 to 1000000");
  }
  EXPECT_EQ(limit(R"({"keys":0,"bytes":10,"watches":0,"requests_per_second":1000000})"),
            "accepted");
}

}  // namespace
}  // namespace sheaf::store::rights

#include "client/runtime/token_end.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/text.h"

namespace sheaf::client::runtime {
namespace {

using namespace std::chrono_literals;

// A token with this payload, as an issuer writes it.
std::string token(std::string_view payload) {
  std::string text = base64_encode(payload);
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  text.erase(std::min(text.find('='), text.size()));
  return "eyJhbGciOiJSUzI1NiJ9." + text + ".c2lnbmF0dXJl";
}

TEST(TokenEnd, IsTheClaimExp) {
  EXPECT_EQ(token_end(token(R"({"exp":1800000000})")), 1'800'000'000s);
  EXPECT_EQ(token_end(token(R"( { "iss" : "a" , "exp" : 1800000000.75 , "z" : 1 } )")),
            1'800'000'000s);
  EXPECT_EQ(token_end(token(R"({"exp":0})")), 0s);
}

TEST(TokenEnd, IsFoundBehindEverythingElse) {
  EXPECT_EQ(token_end(token(R"({"aud":["a","exp",{"exp":1}],"n":{"exp":2,"s":"}\"]"},"t":true,)"
                            R"("i":-1.5e3,"exp":1800000000,"last":null})")),
            1'800'000'000s);
  EXPECT_EQ(token_end(token(R"({"sub":"\u00fc ~~~???>>>","exp":7})")), 7s);
}

TEST(TokenEnd, IsUnknownIfTheTokenDoesNotSay) {
  for (const auto& text :
       {std::string(), std::string("opaque"), std::string("a.b"), std::string(".."),
        std::string("a.!!!.c"), token(""), token("{}"), token(R"({"sub":"x"})"),
        token(R"({"exp":"soon"})"), token(R"({"exp":-5})"), token(R"({"exp":)"), token(R"({"a":[)"),
        token(R"({"a":]})"), token(R"({"a":"x)"), token(R"(["exp",1])"),
        token(R"({"exp":99999999999999999999})"), token(R"({"exp":253402300800})")}) {
    EXPECT_EQ(token_end(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace sheaf::client::runtime

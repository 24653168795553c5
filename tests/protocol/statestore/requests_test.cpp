// Requests: every byte example of the protocol page and of the recorded SDK calls, in both
// directions; and the requests that a store must refuse, with the error texts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "protocol/statestore/packets.h"
#include "tests/protocol/statestore/bytes_of.h"

namespace sheaf::protocol::statestore {
namespace {

using namespace std::string_view_literals;
using std::chrono::milliseconds;

struct Golden {
  const char* call;
  Request request;
  std::string_view bytes;
};

std::string encoded_request(const Request& request) {
  return std::visit([](const auto& packet) { return bytes_of(packet); }, request);
}

std::vector<Golden> golden_requests() {
  constexpr auto nx = SetCondition::if_absent;
  constexpr auto nex = SetCondition::if_absent_or_equal;
  return {
      {"set", SetRequest{"key", "value"}, raw("*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n")},
      {"set, empty value", SetRequest{"key", ""},
       raw("*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$0\r\n\r\n")},
      {"set, empty value (SDK)", SetRequest{"ekey", ""},
       raw("*3\r\n$3\r\nSET\r\n$4\r\nekey\r\n$0\r\n\r\n")},
      {"set if absent", SetRequest{"key", "value", nx},
       raw("*4\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n$2\r\nNX\r\n")},
      {"set if absent or equal", SetRequest{"key", "value", nex},
       raw("*4\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n$3\r\nNEX\r\n")},
      {"set with expiry", SetRequest{"key", "value", SetCondition::none, milliseconds(1000)},
       raw("*5\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n$2\r\nPX\r\n$4\r\n1000\r\n")},
      {"set, both", SetRequest{"key", "value", nex, milliseconds(10000)},
       raw("*6\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n$3\r\nNEX\r\n$2\r\nPX\r\n$"
           "5\r\n10000\r\n")},
      {"lock acquire", SetRequest{"lock", "me", nex, milliseconds(10000)},
       raw("*6\r\n$3\r\nSET\r\n$4\r\nlock\r\n$2\r\nme\r\n$3\r\nNEX\r\n$2\r\nPX\r\n$"
           "5\r\n10000\r\n")},
      {"lock with session", SetRequest{"lock", "me:s1", nex, milliseconds(10000)},
       raw("*6\r\n$3\r\nSET\r\n$4\r\nlock\r\n$5\r\nme:s1\r\n$3\r\nNEX\r\n$2\r\nPX\r\n$5\r\n10000"
           "\r\n")},
      {"set, fencing token", SetRequest{"fkey", "value"},
       raw("*3\r\n$3\r\nSET\r\n$4\r\nfkey\r\n$5\r\nvalue\r\n")},
      {"set, binary key and value", SetRequest{"\0\r\n\377"sv, "\001\r\n\0"sv},
       raw("*3\r\n$3\r\nSET\r\n$4\r\n\000\r\n\377\r\n$4\r\n\001\r\n\000\r\n")},
      {"get", GetRequest{"key"}, raw("*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n")},
      {"lock holder", GetRequest{"lock"}, raw("*2\r\n$3\r\nGET\r\n$4\r\nlock\r\n")},
      {"delete", DelRequest{"key"}, raw("*2\r\n$3\r\nDEL\r\n$3\r\nkey\r\n")},
      {"delete (SDK)", DelRequest{"pkey"}, raw("*2\r\n$3\r\nDEL\r\n$4\r\npkey\r\n")},
      {"delete if equal", VdelRequest{"key", "value"},
       raw("*3\r\n$4\r\nVDEL\r\n$3\r\nkey\r\n$5\r\nvalue\r\n")},
      {"lock release", VdelRequest{"lock", "me"},
       raw("*3\r\n$4\r\nVDEL\r\n$4\r\nlock\r\n$2\r\nme\r\n")},
      {"watch", KeyNotifyRequest{"SOMEKEY"}, raw("*2\r\n$9\r\nKEYNOTIFY\r\n$7\r\nSOMEKEY\r\n")},
      {"stop watching", KeyNotifyRequest{"SOMEKEY", true},
       raw("*3\r\n$9\r\nKEYNOTIFY\r\n$7\r\nSOMEKEY\r\n$4\r\nSTOP\r\n")},
  };
}

StoreError refusal(std::string_view payload) {
  const auto parsed = parse_request(payload);
  EXPECT_FALSE(parsed) << payload;
  return parsed ? StoreError::quota : parsed.error().error;
}

std::string array_of(const std::vector<std::string>& items) {
  std::string out = "*" + std::to_string(items.size()) + "\r\n";
  for (const std::string& item : items) {
    out += "$" + std::to_string(item.size()) + "\r\n" + item + "\r\n";
  }
  return out;
}

StoreError refusal_of(const std::vector<std::string>& items) { return refusal(array_of(items)); }

TEST(StateStoreRequests, EncodeToTheBytesOfThePageAndOfTheSdks) {
  for (const Golden& golden : golden_requests()) {
    EXPECT_EQ(encoded_request(golden.request), golden.bytes) << golden.call;
  }
}

// The page prints four payloads with verbs in lower case, and says that verbs are sent in upper
// case. A store accepts both; a client sends upper case.
TEST(StateStoreRequests, TheFourPayloadsThatThePagePrintsAreOursByteForByteButForTheVerbsCase) {
  struct Printed {
    Request request;
    std::string_view printed;
    std::string_view sent;
  };
  const Printed page[] = {
      {SetRequest{"SETKEY2", "VALUE5"}, "*3\r\n$3\r\nset\r\n$7\r\nSETKEY2\r\n$6\r\nVALUE5\r\n",
       "*3\r\n$3\r\nSET\r\n$7\r\nSETKEY2\r\n$6\r\nVALUE5\r\n"},
      {GetRequest{"SETKEY2"}, "*2\r\n$3\r\nget\r\n$7\r\nSETKEY2\r\n",
       "*2\r\n$3\r\nGET\r\n$7\r\nSETKEY2\r\n"},
      {DelRequest{"SETKEY2"}, "*2\r\n$3\r\ndel\r\n$7\r\nSETKEY2\r\n",
       "*2\r\n$3\r\nDEL\r\n$7\r\nSETKEY2\r\n"},
      {VdelRequest{"SETKEY2", "ABC"}, "*3\r\n$4\r\nvdel\r\n$7\r\nSETKEY2\r\n$3\r\nABC\r\n",
       "*3\r\n$4\r\nVDEL\r\n$7\r\nSETKEY2\r\n$3\r\nABC\r\n"},
  };
  for (const Printed& each : page) {
    EXPECT_EQ(encoded_request(each.request), each.sent);
    for (const std::string_view payload : {each.printed, each.sent}) {
      const auto parsed = parse_request(payload);
      ASSERT_TRUE(parsed) << payload;
      EXPECT_TRUE(*parsed == each.request) << payload;
    }
  }
}

TEST(StateStoreRequests, ParseFromTheBytesOfThePageAndOfTheSdks) {
  for (const Golden& golden : golden_requests()) {
    const auto parsed = parse_request(golden.bytes);
    ASSERT_TRUE(parsed) << golden.call;
    EXPECT_TRUE(*parsed == golden.request) << golden.call;
  }
}

TEST(StateStoreRequests, HeadValueAndTailAreTheWholePayload) {
  const std::string value(70'000, 'v');
  const SetRequest set{"key", value, SetCondition::if_absent, milliseconds(5)};
  const VdelRequest vdel{"key", value};
  const auto parts_of = [&](const auto& request) {
    std::string out;
    ByteWriter writer(out);
    request.encode_head(writer);
    out += value;
    request.encode_tail(writer);
    return out;
  };
  EXPECT_EQ(parts_of(set), bytes_of(set));
  EXPECT_EQ(parts_of(vdel), bytes_of(vdel));
}

TEST(StateStoreRequests, ConditionAndExpiryAreTakenInEitherOrder) {
  const SetRequest wanted{"k", "v", SetCondition::if_absent, milliseconds(7)};
  const std::string payload = array_of({"SET", "k", "v", "PX", "7", "NX"});
  const auto parsed = parse_request(payload);
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(*parsed == Request(wanted));
}

TEST(StateStoreRequests, VerbsAndOptionsAreTakenInAnyCase) {
  const std::string set = array_of({"sEt", "k", "v", "nex", "pX", "7"});
  EXPECT_TRUE(*parse_request(set) ==
              Request(SetRequest{"k", "v", SetCondition::if_absent_or_equal, milliseconds(7)}));
  const std::string stop = array_of({"KeyNotify", "k", "stop"});
  EXPECT_TRUE(*parse_request(stop) == Request(KeyNotifyRequest{"k", true}));
  const std::string vdel = array_of({"vdel", "k", "v"});
  EXPECT_TRUE(*parse_request(vdel) == Request(VdelRequest{"k", "v"}));
}

TEST(StateStoreRequests, KeyNotifyWithGetIsAPlainWatch) {
  const std::string payload = array_of({"KEYNOTIFY", "k", "GET"});
  EXPECT_TRUE(*parse_request(payload) == Request(KeyNotifyRequest{"k", false}));
}

TEST(StateStoreRequests, TheLongestExpiryOfTheNetSdkIsTaken) {
  const std::string payload = array_of({"SET", "k", "v", "PX", "922337203685477"});
  const auto parsed = parse_request(payload);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(std::get<SetRequest>(*parsed).expiry, milliseconds(922337203685477));
}

TEST(StateStoreRequests, ExpiriesThatAreNoPositiveWholeNumberAreSyntaxErrors) {
  // The second is what the .NET SDK sends for one and a half milliseconds.
  for (const char* expiry : {"0", "1.5", "-1", "+1", "", " 1", "1 ", "ten", "9223372036854775808",
                             "99999999999999999999999"}) {
    EXPECT_EQ(refusal_of({"SET", "k15", "value", "PX", expiry}), StoreError::syntax) << expiry;
  }
  EXPECT_TRUE(parse_request(array_of({"SET", "k", "v", "PX", "9223372036854775807"})));
}

TEST(StateStoreRequests, ConditionsTwiceTogetherOrWithArgumentsAreSyntaxErrors) {
  const std::vector<std::vector<std::string>> options{{"NX", "NX"},
                                                      {"NEX", "NEX"},
                                                      {"NX", "NEX"},
                                                      {"NEX", "NX"},
                                                      {"PX", "1", "PX", "1"},
                                                      {"PX", "1", "PX"},
                                                      {"PX"},
                                                      {"NX", "PX"},
                                                      {"PX", "NX"},
                                                      {"NEX", "other"},
                                                      {"NEX", "other", "PX", "1"},
                                                      {"NX", "NEX", "PX", "1"},
                                                      {"XX"},
                                                      {""},
                                                      {"KEEPTTL"},
                                                      {"EX", "1"},
                                                      {"NEX", "PX", "1", "NX", "PX", "2"}};
  for (const auto& extra : options) {
    std::vector<std::string> items{"SET", "k", "v"};
    items.insert(items.end(), extra.begin(), extra.end());
    EXPECT_EQ(refusal_of(items), StoreError::syntax) << testing::PrintToString(extra);
  }
}

TEST(StateStoreRequests, WrongCountsOfArgumentsAreNamed) {
  for (const std::vector<std::string>& items : std::vector<std::vector<std::string>>{
           {"SET"},
           {"SET", "k"},
           {"GET"},
           {"GET", "k", "x"},
           {"DEL"},
           {"DEL", "k", "k2"},
           {"VDEL", "k"},
           {"VDEL", "k", "v", "x"},
           {"KEYNOTIFY"},
           {"KEYNOTIFY", "k", "STOP", "x"},
           {"GET", "k", "1", "2", "3", "4", "5", "6", "7", "8"}}) {
    EXPECT_EQ(refusal_of(items), StoreError::wrong_arguments) << testing::PrintToString(items);
  }
}

TEST(StateStoreRequests, AnUnknownOptionOfKeyNotifyIsASyntaxError) {
  EXPECT_EQ(refusal_of({"KEYNOTIFY", "k", "START"}), StoreError::syntax);
  EXPECT_EQ(refusal_of({"KEYNOTIFY", "k", ""}), StoreError::syntax);
}

TEST(StateStoreRequests, VerbsThatTheStoreDoesNotHaveAreUnknownCommands) {
  EXPECT_EQ(refusal_of({"SCAN", "key*"}), StoreError::unknown_command);
  EXPECT_EQ(refusal("*2\r\n$4\r\nSCAN\r\n$4\r\nkey*\r\n"), StoreError::unknown_command);
  EXPECT_EQ(refusal_of({""}), StoreError::unknown_command);
  EXPECT_EQ(refusal_of({"SETX", "k", "v"}), StoreError::unknown_command);
  EXPECT_EQ(refusal_of({"MGET", "1", "2", "3", "4", "5", "6", "7"}), StoreError::unknown_command);
}

TEST(StateStoreRequests, AnEmptyKeyIsNamedForEveryVerb) {
  // The first is what the .NET SDK sends.
  EXPECT_EQ(refusal("*3\r\n$3\r\nSET\r\n$0\r\n\r\n$1\r\nv\r\n"), StoreError::key_empty);
  EXPECT_EQ(refusal_of({"GET", ""}), StoreError::key_empty);
  EXPECT_EQ(refusal_of({"DEL", ""}), StoreError::key_empty);
  EXPECT_EQ(refusal_of({"VDEL", "", "v"}), StoreError::key_empty);
  EXPECT_EQ(refusal_of({"KEYNOTIFY", ""}), StoreError::key_empty);
  EXPECT_EQ(refusal_of({"KEYNOTIFY", "", "STOP"}), StoreError::key_empty);
}

TEST(StateStoreRequests, ASyntaxErrorComesBeforeAnEmptyKey) {
  EXPECT_EQ(refusal_of({"SET", "", "v", "NX", "NX"}), StoreError::syntax);
  EXPECT_EQ(refusal_of({"KEYNOTIFY", "", "NO"}), StoreError::syntax);
}

TEST(StateStoreRequests, OnlyRefusalsOfKeyNotifySayThatTheyAre) {
  EXPECT_TRUE(parse_request(array_of({"KEYNOTIFY"})).error().to_keynotify);
  EXPECT_TRUE(parse_request(array_of({"keynotify", ""})).error().to_keynotify);
  EXPECT_TRUE(parse_request(array_of({"KEYNOTIFY", "k", "x"})).error().to_keynotify);
  EXPECT_FALSE(parse_request(array_of({"GET"})).error().to_keynotify);
  EXPECT_FALSE(parse_request("KEYNOTIFY").error().to_keynotify);
}

TEST(StateStoreRequests, BrokenFramingIsASyntaxErrorAndHoldsNoMemory) {
  for (const std::string_view payload :
       {""sv,
        "*"sv,
        "*\r\n"sv,
        "*0\r\n"sv,
        "*-1\r\n"sv,
        "*1"sv,
        "*1\r\n"sv,
        "GET key\r\n"sv,
        "*1\r\n+GET\r\n"sv,
        "*2\r\n$3\r\nGET\r\n$3\r\nkey"sv,
        "*2\r\n$3\r\nGET\r\n$3\r\nkey\r"sv,
        "*2\r\n$3\r\nGET\r\n$3\r\nkey\rx"sv,
        "*2\r\n$3\r\nGET\r\n$4\r\nkey\r\n"sv,
        "*2\r\n$3\r\nGET\r\n$2\r\nkey\r\n"sv,
        "*2\r\n$3\r\nGET\r\n$-1\r\n"sv,
        "*2\r\n$3\r\nGET\r\n$03\r\nkey\r\n"sv,
        "*2\r\n$3\r\nGET\r\n$+3\r\nkey\r\n"sv,
        "*2\r\n$3\r\nGET\r\n$ 3\r\nkey\r\n"sv,
        "*2\r\n$3\r\nGET\r\n$\r\n\r\n"sv,
        "*02\r\n$3\r\nGET\r\n$3\r\nkey\r\n"sv,
        "*2\n$3\nGET\n$3\nkey\n"sv,
        "*2\r\n$3\r\nGET\r\n$18446744073709551615\r\nkey\r\n"sv,
        "*2\r\n$3\r\nGET\r\n$99999999999999999999\r\nkey\r\n"sv,
        "*18446744073709551615\r\n$3\r\nGET\r\n"sv,
        "*3\r\n$3\r\nGET\r\n$3\r\nkey\r\n"sv,
        "*2\r\n$3\r\nGET\r\n$3\r\nkey\r\nx"sv,
        "*1\r\n$3\r\nGET\r\n$3\r\nkey\r\n"sv,
        "*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n"sv,
        " *2\r\n$3\r\nGET\r\n$3\r\nkey\r\n"sv,
        "\0"sv}) {
    EXPECT_EQ(refusal(payload), StoreError::syntax) << testing::PrintToString(payload);
  }
}

TEST(StateStoreRequests, EveryTruncationAndEverySurplusByteIsASyntaxError) {
  for (const Golden& golden : golden_requests()) {
    for (std::size_t size = 0; size < golden.bytes.size(); ++size) {
      EXPECT_EQ(refusal(golden.bytes.substr(0, size)), StoreError::syntax) << golden.call << size;
    }
    EXPECT_EQ(refusal(std::string(golden.bytes) + "\n"), StoreError::syntax) << golden.call;
  }
}

TEST(StateStoreRequests, EveryChangedByteGivesARequestOrARefusalAndNothingElse) {
  for (const Golden& golden : golden_requests()) {
    for (std::size_t at = 0; at < golden.bytes.size(); ++at) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string payload(golden.bytes);
        payload[at] = static_cast<char>(byte);
        const auto parsed = parse_request(payload);
        if (!parsed) continue;
        // Accepted requests are canonical except for the case of verbs and options.
        const auto again = parse_request(encoded_request(*parsed));
        ASSERT_TRUE(again) << golden.call << " byte " << at << " = " << byte;
      }
    }
  }
}

TEST(StateStoreRequests, ANegativeExpiryIsNotSent) {
  EXPECT_EQ(bytes_of(SetRequest{"k", "v", SetCondition::none, milliseconds(-5)}),
            bytes_of(SetRequest{"k", "v"}));
}

}  // namespace
}  // namespace sheaf::protocol::statestore

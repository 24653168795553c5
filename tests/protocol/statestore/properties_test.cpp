// User properties, and the texts of errors.

#include "protocol/statestore/properties.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "protocol/statestore/errors.h"

namespace sheaf::protocol::statestore {
namespace {

Fault status_fault(std::string_view status) {
  ReplyProperties reply;
  reply.take("__stat", status);
  const auto checked = reply.check();
  EXPECT_FALSE(checked) << status;
  return checked ? Fault{} : checked.error();
}

TEST(StateStoreProperties, OnlyTrueAsksForPersistence) {
  for (const std::string_view value : {"false", "", "True", "1", "true "}) {
    RequestProperties request;
    request.take("aio-persistence", value);
    EXPECT_FALSE(request.persist()) << value;
  }
  RequestProperties request;
  EXPECT_FALSE(request.persist());
  request.take("aio-persistence", "true");
  request.take("aio-persistence", "false");
  EXPECT_TRUE(request.persist());
}

TEST(StateStoreProperties, TheFirstOfANameWinsAndUnknownOnesAreIgnored) {
  RequestProperties request;
  request.take("__protVer", "1.0");
  request.take("__ts", "1:0:a");
  request.take("__ts", "2:0:a");
  request.take("__ft", "3:0:a");
  request.take("__FT", "4:0:a");
  request.take("", "x");
  EXPECT_EQ(request.timestamp, "1:0:a");
  EXPECT_EQ(request.fencing_token, "3:0:a");

  ReplyProperties reply;
  reply.take("__stat", "200");
  reply.take("__stat", "500");
  reply.take("__ts", "1:0:StateStore");
  reply.take("__ts", "2:0:StateStore");
  reply.take("__stMsg", "a");
  reply.take("__stMsg", "b");
  reply.take("__protVer", "1.0");
  reply.take("__protVer", "9.0");
  EXPECT_EQ(reply.timestamp, "1:0:StateStore");
  EXPECT_EQ(reply.status_message, "a");
  EXPECT_TRUE(reply.check());
}

TEST(StateStoreProperties, AReplyWithoutPropertiesMayBeRead) {
  EXPECT_TRUE(ReplyProperties{}.check());
}

TEST(StateStoreProperties, TwoNumbersMeanSuccess) {
  for (const char* status : {"200", "204", "0200"}) {
    ReplyProperties reply;
    reply.take("__stat", status);
    EXPECT_TRUE(reply.check()) << status;
  }
}

TEST(StateStoreProperties, OtherNumbersAreErrorsOfTheRemoteEnd) {
  EXPECT_EQ(status_fault("400").reason, Reason::syntax);
  EXPECT_EQ(status_fault("408").reason, Reason::timed_out);
  EXPECT_EQ(status_fault("415").reason, Reason::syntax);
  EXPECT_EQ(status_fault("500").reason, Reason::other);
  EXPECT_EQ(status_fault("503").reason, Reason::clock_skew);
  EXPECT_EQ(status_fault("505").reason, Reason::other);
  EXPECT_EQ(status_fault("201").reason, Reason::other);
  EXPECT_EQ(status_fault("418").text, "unknown remote error");
}

TEST(StateStoreProperties, TheRemoteEndsOwnWordsAreKept) {
  ReplyProperties reply;
  reply.take("__stat", "500");
  reply.take("__stMsg", "disk on fire");
  EXPECT_EQ(reply.check().error().text, "disk on fire");
}

TEST(StateStoreProperties, AStatusThatIsNoNumberIsMalformed) {
  for (const char* status : {"", "OK", "2OO", "-1", "200 ", "200.0"}) {
    EXPECT_TRUE(status_fault(status).malformed()) << status;
  }
}

TEST(StateStoreProperties, OnlyVersionOneOfTheProtocolIsRead) {
  for (const char* version : {"1.0", "1.7", "1.10"}) {
    ReplyProperties reply;
    reply.take("__protVer", version);
    EXPECT_TRUE(reply.check()) << version;
  }
  for (const char* version : {"2.0", "0.9", "1", "1.", "", "one", "11.0", "1.x"}) {
    ReplyProperties reply;
    reply.take("__protVer", version);
    ASSERT_FALSE(reply.check()) << version;
    EXPECT_TRUE(reply.check().error().malformed()) << version;
  }
}

TEST(StateStoreErrors, TheTwelveTextsOfThePage) {
  EXPECT_EQ(text_of(StoreError::timestamp_skew),
            "the request timestamp is too far in the future; ensure that the client and broker "
            "system clocks are synchronized");
  EXPECT_EQ(text_of(StoreError::fencing_required), "a fencing token is required for this request");
  EXPECT_EQ(text_of(StoreError::fencing_skew),
            "the request fencing token timestamp is too far in the future; ensure that the client "
            "and broker system clocks are synchronized");
  EXPECT_EQ(text_of(StoreError::fencing_stale),
            "the request fencing token is a lower version than the fencing token protecting the "
            "resource");
  EXPECT_EQ(text_of(StoreError::quota), "the quota has been exceeded");
  EXPECT_EQ(text_of(StoreError::syntax), "syntax error");
  EXPECT_EQ(text_of(StoreError::not_authorized), "not authorized");
  EXPECT_EQ(text_of(StoreError::unknown_command), "unknown command");
  EXPECT_EQ(text_of(StoreError::wrong_arguments), "wrong number of arguments");
  EXPECT_EQ(text_of(StoreError::timestamp_missing), "missing timestamp");
  EXPECT_EQ(text_of(StoreError::timestamp_malformed), "malformed timestamp");
  EXPECT_EQ(text_of(StoreError::key_empty), "the key length is zero");
  EXPECT_EQ(text_of(StoreError::read_only),
            "the store is read-only, because its file cannot be written");
}

TEST(StateStoreErrors, EveryTextIsItsOwnReason) {
  std::set<Reason> reasons;
  for (int i = 0; i <= static_cast<int>(StoreError::read_only); ++i) {
    const auto error = static_cast<StoreError>(i);
    EXPECT_EQ(reason_of(text_of(error)), reason_of(error)) << text_of(error);
    reasons.insert(reason_of(error));
  }
  EXPECT_EQ(reasons.size(), 13u);
}

TEST(StateStoreErrors, OlderAndMisprintedWordingsAreKnownByTheirStems) {
  EXPECT_EQ(reason_of("the requested timestamp is too far in the future; ensure …"),
            Reason::clock_skew);
  EXPECT_EQ(reason_of("the requested fencing token timestamp is too far in the future; ensure …"),
            Reason::fencing_skew);
  EXPECT_EQ(reason_of("the request fencing token is a lower version that the fencing token "
                      "protecting the resource"),
            Reason::fencing_stale);
  EXPECT_EQ(reason_of("The Request Fencing Token Is A Lower Version That …"),
            Reason::fencing_stale);
  EXPECT_EQ(reason_of("A FENCING TOKEN IS REQUIRED FOR THIS REQUEST"), Reason::fencing_required);
}

TEST(StateStoreErrors, UnknownWordsHaveNoReason) {
  EXPECT_EQ(reason_of(""), Reason::other);
  EXPECT_EQ(reason_of("out of cheese"), Reason::other);
  EXPECT_EQ(reason_of("syntax  error"), Reason::other);
  EXPECT_EQ(reason_of(std::string(1 << 20, 's')), Reason::other);
}

}  // namespace
}  // namespace sheaf::protocol::statestore

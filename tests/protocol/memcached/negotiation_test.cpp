#include "protocol/memcached/negotiation.h"

#include <gtest/gtest.h>

namespace sheaf::protocol::memcached {
namespace {

CloseReason ended(Reason reason = Reason::connect_failed, bool permanent = false) {
  return {reason, "as it happens", permanent};
}
ServerFacts silent() { return {}; }
ServerFacts of_version(ServerVersion version) { return {version, Dialect::this_one}; }

TEST(Negotiation, WithoutAPasswordBothWaysAreTriedAndThenItIsTheServersFault) {
  Negotiation negotiation(false);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(negotiation.next(), Way::meta);
    EXPECT_FALSE(negotiation.proven());
    EXPECT_TRUE(negotiation.on_end(Way::meta, ended(), silent()));
    EXPECT_EQ(negotiation.next(), Way::binary);
    EXPECT_FALSE(negotiation.on_end(Way::binary, ended(), silent()));
  }
}

TEST(Negotiation, AProvenWayIsKeptAndLeftWithoutBlameWhenTheServerIsReplaced) {
  Negotiation negotiation(false);
  negotiation.on_end(Way::meta, ended(), silent());
  negotiation.on_ready(Way::binary);
  EXPECT_EQ(negotiation.next(), Way::binary);
  EXPECT_TRUE(negotiation.proven());
  EXPECT_TRUE(negotiation.on_end(Way::binary, ended(), silent()));
  EXPECT_EQ(negotiation.next(), Way::meta);
  EXPECT_FALSE(negotiation.proven());
  EXPECT_TRUE(negotiation.on_end(Way::meta, ended(), silent())) << "the other has not failed since";
  EXPECT_FALSE(negotiation.on_end(Way::binary, ended(), silent()));
}

TEST(Negotiation, WhoeverHasUnderstoodUsIsToBlame) {
  const CloseReason refused = ended(Reason::authentication, true);
  for (const Way way : {Way::meta, Way::binary}) {
    Negotiation negotiation(false);
    if (way == Way::binary) negotiation.on_end(Way::meta, ended(), silent());
    EXPECT_FALSE(negotiation.on_end(way, refused, silent()));
    EXPECT_FALSE(negotiation.on_end(way, ended(), of_version(meta_since)));
    EXPECT_FALSE(negotiation.on_end(way, ended(Reason::closed), silent())) << "our own wish";
    EXPECT_FALSE(negotiation.on_end(way, ended(Reason::timed_out), silent()));
    EXPECT_EQ(negotiation.next(), way);
  }
}

TEST(Negotiation, AServerThatIsTooOldForMetaIsAskedInBinary) {
  const ServerVersion old{1, 6, 9};
  ASSERT_LT(old, meta_since);
  Negotiation negotiation(false);
  EXPECT_TRUE(negotiation.on_end(Way::meta, ended(Reason::connect_failed, true), of_version(old)));
  EXPECT_EQ(negotiation.next(), Way::binary);
  EXPECT_FALSE(negotiation.on_end(Way::binary, ended(), of_version(old)));
  EXPECT_EQ(negotiation.next(), Way::binary) << "binary is as old as the server";
}

TEST(Negotiation, WithAPasswordAQuestionComesFirst) {
  Negotiation negotiation(true);
  EXPECT_EQ(negotiation.next(), Way::question);
  EXPECT_FALSE(negotiation.on_end(Way::question, ended(), silent())) << "no answer";
  EXPECT_EQ(negotiation.next(), Way::question);
  for (const Dialect text : {Dialect::text, Dialect::text_and_log_in}) {
    Negotiation other(true);
    other.on_answer(text);
    EXPECT_EQ(other.next(), Way::meta);
  }
  negotiation.on_answer(Dialect::this_one);
  EXPECT_EQ(negotiation.next(), Way::binary);
  negotiation.on_ready(Way::binary);
  EXPECT_TRUE(negotiation.on_end(Way::binary, ended(), silent()));
  EXPECT_EQ(negotiation.next(), Way::question) << "no password before it is asked again";
}

TEST(Negotiation, AServerThatIsNeverAsItAnsweredIsToBlameTheSecondTime) {
  Negotiation negotiation(true);
  for (int round = 0; round < 3; ++round) {
    negotiation.on_answer(Dialect::text);
    EXPECT_TRUE(negotiation.on_end(Way::meta, ended(), silent()));
    negotiation.on_answer(Dialect::text);
    EXPECT_FALSE(negotiation.on_end(Way::meta, ended(), silent()));
  }
}

TEST(Negotiation, ConnectionsThatWereBegunTogetherChangeTheWayOnce) {
  Negotiation negotiation(false);
  EXPECT_TRUE(negotiation.on_end(Way::meta, ended(), silent()));
  EXPECT_TRUE(negotiation.on_end(Way::meta, ended(), silent())) << "begun before binary was next";
  EXPECT_EQ(negotiation.next(), Way::binary);
  negotiation.on_ready(Way::binary);
  EXPECT_TRUE(negotiation.on_end(Way::meta, ended(), silent()));
  EXPECT_TRUE(negotiation.proven());
}

TEST(Negotiation, AConnectionThatBecomesReadyShowsTheWay) {
  Negotiation negotiation(false);
  negotiation.on_end(Way::meta, ended(), silent());
  negotiation.on_ready(Way::meta);
  EXPECT_EQ(negotiation.next(), Way::meta);
  EXPECT_TRUE(negotiation.proven());
}

}  // namespace
}  // namespace sheaf::protocol::memcached

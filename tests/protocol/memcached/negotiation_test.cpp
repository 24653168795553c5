#include "protocol/memcached/negotiation.h"

#include <gtest/gtest.h>

namespace sheaf::protocol::memcached {
namespace {

CloseReason ended(Reason reason = Reason::connect_failed, bool permanent = false) {
  return {reason, "as it happens", permanent};
}
ServerFacts silent() { return {}; }
ServerFacts of_version(ServerVersion version) { return {version, Dialect::this_one}; }

using End = Negotiation::End;

TEST(Negotiation, WithoutAPasswordBothWaysAreTriedAndThenItIsTheServersFault) {
  Negotiation negotiation(false);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(negotiation.next(), Way::meta);
    EXPECT_FALSE(negotiation.proven());
    EXPECT_EQ(negotiation.on_end(Way::meta, ended(), silent()), End::another_way);
    EXPECT_EQ(negotiation.next(), Way::binary);
    EXPECT_EQ(negotiation.on_end(Way::binary, ended(), silent()), End::no_way);
  }
}

TEST(Negotiation, WhatWasSaidToTheOtherWayIsKept) {
  Negotiation negotiation(false);
  CloseReason in_text = ended();
  in_text.text = "ERROR";
  EXPECT_EQ(negotiation.on_end(Way::meta, in_text, silent()), End::another_way);
  EXPECT_EQ(negotiation.on_end(Way::binary, ended(), silent()), End::no_way);
  EXPECT_EQ(negotiation.other_failure(), "ERROR");
}

TEST(Negotiation, AServerOfAnotherKindIsNotAskedInAnotherWay) {
  Negotiation negotiation(false);
  CloseReason http = ended(Reason::protocol_error);
  http.other_kind = true;
  EXPECT_EQ(negotiation.on_end(Way::meta, http, silent()), End::meant);
  EXPECT_EQ(negotiation.next(), Way::meta);
}

TEST(Negotiation, AProvenWayIsKeptAndLeftWithoutBlameWhenTheServerIsReplaced) {
  Negotiation negotiation(false);
  negotiation.on_end(Way::meta, ended(), silent());
  negotiation.on_ready(Way::binary);
  EXPECT_EQ(negotiation.next(), Way::binary);
  EXPECT_TRUE(negotiation.proven());
  EXPECT_EQ(negotiation.on_end(Way::binary, ended(), silent()), End::another_way);
  EXPECT_EQ(negotiation.next(), Way::meta);
  EXPECT_FALSE(negotiation.proven());
  EXPECT_EQ(negotiation.on_end(Way::meta, ended(), silent()), End::another_way)
      << "the other has not failed since";
  EXPECT_EQ(negotiation.on_end(Way::binary, ended(), silent()), End::no_way);
}

TEST(Negotiation, WhoeverHasUnderstoodUsIsToBlame) {
  const CloseReason refused = ended(Reason::authentication, true);
  for (const Way way : {Way::meta, Way::binary}) {
    Negotiation negotiation(false);
    if (way == Way::binary) negotiation.on_end(Way::meta, ended(), silent());
    EXPECT_EQ(negotiation.on_end(way, refused, silent()), End::meant);
    EXPECT_EQ(negotiation.on_end(way, ended(), of_version(meta_since)), End::meant);
    EXPECT_EQ(negotiation.on_end(way, ended(Reason::closed), silent()), End::meant)
        << "our own wish";
    EXPECT_EQ(negotiation.on_end(way, ended(Reason::timed_out), silent()), End::meant);
    EXPECT_EQ(negotiation.next(), way);
  }
}

TEST(Negotiation, AServerThatIsTooOldForMetaIsAskedInBinary) {
  const ServerVersion old{1, 6, 9};
  ASSERT_LT(old, meta_since);
  Negotiation negotiation(false);
  EXPECT_EQ(negotiation.on_end(Way::meta, ended(Reason::connect_failed, true), of_version(old)),
            End::another_way);
  EXPECT_EQ(negotiation.next(), Way::binary);
  EXPECT_EQ(negotiation.on_end(Way::binary, ended(), of_version(old)), End::meant);
  EXPECT_EQ(negotiation.next(), Way::binary) << "binary is as old as the server";
}

TEST(Negotiation, WithAPasswordAQuestionComesFirst) {
  Negotiation negotiation(true);
  EXPECT_EQ(negotiation.next(), Way::question);
  EXPECT_EQ(negotiation.on_end(Way::question, ended(), silent()), End::meant) << "no answer";
  EXPECT_EQ(negotiation.next(), Way::question);
  for (const Dialect text : {Dialect::text, Dialect::text_and_log_in}) {
    Negotiation other(true);
    other.on_answer(text);
    EXPECT_EQ(other.next(), Way::meta);
  }
  negotiation.on_answer(Dialect::this_one);
  EXPECT_EQ(negotiation.next(), Way::binary);
  negotiation.on_ready(Way::binary);
  EXPECT_EQ(negotiation.on_end(Way::binary, ended(), silent()), End::another_way);
  EXPECT_EQ(negotiation.next(), Way::question) << "no password before it is asked again";
}

TEST(Negotiation, AServerThatIsNeverAsItAnsweredIsToBlameTheSecondTime) {
  Negotiation negotiation(true);
  for (int round = 0; round < 3; ++round) {
    negotiation.on_answer(Dialect::text);
    EXPECT_EQ(negotiation.on_end(Way::meta, ended(), silent()), End::another_way);
    negotiation.on_answer(Dialect::text);
    EXPECT_EQ(negotiation.on_end(Way::meta, ended(), silent()), End::no_way);
  }
}

TEST(Negotiation, ConnectionsThatWereBegunTogetherChangeTheWayOnce) {
  Negotiation negotiation(false);
  EXPECT_EQ(negotiation.on_end(Way::meta, ended(), silent()), End::another_way);
  EXPECT_EQ(negotiation.on_end(Way::meta, ended(), silent()), End::another_way)
      << "begun before binary was next";
  EXPECT_EQ(negotiation.next(), Way::binary);
  negotiation.on_ready(Way::binary);
  EXPECT_EQ(negotiation.on_end(Way::meta, ended(), silent()), End::another_way);
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

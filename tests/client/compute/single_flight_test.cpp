// Which caller leads and which ones are notified, call by call.

#include "client/compute/single_flight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace sheaf::client::compute {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Log = std::vector<std::string>;

class Caller final : public SingleFlight::Member {
 public:
  Caller(Log& log, std::string name, bool here = false)
      : log_(log), name_(std::move(name)), here_(here) {}
  void on_lead(Now) override { log_.push_back(name_ + " leads"); }
  void on_value(const SharedValue& value, Now) override {
    log_.push_back(name_ + " gets " + value->data);
  }
  void on_right(Right right, Now) override { log_.push_back(name_ + " has " + right.holder); }
  bool computes_here() const override { return here_; }
  std::optional<Right> give() override {
    if (begun) return std::nullopt;
    return Right{false, "", "right"};
  }
  bool begun = false;  // its function

 private:
  Log& log_;
  const std::string name_;
  const bool here_;
};

class Flights : public testing::Test {
 protected:
  Log log;
  SingleFlight flights;
  Caller first{log, "first"};
  Caller second{log, "second"};
  Caller third{log, "third", true};
  Caller fourth{log, "fourth", true};
  const Value value{"made", {}, 0};
};

TEST_F(Flights, TheFirstLeadsAndTheOthersGetItsValueInTheirOrder) {
  EXPECT_TRUE(flights.join("key", first));
  EXPECT_FALSE(flights.join("key", second));
  EXPECT_FALSE(flights.join("key", third));
  EXPECT_THAT(log, IsEmpty());
  flights.end("key", &value, {});
  EXPECT_THAT(log, ElementsAre("second gets made", "third gets made"));
  EXPECT_TRUE(flights.empty());
}

TEST_F(Flights, WhoJoinsAfterTheValueBeginsAnew) {
  flights.join("key", first);
  flights.end("key", &value, {});
  EXPECT_TRUE(flights.join("key", second));
}

TEST_F(Flights, KeysDoNotKnowEachOther) {
  EXPECT_TRUE(flights.join("a", first));
  EXPECT_TRUE(flights.join("b", second));
  EXPECT_FALSE(flights.join("b", third));
  flights.end("a", &value, {});
  EXPECT_THAT(log, IsEmpty());
}

TEST_F(Flights, WithoutAValueTheNextInLineLeadsAndTheOthersWait) {
  flights.join("key", first);
  flights.join("key", second);
  flights.join("key", third);
  flights.end("key", nullptr, {});
  EXPECT_THAT(log, ElementsAre("second leads"));
  flights.end("key", &value, {});
  EXPECT_THAT(log, ElementsAre("second leads", "third gets made"));
}

TEST_F(Flights, WhoHasLeftIsNotTold) {
  flights.join("key", first);
  flights.join("key", second);
  flights.join("key", third);
  flights.leave("key", second);
  flights.leave("key", second);
  flights.end("key", nullptr, {});
  EXPECT_THAT(log, ElementsAre("third leads"));
  flights.end("key", nullptr, {});
  EXPECT_TRUE(flights.empty());
}

TEST_F(Flights, WhatIsOfferedGoesToTheFirstThatComputesWhereItWaits) {
  flights.join("key", first);
  flights.join("key", second);
  flights.join("key", third);
  flights.join("key", fourth);
  EXPECT_TRUE(flights.offer("key", first, {}));
  EXPECT_THAT(log, ElementsAre("third has right"));
  flights.end("key", &value, {});
  EXPECT_THAT(log, ElementsAre("third has right", "second gets made", "fourth gets made",
                               "first gets made"));
}

TEST_F(Flights, WhoComesLaterTakesWhatIsOfferedOnce) {
  flights.join("key", first);
  EXPECT_FALSE(flights.offer("key", first, {}));
  flights.join("key", third);
  EXPECT_EQ(flights.take("key", third)->holder, "right");
  flights.join("key", fourth);
  EXPECT_FALSE(flights.take("key", fourth));
  flights.end("key", nullptr, {});
  EXPECT_THAT(log, ElementsAre("first leads"));
}

TEST_F(Flights, AFunctionThatHasBegunIsNotTakenFromItsLeader) {
  first.begun = true;
  flights.join("key", first);
  flights.join("key", third);
  EXPECT_FALSE(flights.offer("key", first, {}));
  EXPECT_FALSE(flights.take("key", third));
  flights.end("key", &value, {});
  EXPECT_THAT(log, ElementsAre("third gets made"));
}

TEST_F(Flights, AnOfferEndsWithItsLeader) {
  flights.join("key", first);
  flights.join("key", second);
  flights.offer("key", first, {});
  flights.end("key", nullptr, {});
  flights.join("key", third);
  EXPECT_FALSE(flights.take("key", third));
  EXPECT_THAT(log, ElementsAre("second leads"));
}

// The loss without each rule: see the room of the simulation.
TEST_F(Flights, ARuleThatIsSwitchedOffIsMissing) {
  flights.set_controls({.tell_all = false, .pass_on = true, .lend = true});
  flights.join("key", first);
  flights.join("key", second);
  flights.join("key", third);
  flights.end("key", &value, {});
  EXPECT_THAT(log, ElementsAre("third gets made"));
}

}  // namespace
}  // namespace sheaf::client::compute

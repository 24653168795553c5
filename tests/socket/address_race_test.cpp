// Races between the addresses of a name, as transcripts in virtual time.

#include "socket/address_race.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sheaf::socket {
namespace {

using namespace std::chrono_literals;
using Addresses = std::vector<AddressRace::Racer>;

constexpr Deadline start = 100s;

// Lets the race run until `end` without an answer of any address: "0 at 0ms, 1 at 125ms".
std::string run(AddressRace& race, Deadline end, Deadline from = start) {
  std::string said;
  for (Deadline now = from; now <= end; now = race.poll_deadline()) {
    while (const auto place = race.next(now)) {
      if (!said.empty()) said += ", ";
      said += std::to_string(*place) + " at " +
              std::to_string(
                  std::chrono::duration_cast<std::chrono::milliseconds>(now - start).count()) +
              "ms";
    }
    if (race.poll_deadline() == never) break;
  }
  return said;
}

std::string silent(const Addresses& addresses, std::chrono::nanoseconds time) {
  AddressRace race(addresses, start, start + time);
  return run(race, start + time);
}

TEST(AddressRace, AnAddressThatIsSilentCostsAPause) {
  EXPECT_EQ(silent({{4}}, 500ms), "0 at 0ms");
  EXPECT_EQ(silent({{4}, {4}}, 500ms), "0 at 0ms, 1 at 125ms");
  EXPECT_EQ(silent({{4}, {4}, {4}}, 500ms), "0 at 0ms, 1 at 125ms, 2 at 250ms");
}

TEST(AddressRace, ThePauseLeavesTimeForTheLastAndIsNeverLong) {
  EXPECT_EQ(silent({{4}, {4}, {4}, {4}, {4}}, 600ms),
            "0 at 0ms, 1 at 100ms, 2 at 200ms, 3 at 300ms, 4 at 400ms");
  EXPECT_EQ(silent({{4}, {4}, {4}}, 10s), "0 at 0ms, 1 at 250ms, 2 at 500ms");
  EXPECT_EQ(silent({{4}, {4}}, 8ms), "0 at 0ms") << "at least 10 ms";
  AddressRace late(Addresses{{4}, {4}}, start, start - 1s);
  EXPECT_EQ(run(late, start + 1s), "0 at 0ms, 1 at 10ms");
}

TEST(AddressRace, FamiliesTakeTurnsInTheOrderOfTheSystem) {
  EXPECT_EQ(silent({{6}, {6}, {6}, {4}, {4}}, 600ms),
            "0 at 0ms, 3 at 100ms, 1 at 200ms, 4 at 300ms, 2 at 400ms");
  EXPECT_EQ(silent({{4}, {6}, {6}, {1}}, 500ms), "0 at 0ms, 1 at 100ms, 3 at 200ms, 2 at 300ms");
}

TEST(AddressRace, WhatHasBeenUselessComesLast) {
  EXPECT_EQ(silent({{6, true}, {6}, {4, true}, {4}}, 500ms),
            "1 at 0ms, 3 at 100ms, 0 at 200ms, 2 at 300ms");
  EXPECT_EQ(silent({{4, true}, {4, true}}, 500ms), "0 at 0ms, 1 at 125ms");
}

TEST(AddressRace, AfterAFailureTheNextIsTriedAtOnce) {
  AddressRace race(Addresses{{4}, {4}, {4}}, start, start + 500ms);
  EXPECT_EQ(race.next(start), 0u);
  EXPECT_EQ(race.next(start), std::nullopt);
  EXPECT_EQ(race.poll_deadline(), start + 125ms);
  race.on_failed();
  EXPECT_EQ(race.next(start + 1ms), 1u);
  EXPECT_EQ(race.next(start + 1ms), std::nullopt) << "one failure lets one in";
  EXPECT_EQ(race.poll_deadline(), start + 126ms);
  EXPECT_FALSE(race.lost());
  EXPECT_EQ(race.next(start + 126ms), 2u);
  EXPECT_EQ(race.poll_deadline(), never);
  race.on_failed();
  EXPECT_EQ(race.next(start + 130ms), std::nullopt);
  EXPECT_FALSE(race.lost()) << "one is still trying";
  race.on_failed();
  EXPECT_TRUE(race.lost());
  EXPECT_EQ(race.begun(), 3u);
}

TEST(AddressRace, WithoutAddressesItIsLostAtOnce) {
  AddressRace race({}, start, start + 500ms);
  EXPECT_EQ(race.next(start), std::nullopt);
  EXPECT_TRUE(race.lost());
  EXPECT_EQ(race.poll_deadline(), never);
}

}  // namespace
}  // namespace sheaf::socket

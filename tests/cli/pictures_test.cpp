#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/show/nodes_table.h"
#include "cli/show/ring_diff.h"
#include "cli/show/ring_picture.h"
#include "cli/show/slot_picture.h"
#include "cli/show/text_table.h"

namespace sheaf::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(CliTable, ColumnsAreAsWideAsTheirWidestCellAndLinesEndWithoutBlanks) {
  EXPECT_EQ(text_table({{"NAME"}, {"N", true}, {""}}, {{{"a", "10", ""}}, {{"longer", "7", "x"}}}),
            "NAME     N\n"
            "a       10\n"
            "longer   7  x\n");
  EXPECT_EQ(text_table({{"NAME"}}, {{{"a"}, true}, {{"b"}}}, true),
            "\x1b[1mNAME\x1b[0m\n\x1b[31ma\x1b[0m\nb\n");
}

TEST(CliRing, TheLargestShareHasTheLongestBar) {
  EXPECT_EQ(ring_picture({{.node = "b1:1883", .weight = 1, .share = 0.25, .keys = {}},
                          {.node = "b2:1883", .weight = 1, .share = 0.25, .keys = {}},
                          {.node = "b3:1883", .weight = 2, .share = 0.5, .keys = {}}},
                         8),
            "NODE     WEIGHT    SHARE\n"
            "b1:1883       1  25.00 %  ####\n"
            "b2:1883       1  25.00 %  ####\n"
            "b3:1883       2  50.00 %  ########\n");
}

TEST(CliRing, SimulatedKeysAreCountedAndASmallShareIsStillSeen) {
  const std::string picture =
      ring_picture({{.node = "a:1", .weight = 1, .share = 0.0001, .keys = 1},
                    {.node = "b:1", .weight = 9999, .share = 0.9999, .keys = 9999}},
                   10);
  EXPECT_EQ(picture,
            "NODE  WEIGHT    SHARE  KEYS\n"
            "a:1        1   0.01 %     1  #\n"
            "b:1     9999  99.99 %  9999  ##########\n");
}

NodeReport report_of(std::chrono::milliseconds difference) {
  NodeReport report;
  report.stats.node = "b1:1883";
  report.stats.health = NodeHealth::up;
  report.stats.connections = 1;
  report.round_trip = std::chrono::microseconds(250);
  report.clock_difference = difference;
  return report;
}

TEST(CliNodes, TheTableShowsHealthRoundTripPoolAndClock) {
  NodeReport silent;
  silent.stats.node = "b2:1883";
  silent.stats.health = NodeHealth::down;
  silent.error = Error{};
  const std::string table = nodes_table({report_of(std::chrono::milliseconds(-12)), silent});
  EXPECT_THAT(table, HasSubstr("b1:1883  up"));
  EXPECT_THAT(table, HasSubstr("1 connection "));
  EXPECT_THAT(table, HasSubstr("-12 ms\n"));
  EXPECT_THAT(nodes_table({report_of(std::chrono::seconds(45))}), HasSubstr("+45.0 s\n"));
  EXPECT_THAT(nodes_table({report_of({})}), HasSubstr(" 0 ms\n"));
  EXPECT_THAT(table, HasSubstr("b2:1883  down"));
  EXPECT_THAT(table, HasSubstr("0 connections"));
}

TEST(CliNodes, ConnectionsOverTlsHaveAColumnOfTheirOwn) {
  NodeReport report = report_of({});
  EXPECT_THAT(nodes_table({report}), Not(HasSubstr("TLS")));
  report.stats.tls = "TLSv1.3 TLS_AES_256_GCM_SHA384";
  NodeReport silent;
  silent.stats.node = "b2:1883";
  const std::string table = nodes_table({report, silent});
  EXPECT_THAT(table, HasSubstr("  TLS  "));
  EXPECT_THAT(table, HasSubstr("\n\nNODE     TLS                             USER\n"))
      << "what does not fit continues below";
  EXPECT_THAT(table, HasSubstr("\nb1:1883  TLSv1.3 TLS_AES_256_GCM_SHA384  "));
  EXPECT_THAT(nodes_table({report, silent}, {.colours = false, .width = 200}),
              HasSubstr("0 ms  TLSv1.3 TLS_AES_256_GCM_SHA384  "));
  ClusterServer server;
  server.node = report.stats.node;
  server.slots = {{0, 16'383}};
  EXPECT_THAT(nodes_table({report}, {server}, {.colours = false, .width = 200}),
              HasSubstr("0-16383  TLSv1.3 TLS_AES_256"));
}

const std::chrono::system_clock::time_point new_year(std::chrono::seconds(1'798'761'600));

TEST(CliNodes, OfTlsTheEndOfTheCertificateAndTheUserAreShown) {
  NodeReport report = report_of({});
  report.stats.tls = "TLSv1.3 X";
  report.stats.certificate_end = new_year;
  NodeReport silent;
  silent.stats.node = "b2:1883";
  const TableLook wide{.colours = false, .width = 200};
  const std::string table = nodes_table({report, silent}, wide);
  EXPECT_THAT(table, HasSubstr("  TLS        CERTIFICATE      USER\n"));
  EXPECT_THAT(table, HasSubstr("  TLSv1.3 X  ends 2027-01-01  -\n"));
  EXPECT_THAT(table, HasSubstr("  -          -                -\n"));
  report.stats.user = "line\n4";
  ClusterServer server;
  server.node = report.stats.node;
  ClusterServer replica;
  replica.node = "b3:1";
  replica.replica = true;
  const std::string servers = nodes_table({report}, {server, replica}, wide);
  EXPECT_THAT(servers, HasSubstr("  ends 2027-01-01  line\\x0A4\n"));
  EXPECT_THAT(servers, HasSubstr("  -                -\n"));
}

TEST(CliNodes, WithoutTlsTheUserIsShownIfThereIsOne) {
  NodeReport report = report_of({});
  EXPECT_THAT(nodes_table({report}), Not(HasSubstr("USER")));
  report.stats.user = "app";
  const std::string table = nodes_table({report});
  EXPECT_THAT(table, HasSubstr("  USER\n"));
  EXPECT_THAT(table, HasSubstr("  app\n"));
  EXPECT_THAT(table, Not(HasSubstr("TLS")));
}

TEST(CliNodes, CertificatesThatEndSoonAreSentencesAndOurOwnIsOne) {
  NodeReport report = report_of({});
  report.stats.certificate_end = new_year;
  report.stats.own_certificate_end = new_year + std::chrono::hours(24);
  NodeReport other = report;
  other.stats.node = "b2:1883";
  other.stats.certificate_end = new_year + std::chrono::hours(24 * 90);
  const auto before = [&](int days) {
    return certificate_warnings({report, other}, new_year - std::chrono::hours(24 * days));
  };
  EXPECT_THAT(before(15), testing::IsEmpty());
  EXPECT_THAT(before(10),
              testing::ElementsAre(
                  "warning: the certificate of b1:1883 ends 2027-01-01 00:00 UTC, in 10 days.",
                  "warning: our certificate (tls_cert) ends 2027-01-02 00:00 UTC, in 11 days."));
}

TEST(CliNodes, ServersThatDecideHaveRolesEpochsAndSlots) {
  NodeReport report;
  report.stats.node = "a:1";
  report.stats.health = NodeHealth::up;
  ClusterServer primary;
  primary.node = "a:1";
  primary.epoch = 7;
  primary.slots = {{0, 16'383}};
  ClusterServer replica;
  replica.node = "b:1";
  replica.replica = true;
  replica.primary = "a:1";
  const std::string table = nodes_table({report}, {primary, replica});
  EXPECT_EQ(table,
            "NODE   ROLE     HEALTH     PING  POOL  EPOCH  SLOTS\n"
            "a:1    primary  up            -     0      7  0-16383\n"
            "  b:1  replica  not asked     -     -      0  -\n");
}

// Addresses as long as possible, and slots as scattered as possible.
TEST(CliNodes, TheTableOfAClusterFitsATerminal) {
  std::vector<NodeReport> reports;
  std::vector<ClusterServer> servers;
  for (int i = 0; i < 3; ++i) {
    const std::string node = "192.168.100.10" + std::to_string(i) + ":";
    NodeReport& report = reports.emplace_back();
    report.stats.node = node + "17001";
    report.stats.health = NodeHealth::connecting;
    report.stats.connections = 8;
    report.round_trip = std::chrono::microseconds(999);
    ClusterServer replica;
    replica.node = node + "17002";
    replica.replica = true;
    replica.primary = report.stats.node;
    servers.push_back(replica);
    ClusterServer primary;
    primary.node = report.stats.node;
    primary.epoch = 12'345;
    for (std::uint32_t slot = 10'000; slot < 16'000; slot += 20)
      primary.slots.push_back({slot, slot + 9});
    servers.push_back(primary);
  }
  const std::string table = nodes_table(reports, servers);
  EXPECT_THAT(table, HasSubstr("300 ranges\n  192.168.100.100:17002  replica"));
  EXPECT_THAT(table, Not(HasSubstr("\n\n")));
  std::size_t longest = 0;
  for (std::size_t at = 0; at < table.size(); at = table.find('\n', at) + 1)
    longest = std::max(longest, table.find('\n', at) - at);
  EXPECT_LE(longest, 80u);
}

TEST(CliRing, BarsFitATerminalHoweverLongTheNames) {
  const NodeShare share{.node = "cache-17.eu-central-1.compute.internal:11211",
                        .weight = 1,
                        .share = 0.5,
                        .keys = 100'000'000};
  const std::string picture = ring_picture({share});
  EXPECT_EQ(picture.size() - picture.find('\n') - 2, 80u);
  RingDiff diff;
  diff.moved = 0.25;
  diff.flows = {{share.node, "c:1", 0.25}};
  const std::string flows = diff_picture(diff);
  EXPECT_EQ(flows.size() - flows.rfind('\n', flows.size() - 2) - 2, 80u);
}

ClusterServer owner_of(std::string node, std::vector<SlotRange> slots) {
  ClusterServer server;
  server.node = std::move(node);
  server.slots = std::move(slots);
  return server;
}

NodeShare share_of(std::string node, double share) {
  NodeShare all;
  all.node = std::move(node);
  all.share = share;
  return all;
}

TEST(CliSlots, EachLetterIsTheOwnerOfMostOfSixtyFourSlots) {
  const std::string picture = slot_picture(
      {owner_of("a:1", {{0, 4'095}, {4'097, 4'128}}), owner_of("b:1", {{4'160, 8'191}})},
      {share_of("a:1", 0.25), share_of("b:1", 0.25)});
  EXPECT_THAT(picture, HasSubstr("A  a:1    4128  25.00 %\n"));
  EXPECT_THAT(picture, HasSubstr("B  b:1    4032  25.00 %\n"));
  EXPECT_THAT(picture, HasSubstr("\n    0  " + std::string(64, 'A') + "\n"));
  EXPECT_THAT(picture, HasSubstr("\n 4096  .")) << "32 of 64 slots have no owner";
  EXPECT_THAT(picture, HasSubstr(std::string(63, 'B') + "\n"));
  EXPECT_THAT(picture, HasSubstr("\n12288  " + std::string(64, '.') + "\n"));
}

TEST(CliSlots, MoreOwnersThanLettersShareOneMark) {
  std::vector<ClusterServer> owners;
  std::vector<NodeShare> shares;
  for (std::uint32_t i = 0; i < 64; ++i) {
    owners.push_back(owner_of("n:" + std::to_string(i), {{i * 256, i * 256 + 255}}));
    shares.push_back(share_of(owners.back().node, 1.0 / 64));
  }
  EXPECT_THAT(slot_picture(owners, shares), HasSubstr("88889999########\n"));
}

TEST(CliSlots, ManyRangesAreCutShort) {
  EXPECT_EQ(ranges_text({}), "-");
  EXPECT_EQ(ranges_text({{5, 5}, {7, 9}}), "5, 7-9");
  EXPECT_EQ(ranges_text({{0, 5'460}, {7'000, 10'930}}), "0-5460, 7000-10930");
  EXPECT_EQ(ranges_text({{0, 5'460}, {10'923, 10'930}, {11'000, 11'000}}), "3 ranges");
}

TEST(CliNodes, AClockMoreThanThirtySecondsOffIsWorthAWarning) {
  EXPECT_FALSE(clock_warning(report_of(std::chrono::seconds(30))));
  EXPECT_FALSE(clock_warning(report_of(std::chrono::seconds(-30))));
  EXPECT_FALSE(clock_warning(NodeReport{}));
  const auto ahead = clock_warning(report_of(std::chrono::milliseconds(30'001)));
  ASSERT_TRUE(ahead);
  EXPECT_THAT(*ahead, HasSubstr("b1:1883"));
  EXPECT_THAT(*ahead, HasSubstr("ahead of"));
  const auto behind = clock_warning(report_of(std::chrono::seconds(-45)));
  ASSERT_TRUE(behind);
  EXPECT_THAT(*behind, HasSubstr("behind"));
}

RingDiff diff_of(const std::string& before, const std::string& after, std::uint64_t keys = 1'000) {
  return diff_rings(ClusterConfig::parse_uri(before).value(),
                    ClusterConfig::parse_uri(after).value(), keys);
}

TEST(CliRingDiff, ASecondServerTakesHalfOfTheKeysFromTheFirstAndNoOtherMoves) {
  const RingDiff diff = diff_of("memcached://a", "memcached://a,b");
  EXPECT_EQ(diff.keys, 0u) << "slots are counted exactly";
  ASSERT_EQ(diff.flows.size(), 1u);
  EXPECT_EQ(diff.flows[0].from, "a:11211");
  EXPECT_EQ(diff.flows[0].to, "b:11211");
  EXPECT_NEAR(diff.moved, 0.5, 0.001);
  EXPECT_DOUBLE_EQ(diff.flows[0].share, diff.moved);
  EXPECT_DOUBLE_EQ(diff.nodes[0].before, 1);
  EXPECT_NEAR(diff.nodes[1].after, 0.5, 0.001);
}

TEST(CliRingDiff, NothingMovesWhereNothingChanges) {
  EXPECT_EQ(diff_of("memcached://a,b*3", "memcached://b*3,a").moved, 0);
  EXPECT_THAT(diff_picture(diff_of("memcached://a", "memcached://a")),
              HasSubstr("0.00 % of the keys move.\n"));
}

TEST(CliRingDiff, RingsAreCountedWithSimulatedKeys) {
  const RingDiff diff =
      diff_of("memcached://a,b?locator=ring", "memcached://a,b,c?locator=ring", 10'000);
  EXPECT_EQ(diff.keys, 10'000u);
  EXPECT_NEAR(diff.moved, 1.0 / 3, 0.06);
  for (const KeyFlow& flow : diff.flows) EXPECT_EQ(flow.to, "c:11211");
  EXPECT_THAT(diff_picture(diff), HasSubstr("(of 10000 simulated ones)"));
}

TEST(CliRingDiff, APictureHasTheSharesOfNodesAndTheLargestFlowFirst) {
  RingDiff diff;
  diff.nodes = {{"a:1", 0.75, 0.5}, {"b:1", 0.25, 0.25}, {"c:1", 0, 0.25}};
  diff.flows = {{"a:1", "c:1", 0.25}};
  diff.moved = 0.25;
  EXPECT_EQ(diff_picture(diff),
            "NODE   BEFORE    AFTER    CHANGE\n"
            "a:1   75.00 %  50.00 %  -25.00 %\n"
            "b:1   25.00 %  25.00 %    0.00 %\n"
            "c:1    0.00 %  25.00 %  +25.00 %\n"
            "\n25.00 % of the keys move:\n\n"
            "FROM      TO     SHARE\n"
            "a:1   ->  c:1  25.00 %  ########################################\n");
  const std::string svg = diff_svg(diff);
  EXPECT_TRUE(svg.starts_with("<svg ")) << svg;
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_THAT(svg, HasSubstr("25.00 % of the keys move"));
}

}  // namespace
}  // namespace sheaf::cli

// When a log warns that a certificate ends soon.

#include "node/certificate_warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/client_node.h"
#include "tests/node/fake_sockets.h"
#include "tests/support/event_logs.h"

namespace sheaf::node {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto day = 24h;
constexpr milliseconds new_year = std::chrono::seconds(1'798'761'600);  // 2027-01-01 00:00 UTC

TEST(CertificateWarning, SaysWhenTheCertificateEndsAndHowLongThatIs) {
  const auto left = [](milliseconds time) {
    return certificate_warning("it", new_year, new_year - time).value_or("-");
  };
  EXPECT_EQ(left(14 * day + 1ms), "-");
  EXPECT_EQ(left(14 * day), "it ends 2027-01-01 00:00 UTC, in 14 days");
  EXPECT_EQ(left(10 * day + 23h), "it ends 2027-01-01 00:00 UTC, in 10 days");
  EXPECT_EQ(left(47h + 59min), "it ends 2027-01-01 00:00 UTC, in 47 hours");
  EXPECT_EQ(left(1h), "it ends 2027-01-01 00:00 UTC, in 1 hour");
  EXPECT_EQ(left(59min), "it ends 2027-01-01 00:00 UTC, in less than an hour");
  EXPECT_EQ(left(0ms), "it ended 2027-01-01 00:00 UTC");
  EXPECT_EQ(left(-400 * day), "it ended 2027-01-01 00:00 UTC");
}

TEST(CertificateWarning, ComesOnceADayHoweverOftenItIsAskedFor) {
  CertificateWarnings warnings;
  const CertificateEnds ends{new_year, std::nullopt};
  Now now{100s, new_year - 10 * day};
  EXPECT_EQ(warnings.due(ends, now).size(), 1u);
  EXPECT_EQ(warnings.deadline(), now.mono + day);
  for (int i = 0; i < 23; ++i) {
    now.mono += 1h;
    now.wall += 1h;
    EXPECT_THAT(warnings.due(ends, now), IsEmpty()) << "another connection is made";
  }
  now.mono = warnings.deadline();
  EXPECT_EQ(warnings.due(ends, now).size(), 1u);
}

TEST(CertificateWarning, IsForTheServersAndForOurOwn) {
  CertificateWarnings warnings;
  const Now now{100s, new_year - 10 * day};
  EXPECT_THAT(warnings.due({new_year, new_year - 9 * day}, now),
              ElementsAre("the server's certificate ends 2027-01-01 00:00 UTC, in 10 days",
                          "our certificate (tls_cert) ends 2026-12-23 00:00 UTC, in 24 hours"));
}

TEST(CertificateWarning, LooksAgainWhenFourteenDaysAreLeft) {
  CertificateWarnings warnings;
  const Now now{100s, new_year - 14 * day - 5h};
  EXPECT_THAT(warnings.due({new_year, std::nullopt}, now), IsEmpty());
  EXPECT_EQ(warnings.deadline(), now.mono + 5h);
}

// The wall clock may be set meanwhile.
TEST(CertificateWarning, LooksAgainEveryDayWhileTheEndIsFarAway) {
  CertificateWarnings warnings;
  const Now now{100s, new_year - 1'000 * day};
  EXPECT_THAT(warnings.due({new_year, std::nullopt}, now), IsEmpty());
  EXPECT_EQ(warnings.deadline(), now.mono + day);
}

// RFC 5280 §4.1.2.5: the end of certificates that never end. Nanoseconds cannot count that far.
TEST(CertificateWarning, TakesEndsInTheYear9999) {
  CertificateWarnings warnings;
  const milliseconds last = std::chrono::seconds(253'402'300'799);
  const Now now{100s, new_year};
  EXPECT_THAT(warnings.due({last, last}, now), IsEmpty());
  EXPECT_EQ(warnings.deadline(), now.mono + day);
  EXPECT_EQ(certificate_warning("it", last, last - 1min),
            "it ends 9999-12-31 23:59 UTC, in less than an hour");
}

TEST(CertificateWarning, WithoutCertificatesThereIsNothingToLookAt) {
  CertificateWarnings warnings;
  EXPECT_THAT(warnings.due({}, {100s, new_year}), IsEmpty());
  EXPECT_EQ(warnings.deadline(), never);
}

TEST(CertificateWarning, EndsWithTheCertificateThatIsReplaced) {
  CertificateWarnings warnings;
  const Now now{100s, new_year - day};
  EXPECT_EQ(warnings.due({std::nullopt, new_year}, now).size(), 1u);
  EXPECT_THAT(warnings.due({std::nullopt, new_year + 90 * day}, {now.mono + day, new_year}),
              IsEmpty());
}

// A node whose connections belong to a test, in virtual time.
class CertificatesOfANode : public testing::Test, private NodeOwner {
 protected:
  CertificatesOfANode() {
    NodeOptions options;
    options.identity = "a:1";
    NodeOwner& owner = *this;
    node.emplace(options, NodeParts{loop, network, network, log}, owner, Random(1).fork());
  }
  ~CertificatesOfANode() override {
    node->shut_down(loop.now());
    loop.settle();
  }
  std::vector<std::string> warnings() {
    std::vector<std::string> texts;
    for (const LogRecord& record : log.records) {
      if (record.operation != "certificate") continue;
      EXPECT_EQ(record.level, LogLevel::warning);
      EXPECT_EQ(record.node, "a:1");
      texts.push_back(record.text);
    }
    log.records.clear();
    return texts;
  }

  FakeLoop loop;
  FakeNetwork network{loop};
  test::RecordedEvents log;
  std::optional<ClientNode> node;

 private:
  void on_request_done(Request&, const socket::Completion&) override {}
  bool reroute(Request&, Now) override { return false; }
  void on_connection_ended(std::uint64_t, Now) override {}
};

TEST_F(CertificatesOfANode, AreLookedAtEveryDayAsLongAsAConnectionLives) {
  network.server_certificate_end = loop.now().wall + 30 * day;
  network.own_certificate_end = loop.now().wall + 40 * day;
  network.accept();
  EXPECT_THAT(warnings(), IsEmpty());
  loop.pass(16 * day - 1s);
  EXPECT_THAT(warnings(), IsEmpty());
  loop.pass(2s);
  EXPECT_EQ(warnings().size(), 1u) << "14 days are left";
  loop.pass(9 * day);
  EXPECT_EQ(warnings().size(), 9u);
  loop.pass(2 * day);
  EXPECT_EQ(warnings().size(), 4u) << "that of the client is near its end, too";
}

TEST_F(CertificatesOfANode, AreNotNewsAgainWithEachConnection) {
  network.server_certificate_end = loop.now().wall + 10 * day;
  network.accept();
  EXPECT_EQ(warnings().size(), 1u);
  for (int i = 0; i < 10; ++i) {
    network.session().end(Reason::connection_lost, "cut");
    network.deliver(network.session());
    while (network.dialing() == 0) loop.pass(1s);
    network.accept();
  }
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(CertificatesOfANode, ThatWereReplacedAreThoseOfTheLatestConnection) {
  network.server_certificate_end = loop.now().wall + 10 * day;
  network.accept();
  EXPECT_EQ(node->stats().certificate_end,
            std::chrono::system_clock::time_point(*network.server_certificate_end));
  EXPECT_EQ(warnings().size(), 1u);
  network.session().end(Reason::connection_lost, "cut");
  network.deliver(network.session());
  EXPECT_EQ(node->stats().certificate_end, std::nullopt);
  network.server_certificate_end = loop.now().wall + 100 * day;
  while (network.dialing() == 0) loop.pass(1s);
  network.accept();
  loop.pass(3 * day);
  EXPECT_THAT(warnings(), IsEmpty());
}

}  // namespace
}  // namespace sheaf::node

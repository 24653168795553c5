// What `sheaf doctor` makes of what it has found out.

#include "cli/show/diagnosis.h"

#include <gtest/gtest.h>

namespace sheaf::cli {
namespace {

using namespace std::chrono_literals;

Examined well() {
  Examined server;
  server.host = "cache.example";
  server.port = 6379;
  server.addresses = {"10.0.0.1", "10.0.0.2"};
  server.report.stats.role = ServerRole::primary;
  server.report.stats.server = "Redis 7.0.15";
  server.key = "sheaf/doctor/1";
  server.trips = {3ms, 1ms, 2ms};
  return server;
}

// "ok", "NO" or "-" for each step.
std::string signs(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    const bool bad = finding.verdict == Finding::Verdict::bad;
    const bool good = finding.verdict == Finding::Verdict::good;
    text.append(finding.step).append(bad ? " NO; " : good ? " ok; " : " -; ");
  }
  return text;
}

TEST(Diagnosis, GoesThroughAllSteps) {
  EXPECT_EQ(signs(diagnose(well())),
            "name ok; addresses ok; port ok; TLS -; login ok; protocol ok; role ok; clock -; "
            "rights ok; latency ok; ");
}

TEST(Diagnosis, OneAddressThatRefusesIsNamedAndNotWrong) {
  Examined server = well();
  server.refused = {"10.0.0.1: Connection refused"};
  const auto findings = diagnose(server);
  EXPECT_EQ(findings[2].verdict, Finding::Verdict::good);
  EXPECT_EQ(findings[2].text,
            "port 6379 accepts connections, but not at 10.0.0.1: Connection refused");
  server.refused.emplace_back("10.0.0.2: no answer");
  EXPECT_EQ(signs(diagnose(server)), "name ok; addresses -; port NO; ");
}

TEST(Diagnosis, AClockThatIsFarOffIsWrongAndEndsNothing) {
  Examined server = well();
  server.clock = true;
  server.report.clock_difference = -12ms;
  EXPECT_NE(signs(diagnose(server)).find("store ok; clock ok; rights ok; latency ok; "),
            std::string::npos);
  server.report.clock_difference = 45s;
  EXPECT_NE(signs(diagnose(server)).find("store ok; clock NO; rights ok; latency ok; "),
            std::string::npos);
}

TEST(Diagnosis, EveryErrorOfTheFirstQuestionHasItsStep) {
  const struct {
    Reason reason;
    std::string text;
    std::string_view step;
  } cases[] = {
      {Reason::authentication, "TLS: certificate verify failed", "TLS"},
      {Reason::connect_failed, "TLS: the server ended the connection", "TLS"},
      {Reason::authentication, "the server refused AUTH: WRONGPASS", "login"},
      {Reason::authentication, "another process uses the client ID press-7: WORDS", "login"},
      {Reason::node_down, "no state store answers at this broker", "store"},
      {Reason::foreign_server, "another server has the address", "role"},
      {Reason::unknown_command, "the server refused CLUSTER NODES", "role"},
      {Reason::not_authorized, "the server refused the subscription to replies", "rights"},
      {Reason::protocol_error, "the server does not answer as memcached", "protocol"},
      {Reason::timed_out, "connected, but the server has not answered the greeting", "protocol"}};
  for (const auto& each : cases) {
    Examined server = well();
    server.tls = true;
    server.clock = each.step == "store";
    server.report.error.emplace();
    server.report.error->reason = each.reason;
    server.report.error->text = each.text;
    const auto findings = diagnose(server);
    EXPECT_EQ(findings.back().step, each.step);
    EXPECT_EQ(findings.back().verdict, Finding::Verdict::bad) << each.text;
    EXPECT_TRUE(findings.back().text.starts_with(each.text + ". ")) << findings.back().text;
  }
}

TEST(Diagnosis, LinesAreWrappedBelowTheirText) {
  const std::vector<Finding> findings{
      {"name", Finding::Verdict::good, "h"},
      {"addresses", Finding::Verdict::bad, "one two three four five six"}};
  EXPECT_EQ(diagnosis_text("h:1", findings, 36, false),
            "h:1\n"
            "  name       ok   h\n"
            "  addresses  NO   one two three four\n"
            "                  five six\n");
}

}  // namespace
}  // namespace sheaf::cli

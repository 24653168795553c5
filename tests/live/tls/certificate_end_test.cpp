// Certificates that expire soon: the log says so, and the statistics say when.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <mutex>
#include <string>

#include <sheaf/client.h>

#include "tests/live/tls/real_servers.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf::test {
namespace {

using testing::ElementsAre;
using testing::MatchesRegex;
using testing::UnorderedElementsAre;

// Collects a client's warnings about certificates.
class Warnings {
 public:
  LogSink sink() {
    return [this](const LogRecord& record) {
      if (record.operation != "certificate") return;
      const std::lock_guard lock(mutex_);
      EXPECT_EQ(record.level, LogLevel::warning);
      said_.push_back(record.node + " " + record.text);
    };
  }
  std::vector<std::string> said() {
    const std::lock_guard lock(mutex_);
    return said_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> said_;
};

// A certificate that expires in this many days and an hour. Each exists once, so that a server that
// shows it can be lent.
TlsPaths ending_in(int days, const std::string& name) {
  static std::map<std::string, TlsPaths> made;
  const auto [at, is_new] = made.try_emplace(name);
  if (is_new) {
    const Credentials& all = Credentials::shared();
    CertificateTerms terms = valid_now(name);
    terms.ends = std::time(nullptr) + days * day + 3600;
    at->second = all.write(name, make_identity(terms, &all.authority()));
  }
  return at->second;
}

class CertificateEnd : public testing::TestWithParam<RealKind> {
 protected:
  // A client of such a server, after its first call.
  Client open(const RealServer& server, const TlsPaths& own, CredentialSource source = {}) {
    auto client =
        Client::open(GetParam().scheme + "://" + server.address() +
                         "?connect_timeout=10s&timeout=30s&pool_min=3&pool_max=3&tls_ca=" + own.ca +
                         "&tls_cert=" + own.certificate + "&tls_key=" + own.key,
                     {.log = warnings.sink(), .credentials = std::move(source)});
    EXPECT_TRUE(client) << client.error().message();
    const auto set = client->set("key", "value");
    EXPECT_TRUE(set) << set.error().message();
    wait_for_condition("all connections are there",
                       [&] { return client->stats().at(0).connections == 3; });
    return std::move(*client);
  }
  Warnings warnings;
};

INSTANTIATE_TEST_SUITE_P(All, CertificateEnd, testing::ValuesIn(real_kinds()),
                         [](const auto& test) { return test.param.name; });

int days_until(std::optional<std::chrono::system_clock::time_point> end) {
  if (!end) return -1;
  const auto left = *end - std::chrono::system_clock::now();
  return static_cast<int>(std::chrono::floor<std::chrono::days>(left).count());
}

TEST_P(CertificateEnd, OfAServerInTenDaysIsOneWarningForAllConnections) {
  const TlsPaths shown = ending_in(10, "ten-days");
  const RealServer server = GetParam().start({.paths = &shown});
  {
    const Client client = open(server, ending_in(30, "thirty-days"));
    const NodeStats stats = client.stats().at(0);
    EXPECT_EQ(days_until(stats.certificate_end), 10);
    EXPECT_EQ(days_until(stats.own_certificate_end), 30);
  }
  EXPECT_THAT(
      warnings.said(),
      ElementsAre(MatchesRegex(server.address() +
                               " the server's certificate ends 20..-..-.. ..:.. UTC, in 10 days")));
}

TEST_P(CertificateEnd, OfOurOwnInFiveDaysIsOneWarningToo) {
  const TlsPaths shown = ending_in(30, "thirty-days");
  const RealServer server = GetParam().start({.paths = &shown});
  {
    const Client client = open(server, ending_in(5, "five-days"));
  }
  EXPECT_THAT(
      warnings.said(),
      ElementsAre(MatchesRegex(
          server.address() + " our certificate .tls_cert. ends 20..-..-.. ..:.. UTC, in 5 days")));
}

// The dialer of logins wraps that of TLS.
TEST_P(CertificateEnd, OfOurOwnIsKnownToAClientWhoseLoginsComeFromTheProgram) {
  const TlsPaths shown = ending_in(30, "thirty-days");
  const RealServer server = GetParam().start({.paths = &shown});
  const auto nobody = [](const CredentialRequest&) { return sheaf::Credentials(); };
  const Client client = open(server, ending_in(20, "twenty-days"), nobody);
  EXPECT_EQ(days_until(client.stats().at(0).own_certificate_end), 20);
}

}  // namespace
}  // namespace sheaf::test

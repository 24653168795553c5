// Real servers that are not what they claim to be. Each fails calls soon, with one sentence, and
// nothing was sent.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include <sheaf/client.h>

#include "tests/live/tls/cutting_server.h"
#include "tests/live/tls/real_servers.h"

namespace sheaf::test {
namespace {

using namespace std::chrono_literals;
using testing::ContainsRegex;

// What a server shows to a client that trusts the authority of Credentials, and its other faults.
struct Bad {
  TlsPaths paths;
  RealServerTerms terms{};
};

struct Case {
  std::string name;
  std::string sentence;  // a regular expression
  std::function<Bad(const Credentials&)> make;
};

// A server's certificate with other terms.
Bad with(const Credentials& all, const CertificateTerms& terms, bool lax = false) {
  return {all.write("bad", make_identity(terms, &all.authority())), {.lax = lax}};
}

Bad expired(const Credentials& all) {
  CertificateTerms terms = valid_now("expired");
  terms.ends = terms.begins + 60;
  return with(all, terms);
}
Bad not_yet_valid(const Credentials& all) {
  CertificateTerms terms = valid_now("not yet valid");
  terms.begins = terms.ends - 60;
  return with(all, terms);
}
Bad wrong_name(const Credentials& all) {
  CertificateTerms terms = valid_now("wrong name");
  terms.names = "DNS:other.example,IP:127.0.0.2";
  return with(all, terms);
}
Bad wrong_authority(const Credentials& all) {
  const Identity other = make_authority_now("another authority");
  return {all.write("bad", make_identity(valid_now("server"), &other))};
}
Bad self_signed(const Credentials& all) {
  return {all.write("bad", make_identity(valid_now("self-signed"), nullptr))};
}
Bad weak_key(const Credentials& all) {
  CertificateTerms terms = valid_now("weak key");
  terms.rsa_bits = 1'024;
  return with(all, terms, true);
}
Bad wrong_key(const Credentials& all) {
  Identity shown = make_identity(valid_now("wrong key"), &all.authority());
  shown.key = make_impostor(shown);
  return {all.write("bad", shown)};
}
Bad missing_chain(const Credentials& all) {
  const Identity between = make_authority_now("between", &all.authority());
  return {all.write("bad", make_identity(valid_now("server"), &between))};
}
Bad weak_hash(const Credentials& all) {
  CertificateTerms terms = valid_now("SHA-1");
  terms.hash = "SHA1";
  return with(all, terms, true);
}
Bad old_version(const Credentials& all) { return {all.server(), {.lax = true, .old = true}}; }

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"Expired", "TLS: the server's certificate has expired: it ended at 20..-.* UTC", expired},
      {"NotYetValid", "TLS: the server's certificate is not valid yet: it begins at 20..-.* UTC",
       not_yet_valid},
      {"WrongName", "TLS: the server's certificate is not for 127.0.0.1", wrong_name},
      {"WrongAuthority",
       "TLS: the server's certificate chain leads to no trusted authority or is incomplete",
       wrong_authority},
      {"SelfSigned", "TLS: the server's certificate is self-signed and not trusted", self_signed},
      {"WeakKey", "TLS: the key of the server's certificate is too weak", weak_key},
      {"WrongKey", "TLS: the server does not have the key of its certificate", wrong_key},
      {"MissingChain",
       "TLS: the server's certificate chain leads to no trusted authority or is incomplete",
       missing_chain},
      {"Sha1", "TLS: the server's certificate is signed with a hash that is too weak", weak_hash},
      {"Tls11", "TLS: the server does not speak TLS 1.2 or later", old_version},
  };
  return all;
}

std::string trusting(const Credentials& all) { return "?tls_ca=" + all.server().ca; }

// Every call says why, as soon as the reason is known. With `judged` it was not a broken
// connection.
void expect_refusal(const std::string& uri, const std::string& sentence, bool judged = true) {
  auto client = Client::open(uri);
  ASSERT_TRUE(client) << client.error().message();
  for (int i = 0; i < 2; ++i) {
    const auto refused = client->set("key", "secret", {.timeout = 60s});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().outcome, Outcome::not_sent);
    EXPECT_THAT(refused.error().text, ContainsRegex(sentence));
    EXPECT_LT(refused.error().elapsed, 30s) << "long before the deadline";
    if (judged) {
      EXPECT_EQ(refused.error().reason, Reason::authentication);
    }
  }
  const auto reports = client->check_nodes({.timeout = 60s});
  ASSERT_EQ(reports.size(), 1u);
  ASSERT_TRUE(reports[0].error);
  EXPECT_THAT(reports[0].error->text, ContainsRegex(sentence));
  EXPECT_EQ(reports[0].stats.tls, "");
}

class RefusedServers : public testing::TestWithParam<std::tuple<RealKind, Case>> {};

TEST_P(RefusedServers, EndCallsWithOneSentence) {
  const auto& [kind, bad] = GetParam();
  const Credentials& all = Credentials::shared();
  Bad made = bad.make(all);
  made.paths.ca.clear();  // the server asks for no certificate
  made.terms.paths = &made.paths;
  const RealServer server = kind.start(made.terms);
  expect_refusal(kind.scheme + "://" + server.address() + trusting(all), bad.sentence);
}

INSTANTIATE_TEST_SUITE_P(All, RefusedServers,
                         testing::Combine(testing::ValuesIn(real_kinds()),
                                          testing::ValuesIn(cases())),
                         [](const auto& test) {
                           return std::get<0>(test.param).name + std::get<1>(test.param).name;
                         });

class OnRealServers : public testing::TestWithParam<RealKind> {
 protected:
  const RealKind& kind() const { return GetParam(); }
  const Credentials& all = Credentials::shared();
};

INSTANTIATE_TEST_SUITE_P(All, OnRealServers, testing::ValuesIn(real_kinds()),
                         [](const auto& test) { return test.param.name; });

TEST_P(OnRealServers, AServerWithoutTlsGetsNothingInPlain) {
  const RealServer server = kind().start({});
  // Mosquitto ends a connection that begins with garbage, memcached answers in words, and Redis
  // waits for the end of the line.
  expect_refusal(
      kind().scheme + "://" + server.address() + trusting(all) + kind().alone,
      "TLS: (the data from the server is not TLS|the server ended the connection during the "
      "handshake|the server did not answer the handshake in time; a server without TLS may behave "
      "like this)",
      false);
}

TEST_P(OnRealServers, AClientWithoutTlsGetsNothingOverTls) {
  const RealServer server = kind().start({.paths = &all.server()});
  const std::string plain = kind().scheme.substr(0, kind().scheme.size() - 1);
  auto client = Client::open(plain + "://" + server.address()).value();
  const auto refused = client.set("key", "value", {.timeout = 2s});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().outcome, Outcome::not_sent);
}

TEST_P(OnRealServers, AHandshakeThatIsCutOffIsOneSentence) {
  // Before an answer, within a record's header, and within the server's first message.
  for (const std::size_t bytes : {0u, 3u, 20u}) {
    const CuttingServer server(bytes);
    expect_refusal(kind().scheme + "://" + server.address() + trusting(all) + kind().alone,
                   "TLS: the server ended the connection during the handshake", false);
  }
}

#ifdef SHEAF_TEST_REDIS_SERVERS
// In a cluster whose servers decide who owns a key, a call waits for a map for 10 s and more. If
// the server that would send it fails the handshake, waiting is useless.
void expect_soon(const std::string& address, const std::string& sentence) {
  auto client =
      Client::open("rediss://" + address + trusting(Credentials::shared()) + "&connect_timeout=1s");
  ASSERT_TRUE(client) << client.error().message();
  for (int i = 0; i < 2; ++i) {
    const auto refused = client->get("key", {.timeout = 60s});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().outcome, Outcome::not_sent);
    EXPECT_THAT(refused.error().text, ContainsRegex(sentence));
    EXPECT_LT(refused.error().elapsed, 8s);
  }
}

TEST(TlsClusters, AHandshakeThatIsCutOffEndsCallsSoon) {
  for (const std::size_t bytes : {0u, 20u}) {
    const CuttingServer server(bytes);
    expect_soon(server.address(), "TLS: the server ended the connection during the handshake");
  }
}

TEST(TlsClusters, AServerWithoutTlsEndsCallsSoon) {
  const RealServer server = start_redis({});
  expect_soon(server.address(),
              "TLS: (the data from the server is not TLS|the server did not answer the handshake "
              "in time; a server without TLS may behave like this)");
}
#endif

TEST_P(OnRealServers, AClientWithoutACertificateHearsThatOneIsWanted) {
  const RealServer server = kind().start({.paths = &all.server()});
  expect_refusal(kind().scheme + "://" + server.address() + trusting(all),
                 "TLS: the server requires a client certificate; set tls_cert and tls_key");
}

TEST_P(OnRealServers, AClientOfAnotherAuthorityHearsThatItIsNotTrusted) {
  const RealServer server = kind().start({.paths = &all.server()});
  const Identity other = make_authority_now("another authority");
  const TlsPaths own = all.write("stranger", make_identity(valid_now("stranger"), &other));
  expect_refusal(kind().scheme + "://" + server.address() + trusting(all) +
                     "&tls_cert=" + own.certificate + "&tls_key=" + own.key,
                 "TLS: the server does not trust the authority of our certificate");
}

}  // namespace
}  // namespace sheaf::test

// Rights in the plugin when users come from certificates.

#ifdef SHEAF_TEST_BROKERS

#include <gtest/gtest.h>

#include <string>

#include <sheaf/client.h>

#include "tests/support/lent.h"
#include "tests/support/rights_file.h"
#include "tests/support/tls/server_options.h"

namespace sheaf::test {
namespace {

// A lent broker, or one of its own: a lent one forgets its store when it is told to reload.
template <class Broker>
class OfCertificates : public testing::Test {
 protected:
  BrokerOptions options() const {
    BrokerOptions options;
    options.plugin_options = {{"rights", file.path()}};
    options.tls = mosquitto_tls(all.server()) + "use_identity_as_username true\n";
    return options;
  }
  // `login` is "user:password@", or empty.
  Client open(const std::string& subject, const std::string& login = {}) const {
    const TlsPaths paths = all.write(subject, make_identity(valid_now(subject), &all.authority()));
    auto client =
        Client::open("mqtts://" + login + "127.0.0.1:" + std::to_string(process().port()) +
                     "?connect_timeout=10s&timeout=30s&tls_ca=" + paths.ca +
                     "&tls_cert=" + paths.certificate + "&tls_key=" + paths.key);
    EXPECT_TRUE(client) << client.error().message();
    return std::move(*client);
  }

  const Credentials& all = Credentials::shared();
  const RightsFile file{R"({"users": {"press": {"keys": {"line4/*": ["read", "write"]}}}})"};
  const Broker broker{options()};

 private:
  const BrokerProcess& process() const {
    if constexpr (std::is_same_v<Broker, BrokerProcess>) {
      return broker;
    } else {
      return *broker;
    }
  }
};
using CertificateRights = OfCertificates<Lent<BrokerProcess>>;
using ReloadedCertificateRights = OfCertificates<BrokerProcess>;

template <class Failed>
void expect_refused(const Failed& result) {
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().outcome, Outcome::refused) << result.error().message();
  EXPECT_EQ(result.error().reason, Reason::not_authorized) << result.error().message();
}

TEST_F(CertificateRights, TheUserIsTheNameInTheCertificate) {
  Client press = open("press");
  Client dashboard = open("dashboard");
  const auto set = press.set("line4/speed", "21");
  ASSERT_TRUE(set) << set.error().message();
  expect_refused(press.set("line5/speed", "21"));
  expect_refused(dashboard.get("line4/speed"));
}

TEST_F(CertificateRights, AUserNameBesideTheCertificateGivesNothing) {
  Client dashboard = open("dashboard", "press:secret@");
  expect_refused(dashboard.get("line4/speed"));
}

TEST_F(ReloadedCertificateRights, AReloadGivesANameOfACertificateItsRights) {
  Client dashboard = open("dashboard");
  expect_refused(dashboard.get("line4/speed"));
  file.write(R"({"users": {"dashboard": {"keys": {"line4/*": ["read"]}}}})");
  reload(broker);
  const auto got = dashboard.get("line4/speed");
  ASSERT_TRUE(got) << got.error().message();
  expect_refused(dashboard.set("line4/speed", "21"));
}

}  // namespace
}  // namespace sheaf::test

#endif

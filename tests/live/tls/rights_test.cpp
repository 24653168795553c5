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

class CertificateRights : public testing::Test {
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
    auto client = Client::open("mqtts://" + login + "127.0.0.1:" + std::to_string(broker->port()) +
                               "?connect_timeout=10s&timeout=30s&tls_ca=" + paths.ca +
                               "&tls_cert=" + paths.certificate + "&tls_key=" + paths.key);
    EXPECT_TRUE(client) << client.error().message();
    return std::move(*client);
  }

  const Credentials& all = Credentials::shared();
  const RightsFile file{R"({"users": {"press": {"keys": {"line4/*": ["read", "write"]}}}})"};
  const Lent<BrokerProcess> broker{options()};
};

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

TEST_F(CertificateRights, AReloadGivesANameOfACertificateItsRights) {
  Client dashboard = open("dashboard");
  expect_refused(dashboard.get("line4/speed"));
  file.write(R"({"users": {"dashboard": {"keys": {"line4/*": ["read"]}}}})");
  reload(*broker);
  const auto got = dashboard.get("line4/speed");
  ASSERT_TRUE(got) << got.error().message();
  expect_refused(dashboard.set("line4/speed", "21"));
}

}  // namespace
}  // namespace sheaf::test

#endif

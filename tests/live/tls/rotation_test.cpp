// Certificates and passwords that rotate while a client is working.

#ifdef SHEAF_TEST_MEMCACHED_SERVERS

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <string>

#include <sheaf/client.h>

#include "tests/support/memcached_process.h"
#include "tests/support/steady_load.h"
#include "tests/support/tls/server_options.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// A client's certificates and keys, in a folder that a symbolic link leads to. Each is valid for a
// few seconds, so a client that keeps using an old one is refused.
class ClientCertificates {
 public:
  explicit ClientCertificates(const Credentials& all) : all_(all) {}

  void rotate() {
    CertificateTerms terms = valid_now("client");
    terms.ends = std::time(nullptr) + seconds_of_life;
    const Identity identity = make_identity(terms, &all_.authority());
    const std::string version = "rotation_v" + std::to_string(++versions_);
    fs::create_directories(all_.folder() / version);
    all_.file(version + "/tls.crt", identity.certificate_pem());
    all_.file(version + "/tls.key", identity.key_pem());
    fs::create_directory_symlink(version, all_.folder() / "rotation_next");
    fs::rename(all_.folder() / "rotation_next", all_.folder() / "rotation_data");
  }
  std::string options() const {
    const std::string place = (all_.folder() / "rotation_data").string();
    return "tls_ca=" + all_.client().ca + "&tls_cert=" + place + "/tls.crt&tls_key=" + place +
           "/tls.key";
  }
  static constexpr std::time_t seconds_of_life = 15;

 private:
  const Credentials& all_;
  unsigned versions_ = 0;
};

// memcached cannot log in again on an open connection. So each login is a new connection, which
// shows the certificate of its time.
TEST(TlsRotation, OfCertificatesAndPasswordsFailsNoCall) {
  const Credentials& all = Credentials::shared();
  MemcachedOptions options;
  options.log_in = MemcachedOptions::LogIn::text;
  options.users = {{"even", "one"}, {"odd", "two"}};
  options.arguments = memcached_tls(all.server());
  const MemcachedProcess server(options);
  ClientCertificates certificates(all);
  certificates.rotate();
  std::atomic<unsigned> logins = 0;
  ClientOptions more;
  more.credentials = [&](const CredentialRequest& request) -> Result<sheaf::Credentials> {
    // Only a renewal counts as another login; for a connection the source gives the same login as
    // before.
    if (request.need == CredentialNeed::renewal) ++logins;
    const bool even = logins % 2 == 0;
    return sheaf::Credentials{.user = even ? "even" : "odd",
                              .password = even ? "one" : "two",
                              .ends = std::chrono::system_clock::now() + 2s};
  };
  auto client = Client::open("memcacheds://127.0.0.1:" + std::to_string(server.port()) +
                                 "?connect_timeout=10s&timeout=30s&" + certificates.options(),
                             std::move(more))
                    .value();
  ASSERT_TRUE(client.set("k", "v"));
  const auto started = std::chrono::steady_clock::now();
  SteadyLoad load(client, 2);
  for (unsigned n = 0; n < 20; ++n) {
    certificates.rotate();
    const auto before = client.stats().at(0).connects;
    const unsigned former = logins;
    wait_for_condition("another login, and a connection with it",
                       [&] { return logins > former && client.stats().at(0).connects > before; });
  }
  EXPECT_GT(std::chrono::steady_clock::now() - started,
            std::chrono::seconds(ClientCertificates::seconds_of_life))
      << "the first certificate has ended";
  EXPECT_THAT(load.stop(), testing::IsEmpty());
  EXPECT_EQ(client.stats().at(0).connect_failures, 0u);
  EXPECT_GE(logins, 20u);
}

}  // namespace
}  // namespace sheaf::test

#endif

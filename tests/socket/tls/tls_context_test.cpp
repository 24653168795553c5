#include "socket/tls/tls_context.h"

#include <openssl/pem.h>

#include "tests/socket/tls/tls_fixture.h"

namespace sheaf::socket::tls {
namespace {

class TlsContextTest : public TlsTest {
 protected:
  static std::string refusal(const TlsOptions& options) {
    auto context = TlsContext::open(options);
    return context ? "it was taken" : context.error();
  }
  TlsOptions with(const std::string& certificate_file, const std::string& key_file) const {
    TlsOptions options = trusting(ca);
    options.certificate_file = certificate_file;
    options.key_file = key_file;
    return options;
  }
  const std::string certificate = file("client.pem", server.certificate_pem());
  const std::string key = file("client.key", server.key_pem());
};

TEST_F(TlsContextTest, GoodFilesAreTaken) {
  EXPECT_TRUE(TlsContext::open(with(certificate, key)));
  EXPECT_TRUE(TlsContext::open({})) << "the system's authorities";
}

TEST_F(TlsContextTest, AFileThatIsMissingIsNamedWithItsOption) {
  const std::string missing = folder / "missing.pem";
  TlsOptions options;
  options.ca_file = missing;
  EXPECT_EQ(refusal(options), "tls_ca " + missing + " cannot be read: No such file or directory");
  EXPECT_EQ(refusal(with(missing, key)),
            "tls_cert " + missing + " cannot be read: No such file or directory");
  EXPECT_EQ(refusal(with(certificate, missing)),
            "tls_key " + missing + " cannot be read: No such file or directory");
}

TEST_F(TlsContextTest, AFolderIsNoFile) {
  TlsOptions options;
  options.ca_file = folder;
  EXPECT_EQ(refusal(options), "tls_ca " + folder.string() + " cannot be read: Is a directory");
}

TEST_F(TlsContextTest, AFileWithSomethingElseInItIsRefused) {
  const std::string text = file("text", "this is no certificate\n");
  TlsOptions options;
  options.ca_file = text;
  EXPECT_EQ(refusal(options), "tls_ca " + text + " has no certificate in PEM form");
  EXPECT_EQ(refusal(with(text, key)), "tls_cert " + text + " has no certificate in PEM form");
  EXPECT_EQ(refusal(with(certificate, text)),
            "tls_key " + text + " has no private key in PEM form");
}

TEST_F(TlsContextTest, AKeyOfAnotherCertificateIsRefused) {
  const std::string other = file("other.key", ca.key_pem());
  EXPECT_EQ(refusal(with(certificate, other)),
            "tls_key " + other + " is not the key of the certificate in tls_cert " + certificate);
}

TEST_F(TlsContextTest, CertificateAndKeyGoTogether) {
  EXPECT_EQ(refusal(with(certificate, "")), "tls_cert needs tls_key");
  EXPECT_EQ(refusal(with("", key)), "tls_key needs tls_cert");
}

TEST_F(TlsContextTest, AnEncryptedKeyIsRefusedAndNobodyIsAskedForAPassphrase) {
  BIO* const bio = BIO_new(BIO_s_mem());
  ASSERT_EQ(PEM_write_bio_PrivateKey(bio, server.key.get(), EVP_aes_128_cbc(), nullptr, 0, nullptr,
                                     const_cast<char*>("secret")),
            1);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  const std::string path = file("locked.key", std::string(bytes, static_cast<std::size_t>(size)));
  BIO_free(bio);
  EXPECT_EQ(refusal(with(certificate, path)),
            "tls_key " + path + " is encrypted; keys with a passphrase are not supported");
}

}  // namespace
}  // namespace sheaf::socket::tls

#include "socket/tls/tls_context.h"

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
  // Options with an encrypted key, and a file with this text as its passphrase.
  TlsOptions with_passphrase(const std::string& text) const {
    TlsOptions options = with(certificate, file("locked.key", server.key_pem("geheim")));
    options.key_password_file = file("passphrase", text);
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
  EXPECT_EQ(refusal(with(folder, key)),
            "tls_cert " + folder.string() + " cannot be read: Is a directory");
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

TEST_F(TlsContextTest, AnEncryptedKeyNeedsAPassphraseAndNoTerminalIsAskedForIt) {
  TlsOptions options = with_passphrase("geheim");
  options.key_password_file.clear();
  EXPECT_EQ(refusal(options),
            "tls_key " + options.key_file + " is encrypted; set tls_key_password_file");
}

TEST_F(TlsContextTest, WhiteSpaceAtTheEndsOfAPassphraseDoesNotCount) {
  for (const auto* text : {"geheim", "geheim\n", "\t geheim \r\n\n"}) {
    EXPECT_EQ(refusal(with_passphrase(text)), "it was taken") << text;
  }
  TlsOptions plain = with(certificate, key);
  plain.key_password_file = file("passphrase", "geheim");
  EXPECT_EQ(refusal(plain), "it was taken") << "a key that is not encrypted";
  const std::string longest(1'024, 'x');
  plain.key_file = file("longest.key", server.key_pem(longest));
  plain.key_password_file = file("longest", longest);
  EXPECT_EQ(refusal(plain), "it was taken");
}

TEST_F(TlsContextTest, AFileWithoutTheRightPassphraseIsNamedAndNotQuoted) {
  const std::string file = "tls_key_password_file " + (folder / "passphrase").string();
  const TlsOptions wrong = with_passphrase("gehe im");
  EXPECT_EQ(refusal(wrong), "tls_key " + wrong.key_file +
                                " is encrypted with another passphrase than that in " + file);
  EXPECT_EQ(refusal(with_passphrase(" \n")), file + " has no passphrase");
  EXPECT_EQ(refusal(with_passphrase("")), file + " has no passphrase");
  EXPECT_EQ(refusal(with_passphrase(std::string(1'025, 'x'))), file + " has more than 1024 bytes");
  TlsOptions missing = with_passphrase("");
  missing.key_password_file = folder / "missing";
  EXPECT_EQ(refusal(missing), "tls_key_password_file " + missing.key_password_file +
                                  " cannot be read: No such file or directory");
  missing.key_password_file = folder;
  EXPECT_EQ(refusal(missing),
            "tls_key_password_file " + folder.string() + " cannot be read: Is a directory");
}

TEST_F(TlsContextTest, AnEncryptedKeyOfAnotherCertificateIsRefusedAsSuch) {
  TlsOptions options = with_passphrase("geheim");
  options.key_file = file("other.key", ca.key_pem("geheim"));
  EXPECT_EQ(refusal(options), "tls_key " + options.key_file +
                                  " is not the key of the certificate in tls_cert " + certificate);
}

}  // namespace
}  // namespace sheaf::socket::tls

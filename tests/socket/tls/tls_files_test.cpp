#include "socket/tls/tls_files.h"

#include <gmock/gmock.h>

#include "tests/socket/tls/tls_fixture.h"

namespace sheaf::socket::tls {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class TlsFilesTest : public TlsTest {
 protected:
  // Writes a new version of all files into its own folder.
  void write_version(const std::string& name) const {
    fs::create_directory(folder / name);
    const test::Identity client = test::make_identity({}, &ca);
    file(name + "/ca.pem", ca.certificate_pem());
    file(name + "/tls.crt", client.certificate_pem());
    file(name + "/tls.key", client.key_pem());
  }
  TlsOptions in(const std::string& place) const {
    TlsOptions options;
    options.ca_file = folder / place / "ca.pem";
    options.certificate_file = folder / place / "tls.crt";
    options.key_file = folder / place / "tls.key";
    return options;
  }
};

TEST_F(TlsFilesTest, FilesThatStayTheSameAreReadOnce) {
  write_version("v1");
  const auto files = TlsTest::files(in("v1"));
  const auto first = files->context();
  EXPECT_EQ(files->context(), first);
  EXPECT_EQ(files->fault(), "");
}

TEST_F(TlsFilesTest, AFileThatIsReplacedIsTakenByTheNextConnection) {
  write_version("v1");
  const auto files = TlsTest::files(in("v1"));
  const auto first = files->context();
  file("new.pem", test::make_authority("another").certificate_pem());
  fs::rename(folder / "new.pem", folder / "v1" / "ca.pem");
  const auto second = files->context();
  EXPECT_NE(second, first);
  EXPECT_EQ(files->context(), second);
}

TEST_F(TlsFilesTest, TheEndOfOurCertificateIsThatOfTheFilesAsTheyAre) {
  EXPECT_EQ(files(trusting(ca))->context()->certificate_end(), std::nullopt);
  write_version("v1");
  const auto files = TlsTest::files(in("v1"));
  EXPECT_EQ(files->context()->certificate_end(),
            std::chrono::seconds(test::certificate_time + test::day));
  test::CertificateTerms terms;
  terms.ends += 90 * test::day;
  const test::Identity renewed = test::make_identity(terms, &ca);
  file("v1/tls.key", renewed.key_pem());
  file("v1/tls.crt", renewed.certificate_pem());
  EXPECT_EQ(files->context()->certificate_end(),
            std::chrono::seconds(test::certificate_time + 91 * test::day));
}

TEST_F(TlsFilesTest, AFileThatIsWrittenAgainInPlaceIsTakenToo) {
  write_version("v1");
  const auto files = TlsTest::files(in("v1"));
  const auto first = files->context();
  file("v1/ca.pem", ca.certificate_pem() + test::make_authority("another").certificate_pem());
  EXPECT_NE(files->context(), first);
}

// Kubernetes: ca.pem -> ..data/ca.pem, and ..data -> a folder with a date in its name, swapped.
TEST_F(TlsFilesTest, AFolderThatIsSwappedBehindASymbolicLinkIsTakenToo) {
  write_version("v1");
  write_version("v2");
  fs::create_directory(folder / "mount");
  fs::create_directory_symlink("../v1", folder / "mount" / "..data");
  for (const auto* name : {"ca.pem", "tls.crt", "tls.key"}) {
    fs::create_symlink(fs::path("..data") / name, folder / "mount" / name);
  }
  const auto files = TlsTest::files(in("mount"));
  const auto first = files->context();
  EXPECT_EQ(files->context(), first);
  fs::create_directory_symlink("../v2", folder / "mount" / "..data_tmp");
  fs::rename(folder / "mount" / "..data_tmp", folder / "mount" / "..data");
  const auto second = files->context();
  EXPECT_NE(second, first);
  EXPECT_EQ(files->fault(), "");
  EXPECT_EQ(files->context(), second);
}

TEST_F(TlsFilesTest, ACertificateWithoutItsKeyYetChangesNothing) {
  write_version("v1");
  write_version("v2");
  const auto files = TlsTest::files(in("v1"));
  const auto first = files->context();
  fs::rename(folder / "v2" / "tls.crt", folder / "v1" / "tls.crt");
  EXPECT_EQ(files->context(), first);
  EXPECT_THAT(files->fault(), HasSubstr("is not the key of the certificate"));
  fs::rename(folder / "v2" / "tls.key", folder / "v1" / "tls.key");
  EXPECT_NE(files->context(), first);
  EXPECT_EQ(files->fault(), "");
}

TEST_F(TlsFilesTest, AFileThatIsGoneChangesNothingUntilItIsBack) {
  write_version("v1");
  const auto files = TlsTest::files(in("v1"));
  const auto first = files->context();
  fs::rename(folder / "v1" / "ca.pem", folder / "away.pem");
  EXPECT_EQ(files->context(), first);
  EXPECT_EQ(files->fault(), "tls_ca " + (folder / "v1" / "ca.pem").string() +
                                " cannot be read: No such file or directory");
  fs::rename(folder / "away.pem", folder / "v1" / "ca.pem");
  EXPECT_NE(files->context(), nullptr);
  EXPECT_EQ(files->fault(), "");
}

TEST_F(TlsFilesTest, AKeyAndItsPassphraseAreReplacedTogether) {
  write_version("v1");
  TlsOptions options = in("v1");
  options.key_password_file = folder / "v1" / "passphrase";
  const auto write_key = [&](const std::string& passphrase) {
    const test::Identity client = test::make_identity({}, &ca);
    file("v1/tls.crt", client.certificate_pem());
    file("v1/tls.key", client.key_pem(passphrase));
  };
  write_key("first");
  file("v1/passphrase", "first\n");
  const auto files = TlsTest::files(options);
  const auto first = files->context();
  EXPECT_EQ(files->context(), first);
  write_key("the second");
  EXPECT_EQ(files->context(), first);
  EXPECT_THAT(files->fault(), HasSubstr("is encrypted with another passphrase than that in "));
  file("v1/passphrase", "the second\n");
  EXPECT_NE(files->context(), first);
  EXPECT_EQ(files->fault(), "");
}

TEST_F(TlsFilesTest, AtTheBeginningBadFilesAreRefused) {
  const auto opened = TlsFiles::open(in("nowhere"));
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error(), HasSubstr("cannot be read: No such file or directory"));
}

}  // namespace
}  // namespace sheaf::socket::tls

// Trusted authorities in a folder.

#include "socket/tls/authority_files.h"

#include "tests/socket/tls/tls_talk.h"

namespace sheaf::socket::tls {
namespace {

namespace fs = std::filesystem;

class AuthorityFiles : public TlsTalkTest {
 protected:
  AuthorityFiles() {
    fs::create_directory(bundle);
    options.ca_file = bundle;
  }
  void put(const std::string& name, const test::Identity& authority) const {
    file("bundle/" + name, authority.certificate_pem());
  }
  std::string refusal() const {
    const auto context = TlsContext::open(options);
    return context ? "it was taken" : context.error();
  }
  // How a handshake with a server of that authority ends: empty if it is trusted.
  std::string verdict(TlsFiles& files, const test::Identity& authority) const {
    const test::Identity shown = test::make_identity({}, &authority);
    MemoryServer peer({.identity = &shown});
    const auto session = start(files.context());
    talk(*session, peer);
    EXPECT_NE(session->state(), State::handshaking);
    return session->failure();
  }

  const fs::path bundle = folder / "bundle";
  const test::Identity other = test::make_authority("another authority");
  TlsOptions options;
};

TEST_F(AuthorityFiles, EachFileOfAFolderCounts) {
  put("a.pem", ca);
  put("b.crt", other);
  fs::create_directory(bundle / "folder");
  file("bundle/README", "no certificate\n");
  const auto files = TlsTest::files(options);
  EXPECT_EQ(verdict(*files, ca), "");
  EXPECT_EQ(verdict(*files, other), "");
  EXPECT_NE(verdict(*files, test::make_authority("a third one")), "");
}

TEST_F(AuthorityFiles, AFolderWithoutACertificateIsRefused) {
  const std::string says = "tls_ca " + bundle.string() + " has no certificate in PEM form";
  EXPECT_EQ(refusal(), says);
  file("bundle/README", "no certificate\n");
  EXPECT_EQ(refusal(), says);
  file("bundle/cut.pem", ca.certificate_pem().substr(0, 200));
  EXPECT_NE(refusal().find("tls_ca " + (bundle / "cut.pem").string() + " "), std::string::npos)
      << "a file that is damaged is named: " << refusal();
}

TEST_F(AuthorityFiles, OneThatIsAddedReplacedOrRemovedIsNoticedByTheNextConnection) {
  put("a.pem", ca);
  const auto files = TlsTest::files(options);
  const auto first = files->context();
  EXPECT_EQ(files->context(), first);
  EXPECT_NE(verdict(*files, other), "");
  put("b.pem", other);
  EXPECT_EQ(verdict(*files, other), "");
  fs::remove(bundle / "a.pem");
  EXPECT_NE(verdict(*files, ca), "");
  file("bundle/b.pem", other.certificate_pem() + ca.certificate_pem());
  EXPECT_EQ(verdict(*files, ca), "");
  EXPECT_EQ(files->fault(), "");
}

// Kubernetes: ca.crt -> ..data/ca.crt, and ..data -> a folder with a date in its name, swapped.
TEST_F(AuthorityFiles, AMountThatIsSwappedIsReadAsItIsNow) {
  fs::create_directory(bundle / "..v1");
  fs::create_directory(bundle / "..v2");
  put("..v1/ca.crt", ca);
  put("..v2/ca.crt", other);
  put(".hidden", test::make_authority("a third one"));
  fs::create_directory_symlink("..v1", bundle / "..data");
  fs::create_symlink("..data/ca.crt", bundle / "ca.crt");
  EXPECT_EQ(authority_files(bundle), std::vector<std::string>{bundle / "ca.crt"});
  const auto files = TlsTest::files(options);
  EXPECT_EQ(verdict(*files, ca), "");
  fs::create_directory_symlink("..v2", bundle / "..next");
  fs::rename(bundle / "..next", bundle / "..data");
  EXPECT_EQ(verdict(*files, other), "");
  EXPECT_NE(verdict(*files, ca), "");
}

TEST_F(AuthorityFiles, AFolderThatIsGoneChangesNothingUntilItIsBack) {
  put("a.pem", ca);
  const auto files = TlsTest::files(options);
  fs::rename(bundle, folder / "away");
  EXPECT_EQ(verdict(*files, ca), "");
  EXPECT_EQ(files->fault(),
            "tls_ca " + bundle.string() + " cannot be read: No such file or directory");
  fs::rename(folder / "away", bundle);
  EXPECT_EQ(verdict(*files, ca), "");
  EXPECT_EQ(files->fault(), "");
}

}  // namespace
}  // namespace sheaf::socket::tls

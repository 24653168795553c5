#include "tests/support/tls/credentials.h"

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <stdexcept>

namespace sheaf::test {

CertificateTerms valid_now(const std::string& subject) {
  CertificateTerms terms;
  terms.subject = subject;
  terms.names = "DNS:localhost,IP:127.0.0.1";
  terms.begins = std::time(nullptr) - day / 2;
  terms.ends = std::time(nullptr) + 60 * day;  // long enough that clients do not warn
  return terms;
}

Identity make_authority_now(const std::string& subject, const Identity* issuer) {
  CertificateTerms terms = valid_now(subject);
  terms.names.clear();
  terms.authority = true;
  terms.begins -= 100 * day;
  terms.ends += 100 * day;
  return make_identity(terms, issuer);
}

Credentials::Credentials() : authority_(make_authority_now("authority of the tests")) {
  std::string folder = (std::filesystem::temp_directory_path() / "sheaf-tls-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("cannot make " + folder);
  folder_ = folder;
  file("ca.pem", authority_.certificate_pem());
  server_ = write("server", make_identity(valid_now("server"), &authority_));
  client_ = write("client", make_identity(valid_now("client"), &authority_));
}

Credentials::~Credentials() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

const Credentials& Credentials::shared() {
  static const Credentials all;
  return all;
}

std::string Credentials::options() const {
  return "tls_ca=" + client_.ca + "&tls_cert=" + client_.certificate + "&tls_key=" + client_.key;
}

std::string Credentials::file(const std::string& name, const std::string& text) const {
  const std::string path = folder_ / name;  // a name that begins with "/" is the whole path
  std::ofstream(path) << text;
  return path;
}

TlsPaths Credentials::write(const std::string& name, const Identity& identity,
                            const std::string& more) const {
  return {folder_ / "ca.pem", file(name + ".pem", identity.certificate_pem() + more),
          file(name + ".key", identity.key_pem())};
}

}  // namespace sheaf::test

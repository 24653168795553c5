#pragma once

// Credentials: certificates and keys in files, for servers on 127.0.0.1 and their clients. They are
// valid from half a day ago until 60 days from now, because real servers use the real clock.
//
// Thread rule: one thread at a time.

#include <filesystem>
#include <string>

#include "tests/support/tls/certificates.h"

namespace sheaf::test {

// The files of a server or a client.
struct TlsPaths {
  std::string ca;
  std::string certificate;
  std::string key;
};

// Terms of a server certificate that is valid now.
CertificateTerms valid_now(const std::string& subject);
Identity make_authority_now(const std::string& subject, const Identity* issuer = nullptr);

class Credentials {
 public:
  Credentials();
  ~Credentials();
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;
  // Shared by all tests of a process.
  static const Credentials& shared();

  const Identity& authority() const { return authority_; }
  const TlsPaths& server() const { return server_; }
  const TlsPaths& client() const { return client_; }
  // A client's options: "tls_ca=...&tls_cert=...&tls_key=...".
  std::string options() const;

  const std::filesystem::path& folder() const { return folder_; }
  std::string file(const std::string& name, const std::string& text) const;
  // Writes the files of another identity; `more` follows its certificate.
  TlsPaths write(const std::string& name, const Identity& identity,
                 const std::string& more = {}) const;

 private:
  std::filesystem::path folder_;
  Identity authority_;
  TlsPaths server_;
  TlsPaths client_;
};

}  // namespace sheaf::test

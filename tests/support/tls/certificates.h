#pragma once

// Certificates made by tests: authorities and the certificates that they sign, in memory. Nothing
// depends on the machine's clock.

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <cstdint>
#include <memory>
#include <string>

namespace sheaf::test {

// The moment at which tests judge certificates: 2026-01-01 00:00:00 UTC, in seconds.
constexpr std::int64_t certificate_time = 1'767'225'600;
constexpr std::int64_t day = 86'400;

struct FreeOpenssl {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
};
using Key = std::unique_ptr<EVP_PKEY, FreeOpenssl>;
using Certificate = std::unique_ptr<X509, FreeOpenssl>;

// A certificate and its key.
struct Identity {
  Key key;
  Certificate certificate;
  std::string certificate_pem() const;
  std::string key_pem(std::string passphrase = {}) const;  // empty: not encrypted
};

struct CertificateTerms {
  std::string subject = "server";
  std::string names = "DNS:broker.example,IP:127.0.0.1";  // empty: no alternative names
  std::int64_t begins = certificate_time - day;
  std::int64_t ends = certificate_time + day;
  bool authority = false;
  unsigned rsa_bits = 0;  // 0: a P-256 key
  const char* hash = "SHA256";
  std::string usage{};  // the permitted use, such as "clientAuth"; empty: any
};

// The certificate is signed by `issuer`, or self-signed without one.
Identity make_identity(const CertificateTerms& terms, const Identity* issuer);
Identity make_authority(const std::string& subject, const Identity* issuer = nullptr);

// A key that passes for that of `shown` until it is asked for a signature: its public half is the
// same, its private half is not.
Key make_impostor(const Identity& shown);

}  // namespace sheaf::test

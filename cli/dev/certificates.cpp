#include "cli/dev/certificates.h"

#ifdef SHEAF_TLS

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>

#endif

namespace sheaf::cli {

namespace {

const std::unexpected<std::string> not_made("OpenSSL cannot make a certificate.");

#ifdef SHEAF_TLS

constexpr long hour = 3'600;
constexpr long year = 365 * 24 * hour;

template <auto Function>
struct Freed {
  template <class Pointer>
  void operator()(Pointer* pointer) const {
    Function(pointer);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Memory = std::unique_ptr<BIO, Freed<BIO_free>>;

struct Signer {
  X509* certificate = nullptr;
  EVP_PKEY* key = nullptr;
};

std::string text_of(const Memory& memory) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

Memory memory_of(const std::string& text) {
  return Memory(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

bool extend(X509* certificate, X509* signer, int kind, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, signer, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>> extension(
      X509V3_EXT_conf_nid(nullptr, &context, kind, value));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool set_serial_number(X509* certificate) {
  std::uint64_t serial = 0;
  return RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) == 1 &&
         ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1) == 1;
}

bool describe(X509* certificate, const std::string& subject, EVP_PKEY* key,
              std::chrono::seconds now) {
  const auto time = static_cast<time_t>(now.count());
  const auto* const name = reinterpret_cast<const unsigned char*>(subject.c_str());
  return X509_set_version(certificate, X509_VERSION_3) == 1 && set_serial_number(certificate) &&
         ASN1_TIME_set(X509_getm_notBefore(certificate), time - hour) != nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), time + year) != nullptr &&
         X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC, name,
                                    -1, -1, 0) == 1 &&
         X509_set_pubkey(certificate, key) == 1;
}

std::expected<CertifiedKey, std::string> printed(X509* certificate, EVP_PKEY* key) {
  const Memory first(BIO_new(BIO_s_mem()));
  const Memory second(BIO_new(BIO_s_mem()));
  if (!first || !second || PEM_write_bio_X509(first.get(), certificate) != 1 ||
      PEM_write_bio_PrivateKey(second.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return not_made;
  }
  return CertifiedKey{text_of(first), text_of(second)};
}

// Without a signer the certificate signs itself, and is an authority.
std::expected<CertifiedKey, std::string> make(const std::string& subject, const Signer& signer,
                                              std::chrono::seconds now) {
  const Key key(EVP_EC_gen("P-256"));
  const Certificate made(X509_new());
  X509* const own = made.get();
  if (!key || own == nullptr || !describe(own, subject, key.get(), now)) return not_made;
  const bool authority = signer.certificate == nullptr;
  X509* const issuer = authority ? own : signer.certificate;
  const bool extended =
      X509_set_issuer_name(own, X509_get_subject_name(issuer)) == 1 &&
      extend(own, issuer, NID_basic_constraints,
             authority ? "critical,CA:TRUE" : "critical,CA:FALSE") &&
      extend(own, issuer, NID_key_usage,
             authority ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature") &&
      extend(own, issuer, NID_subject_key_identifier, "hash") &&
      extend(own, issuer, NID_authority_key_identifier, "keyid:always") &&
      (authority ||
       (extend(own, issuer, NID_ext_key_usage, "serverAuth") &&
        extend(own, issuer, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1,IP:::1")));
  if (!extended || X509_sign(own, authority ? key.get() : signer.key, EVP_sha256()) <= 0) {
    return not_made;
  }
  return printed(own, key.get());
}

#endif

}  // namespace

#ifdef SHEAF_TLS

std::expected<CertifiedKey, std::string> make_authority(std::uint64_t number,
                                                        std::chrono::seconds now) {
  return make("sheaf dev authority " + std::to_string(number), {}, now);
}

std::expected<CertifiedKey, std::string> make_server_certificate(const CertifiedKey& authority,
                                                                 std::chrono::seconds now) {
  const Memory first = memory_of(authority.certificate);
  const Memory second = memory_of(authority.key);
  if (!first || !second) return not_made;
  const Certificate certificate(PEM_read_bio_X509(first.get(), nullptr, nullptr, nullptr));
  const Key key(PEM_read_bio_PrivateKey(second.get(), nullptr, nullptr, nullptr));
  if (!certificate || !key) return not_made;
  return make("sheaf dev broker", {certificate.get(), key.get()}, now);
}

#else

std::expected<CertifiedKey, std::string> make_authority(std::uint64_t, std::chrono::seconds) {
  return not_made;
}

std::expected<CertifiedKey, std::string> make_server_certificate(const CertifiedKey&,
                                                                 std::chrono::seconds) {
  return not_made;
}

#endif

}  // namespace sheaf::cli

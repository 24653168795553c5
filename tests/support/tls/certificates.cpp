#include "tests/support/tls/certificates.h"

#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace sheaf::test {
namespace {

template <typename Write>
std::string print(const Write& write) {
  BIO* const bio = BIO_new(BIO_s_mem());
  EXPECT_EQ(write(bio), 1);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  std::string text(bytes, static_cast<std::size_t>(size));
  BIO_free(bio);
  return text;
}

void extend(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  EXPECT_NE(extension, nullptr) << value;
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

}  // namespace

std::string Identity::certificate_pem() const {
  return print([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate.get()); });
}

std::string Identity::key_pem(std::string passphrase) const {
  const EVP_CIPHER* const cipher = passphrase.empty() ? nullptr : EVP_aes_128_cbc();
  return print([&](BIO* bio) {
    return PEM_write_bio_PrivateKey(bio, key.get(), cipher, nullptr, 0, nullptr, passphrase.data());
  });
}

Identity make_identity(const CertificateTerms& terms, const Identity* issuer) {
  static long serial = 0;
  Identity made;
  made.key.reset(terms.rsa_bits == 0 ? EVP_EC_gen("P-256") : EVP_RSA_gen(terms.rsa_bits));
  made.certificate.reset(X509_new());
  X509* const raw = made.certificate.get();
  X509_set_version(raw, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(raw), ++serial);
  ASN1_TIME_set(X509_getm_notBefore(raw), terms.begins);
  ASN1_TIME_set(X509_getm_notAfter(raw), terms.ends);
  X509_set_pubkey(raw, made.key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(raw), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(terms.subject.c_str()), -1, -1,
                             0);
  X509* const signer = issuer == nullptr ? raw : issuer->certificate.get();
  X509_set_issuer_name(raw, X509_get_subject_name(signer));
  extend(raw, signer, NID_basic_constraints,
         terms.authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
  if (!terms.names.empty()) extend(raw, signer, NID_subject_alt_name, terms.names);
  if (!terms.usage.empty()) extend(raw, signer, NID_ext_key_usage, terms.usage);
  EVP_PKEY* const key = issuer == nullptr ? made.key.get() : issuer->key.get();
  EXPECT_GT(X509_sign(raw, key, EVP_get_digestbyname(terms.hash)), 0);
  return made;
}

Key make_impostor(const Identity& shown) {
  const Key other(EVP_EC_gen("P-256"));
  BIGNUM* secret = nullptr;
  unsigned char point[100];
  std::size_t size = 0;
  EXPECT_EQ(EVP_PKEY_get_bn_param(other.get(), OSSL_PKEY_PARAM_PRIV_KEY, &secret), 1);
  EXPECT_EQ(EVP_PKEY_get_octet_string_param(shown.key.get(), OSSL_PKEY_PARAM_PUB_KEY, point,
                                            sizeof point, &size),
            1);
  OSSL_PARAM_BLD* const parts = OSSL_PARAM_BLD_new();
  OSSL_PARAM_BLD_push_utf8_string(parts, OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0);
  OSSL_PARAM_BLD_push_octet_string(parts, OSSL_PKEY_PARAM_PUB_KEY, point, size);
  OSSL_PARAM_BLD_push_BN(parts, OSSL_PKEY_PARAM_PRIV_KEY, secret);
  OSSL_PARAM* const all = OSSL_PARAM_BLD_to_param(parts);
  EVP_PKEY_CTX* const context = EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr);
  EVP_PKEY* made = nullptr;
  EXPECT_EQ(EVP_PKEY_fromdata_init(context), 1);
  EXPECT_EQ(EVP_PKEY_fromdata(context, &made, EVP_PKEY_KEYPAIR, all), 1);
  EVP_PKEY_CTX_free(context);
  OSSL_PARAM_free(all);
  OSSL_PARAM_BLD_free(parts);
  BN_free(secret);
  return Key(made);
}

Identity make_authority(const std::string& subject, const Identity* issuer) {
  CertificateTerms terms;
  terms.subject = subject;
  terms.names.clear();
  terms.authority = true;
  terms.begins = certificate_time - 1'000 * day;
  terms.ends = certificate_time + 1'000 * day;
  return make_identity(terms, issuer);
}

}  // namespace sheaf::test

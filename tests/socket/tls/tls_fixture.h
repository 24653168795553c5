#pragma once

// An OpenSSL server in memory, and certificates in files of the test's own folder.

#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/clock.h"
#include "socket/tls/tls_files.h"
#include "tests/support/tls/certificates.h"

namespace sheaf::socket::tls {

// What a server shows and what it demands.
struct ServerTerms {
  const test::Identity* identity = nullptr;
  const test::Identity* chain = nullptr;      // sent with it
  const test::Identity* client_ca = nullptr;  // demands certificates of this authority
  int version = 0;                            // only this one
  bool weak = false;                          // also shows what it should not
  std::string protocol{};                     // chosen by ALPN
  bool tickets = false;                       // accepts those of servers with equal terms
};

class MemoryServer {
 public:
  explicit MemoryServer(const ServerTerms& terms) : protocol_(terms.protocol) {
    context_ = SSL_CTX_new(TLS_server_method());
    SSL_CTX_set_security_level(context_, terms.weak ? 0 : 2);
    if (terms.version != 0) {
      SSL_CTX_set_min_proto_version(context_, terms.version);
      SSL_CTX_set_max_proto_version(context_, terms.version);
    }
    EXPECT_EQ(SSL_CTX_use_certificate(context_, terms.identity->certificate.get()), 1);
    EXPECT_EQ(SSL_CTX_use_PrivateKey(context_, terms.identity->key.get()), 1);
    if (terms.chain != nullptr) {
      EXPECT_EQ(SSL_CTX_add1_chain_cert(context_, terms.chain->certificate.get()), 1);
    }
    if (terms.client_ca != nullptr) {
      X509_STORE_add_cert(SSL_CTX_get_cert_store(context_), terms.client_ca->certificate.get());
      SSL_CTX_set_verify(context_, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    }
    SSL_CTX_set_alpn_select_cb(context_, choose, this);
    char keys[80] = "the same for all servers";
    if (terms.tickets) SSL_CTX_set_tlsext_ticket_keys(context_, keys, sizeof keys);
    ssl_ = SSL_new(context_);
    SSL_set_bio(ssl_, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    X509_VERIFY_PARAM_set_time(SSL_get0_param(ssl_), test::certificate_time);
    SSL_set_accept_state(ssl_);
  }
  ~MemoryServer() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
  }
  MemoryServer(const MemoryServer&) = delete;
  MemoryServer& operator=(const MemoryServer&) = delete;

  // Bytes from the client.
  void take(std::string_view bytes) {
    BIO_write(SSL_get_rbio(ssl_), bytes.data(), static_cast<int>(bytes.size()));
    if (!SSL_is_init_finished(ssl_)) SSL_do_handshake(ssl_);
    char buffer[4096];
    std::size_t size = 0;
    while (SSL_is_init_finished(ssl_) && SSL_read_ex(ssl_, buffer, sizeof buffer, &size) == 1) {
      received.append(buffer, size);
    }
    closed = (SSL_get_shutdown(ssl_) & SSL_RECEIVED_SHUTDOWN) != 0;
    ERR_clear_error();
  }
  // Bytes for the client.
  std::string give(std::size_t most = std::string::npos) {
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(SSL_get_wbio(ssl_), &bytes);
    std::string out(std::min(most, static_cast<std::size_t>(size)), 0);
    if (!out.empty()) BIO_read(SSL_get_wbio(ssl_), out.data(), static_cast<int>(out.size()));
    return out;
  }
  void say(std::string_view text) {
    EXPECT_EQ(SSL_write(ssl_, text.data(), static_cast<int>(text.size())),
              static_cast<int>(text.size()));
  }
  void close() { SSL_shutdown(ssl_); }
  // The client's bytes end, as when something in between closes half of the connection.
  void take_end() {
    BIO_set_mem_eof_return(SSL_get_rbio(ssl_), 0);
    char byte = 0;
    EXPECT_LE(SSL_read(ssl_, &byte, 1), 0);
    ERR_clear_error();
  }
  SSL* raw() { return ssl_; }

  std::string received;
  std::string offered;  // by ALPN, as it is on the wire
  bool closed = false;

 private:
  static int choose(SSL*, const unsigned char** out, unsigned char* size, const unsigned char* in,
                    unsigned in_size, void* self) {
    auto& server = *static_cast<MemoryServer*>(self);
    server.offered.assign(reinterpret_cast<const char*>(in), in_size);
    *out = in + 1;
    *size = in[0];
    return SSL_TLSEXT_ERR_OK;
  }

  std::string protocol_;
  SSL_CTX* context_ = nullptr;
  SSL* ssl_ = nullptr;
};

class TlsTest : public testing::Test {
 protected:
  TlsTest() {
    std::string path = testing::TempDir() + "sheaf-tls-XXXXXX";
    EXPECT_NE(mkdtemp(path.data()), nullptr);
    folder = path;
  }
  ~TlsTest() override { std::filesystem::remove_all(folder); }

  std::string file(const std::string& name, const std::string& text) const {
    const std::string path = folder / name;
    std::ofstream(path) << text;
    return path;
  }
  TlsOptions trusting(const test::Identity& authority) const {
    TlsOptions options;
    options.ca_file = file("ca.pem", authority.certificate_pem());
    return options;
  }
  static std::shared_ptr<const TlsContext> open(const TlsOptions& options) {
    auto context = TlsContext::open(options);
    EXPECT_TRUE(context) << context.error();
    return context ? *context : nullptr;
  }
  static std::unique_ptr<TlsFiles> files(const TlsOptions& options) {
    auto opened = TlsFiles::open(options);
    EXPECT_TRUE(opened) << opened.error();
    return opened ? std::move(*opened) : nullptr;
  }
  static Now at(std::int64_t seconds) { return {Deadline{0}, std::chrono::seconds(seconds)}; }

  std::filesystem::path folder;
  const Now now = at(test::certificate_time);
  const test::Identity ca = test::make_authority("test authority");
  const test::Identity server = test::make_identity({}, &ca);
};

}  // namespace sheaf::socket::tls

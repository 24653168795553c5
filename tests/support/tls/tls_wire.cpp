#include "tests/support/tls/tls_wire.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <string>

#include "tests/support/tls/client_wire.h"

namespace sheaf::test {
namespace {

[[noreturn]] void fail(const std::string& what) {
  char reason[256];
  ERR_error_string_n(ERR_get_error(), reason, sizeof reason);
  throw std::runtime_error(what + ": " + reason);
}

struct Free {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* tls) const { SSL_free(tls); }
};

class TlsWire final : public Wire {
 public:
  TlsWire(std::uint16_t port, const TlsWireTerms& terms)
      : context_(SSL_CTX_new(TLS_client_method())), fd_(connected_socket(port)) {
    SSL_CTX* const context = context_.get();
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to sockets that have ended
    SSL_CTX_set_security_level(context, 0);
    SSL_CTX_set_min_proto_version(context, TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context, terms.newest);
    if (!terms.ciphers.empty()) SSL_CTX_set_cipher_list(context, terms.ciphers.c_str());
    const TlsPaths& paths = terms.paths;
    if (!paths.certificate.empty() &&
        (SSL_CTX_use_certificate_chain_file(context, paths.certificate.c_str()) != 1 ||
         SSL_CTX_use_PrivateKey_file(context, paths.key.c_str(), SSL_FILETYPE_PEM) != 1)) {
      ::close(fd_);
      fail("the certificate");
    }
    tls_.reset(SSL_new(context));
    SSL_set_fd(tls_.get(), fd_);
    if (SSL_connect(tls_.get()) != 1) {
      ::close(fd_);
      fail("the handshake");
    }
  }
  ~TlsWire() override { ::close(fd_); }
  TlsWire(const TlsWire&) = delete;
  TlsWire& operator=(const TlsWire&) = delete;

  void send(std::string_view bytes) override {
    std::size_t sent = 0;
    if (!bytes.empty()) SSL_write_ex(tls_.get(), bytes.data(), bytes.size(), &sent);
  }

  std::optional<std::string> receive(std::chrono::milliseconds limit) override {
    pollfd wait{fd_, POLLIN, 0};
    if (SSL_pending(tls_.get()) == 0 && ::poll(&wait, 1, static_cast<int>(limit.count())) != 1) {
      return std::string();
    }
    char buffer[65536];
    std::size_t got = 0;
    if (SSL_read_ex(tls_.get(), buffer, sizeof buffer, &got) != 1) return std::nullopt;
    return std::string(buffer, got);
  }

 private:
  std::unique_ptr<SSL_CTX, Free> context_;
  int fd_;
  std::unique_ptr<SSL, Free> tls_;
};

}  // namespace

std::unique_ptr<Wire> connect_tls(std::uint16_t port, const TlsWireTerms& terms) {
  return std::make_unique<TlsWire>(port, terms);
}

std::unique_ptr<Wire> connect_as_client(std::uint16_t port) {
  return connect_tls(port, {.paths = Credentials::shared().client()});
}

}  // namespace sheaf::test

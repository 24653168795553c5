#pragma once

// TlsContext: the checked options and the contents of their files, for all connections that share
// them.
//
// The rules for every connection: TLS 1.2 or later, keys and signatures of 112 bits or more (so no
// SHA-1 and no RSA below 2,048 bits), no compression, no renegotiation, and a peer that proves its
// name.
//
// Thread rule: open() from any thread; constant afterwards, except for the tickets, which belong to
// the lane of the connections.

#include <chrono>
#include <expected>
#include <memory>
#include <optional>
#include <string>

#include "socket/tls/tls_options.h"
#include "socket/tls/tls_tickets.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace sheaf::socket::tls {

class TlsContext {
 public:
  // Reads the files. The error is one sentence that names the option, the file and the cause.
  static std::expected<std::shared_ptr<const TlsContext>, std::string> open(TlsOptions options);

  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  const TlsOptions& options() const noexcept { return options_; }
  ssl_ctx_st* raw() const noexcept { return raw_; }
  // When our own certificate expires, by the wall clock; nothing without one.
  std::optional<std::chrono::milliseconds> certificate_end() const;
  // The tickets of sessions under these options.
  TlsTickets& tickets() const noexcept { return tickets_; }

 private:
  TlsContext(TlsOptions options, ssl_ctx_st* raw) : options_(std::move(options)), raw_(raw) {}

  TlsOptions options_;
  ssl_ctx_st* raw_;
  mutable TlsTickets tickets_;
};

}  // namespace sheaf::socket::tls

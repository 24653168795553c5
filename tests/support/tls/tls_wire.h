#pragma once

// A wire (tests/support/wire.h) over TLS that uses OpenSSL alone and nothing of the product.
//
// Thread rule: that of Wire.

#include <cstdint>
#include <memory>
#include <string>

#include "tests/support/tls/credentials.h"
#include "tests/support/wire.h"

namespace sheaf::test {

struct TlsWireTerms {
  TlsPaths paths;         // the client's; the server is not verified
  int newest = 0;         // such as TLS1_1_VERSION; 0: no limit
  std::string ciphers{};  // for TLS 1.2 and older; empty: OpenSSL's default
};

// Throws std::runtime_error with OpenSSL's reason if the handshake fails. In TLS 1.3 a server's
// refusal of the client's certificate shows only later, as the end of the wire.
std::unique_ptr<Wire> connect_tls(std::uint16_t port, const TlsWireTerms& terms);

}  // namespace sheaf::test

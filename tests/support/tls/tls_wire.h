#pragma once

// A wire (tests/support/wire.h) over TLS, by OpenSSL alone: nothing of the product is in it.
//
// Thread rule: that of Wire.

#include <cstdint>
#include <memory>
#include <string>

#include "tests/support/tls/credentials.h"
#include "tests/support/wire.h"

namespace sheaf::test {

struct TlsWireTerms {
  TlsPaths paths;         // of the client; the server is not verified
  int newest = 0;         // such as TLS1_1_VERSION; 0: no limit
  std::string ciphers{};  // of TLS 1.2 and older; empty: those of OpenSSL
};

// Throws std::runtime_error with OpenSSL's reason if the handshake fails. That a server refuses the
// client's certificate shows later in TLS 1.3: as the end of the wire.
std::unique_ptr<Wire> connect_tls(std::uint16_t port, const TlsWireTerms& terms);

}  // namespace sheaf::test

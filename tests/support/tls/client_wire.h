#pragma once

// A wire (tests/support/wire.h) over TLS with the client's certificate of Credentials::shared(). In
// a header of its own, because test::Credentials would hide sheaf::Credentials from its readers.
//
// Thread rule: that of Wire.

#include <cstdint>
#include <memory>

#include "tests/support/wire.h"

namespace sheaf::test {

// Throws as connect_tls (tls_wire.h).
std::unique_ptr<Wire> connect_as_client(std::uint16_t port);

}  // namespace sheaf::test

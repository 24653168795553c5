#pragma once

// Describes what went wrong in a TLS connection, for the person who has to fix it.

#include <string>

struct ssl_st;  // OpenSSL's SSL

namespace sheaf::socket::tls {

// True if the error that OpenSSL queued on this thread says that one side does not accept the
// other, so that the next connection would fail in the same way.
bool is_refusal(bool in_handshake);

// Describes the error that OpenSSL queued on this thread, and empties the queue. `name`: what the
// peer had to prove.
std::string describe_failure(ssl_st* ssl, const std::string& name, bool in_handshake);

}  // namespace sheaf::socket::tls

#pragma once

// What went wrong in a TLS connection, in the words of somebody who has to mend it.

#include <string>

struct ssl_st;  // OpenSSL's SSL

namespace sheaf::socket::tls {

// Whether the error that OpenSSL queued on this thread says that one side does not accept the
// other: it would say the same of the next connection.
bool is_refusal(bool in_handshake);

// Of the error that OpenSSL queued on this thread; the queue is empty afterwards. `name`: what the
// peer had to prove.
std::string describe_failure(ssl_st* ssl, const std::string& name, bool in_handshake);

}  // namespace sheaf::socket::tls

#pragma once

// Describes what went wrong in a TLS connection, for the person who has to fix it.

#include <cstdint>
#include <string>

struct ssl_st;  // OpenSSL's SSL

namespace sheaf::socket::tls {

// How far a connection has come.
enum class Progress : std::uint8_t {
  handshaking,
  unanswered,  // the handshake is over, and nothing has come from the peer since. A server of TLS
               // 1.3 looks at our certificate only now.
  answered     // the peer has sent something, so it accepts us
};

// True if the error that OpenSSL queued on this thread says that one side does not accept the
// other, so that the next connection would fail in the same way. After the first answer no error
// says that: the connection is lost, and the next one may work. An alert about the bytes of the
// connection never does, because something between the two may have cut or changed them.
bool is_refusal(Progress progress);

// Describes the error that OpenSSL queued on this thread, and empties the queue. `name`: what the
// peer had to prove.
std::string describe_failure(ssl_st* ssl, const std::string& name, Progress progress);

}  // namespace sheaf::socket::tls

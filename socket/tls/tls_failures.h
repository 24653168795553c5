#pragma once

// What went wrong in a TLS connection, in the words of somebody who has to mend it.

#include <string>

struct ssl_st;             // OpenSSL's SSL
struct x509_store_ctx_st;  // and X509_STORE_CTX

namespace sheaf::socket::tls {

// Notes what is wrong with a certificate in the std::string that is the SSL's app data. To be set
// as the function that OpenSSL calls for each verdict; changes none.
int note_verdict(int accepted, x509_store_ctx_st* verdict);

// Of the error that OpenSSL queued on this thread; the queue is empty afterwards. `name`: what the
// peer had to prove.
std::string describe_failure(ssl_st* ssl, const std::string& name, bool in_handshake);

}  // namespace sheaf::socket::tls

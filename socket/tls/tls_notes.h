#pragma once

// TlsNotes: what OpenSSL reports about a connection while it works on it. They are the app data of
// the connection's SSL, and OpenSSL calls the functions.
//
// Thread rule: that of the connection.

#include <chrono>
#include <optional>
#include <string>

#include "socket/tls/tls_tickets.h"

struct ssl_st;             // OpenSSL's SSL
struct x509_st;            // its X509
struct x509_store_ctx_st;  // and X509_STORE_CTX

namespace sheaf::socket::tls {

struct TlsNotes {
  std::string verdict;            // what is wrong with the peer's certificate, if anything
  std::string server;             // the server that issues the tickets
  TlsTickets* tickets = nullptr;  // where they go
};

TlsNotes& notes_of(const ssl_st* ssl);

// When a certificate expires, by the wall clock; nothing if there is no certificate.
std::optional<std::chrono::milliseconds> end_of(const x509_st* certificate);

// Notes what is wrong with a certificate. Does not change the verdict.
int note_verdict(int accepted, x509_store_ctx_st* verdict);
// Keeps a ticket of the server.
int note_ticket(ssl_st* ssl, ssl_session_st* ticket);

}  // namespace sheaf::socket::tls

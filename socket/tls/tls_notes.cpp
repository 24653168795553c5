#include "socket/tls/tls_notes.h"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <ctime>

namespace sheaf::socket::tls {
namespace {

std::string print_time(const ASN1_TIME* time) {
  tm parts{};
  if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1) return "an unknown time";
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02d-%02d %02d:%02d:%02d UTC", parts.tm_year + 1900,
                parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
  return text;
}

}  // namespace

TlsNotes& notes_of(const ssl_st* ssl) { return *static_cast<TlsNotes*>(SSL_get_app_data(ssl)); }

std::optional<std::chrono::milliseconds> end_of(const x509_st* certificate) {
  tm parts{};
  if (certificate == nullptr) return std::nullopt;
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &parts) != 1) return std::nullopt;
  return std::chrono::seconds(::timegm(&parts));
}

int note_verdict(int accepted, x509_store_ctx_st* verdict) {
  if (accepted == 1) return accepted;
  const auto* const ssl =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(verdict, SSL_get_ex_data_X509_STORE_CTX_idx()));
  std::string& note = notes_of(ssl).verdict;
  const X509* const certificate = X509_STORE_CTX_get_current_cert(verdict);
  const int code = X509_STORE_CTX_get_error(verdict);
  const bool own = X509_STORE_CTX_get_error_depth(verdict) == 0;
  const std::string which =
      own ? "the server's certificate" : "a certificate in the server's chain";
  if (code == X509_V_ERR_CERT_HAS_EXPIRED) {
    note = which + " has expired: it ended at " + print_time(X509_get0_notAfter(certificate));
  } else if (code == X509_V_ERR_CERT_NOT_YET_VALID) {
    note =
        which + " is not valid yet: it begins at " + print_time(X509_get0_notBefore(certificate));
  }
  return accepted;
}

int note_ticket(ssl_st* ssl, ssl_session_st* ticket) {
  const TlsNotes& notes = notes_of(ssl);
  if (notes.server.empty()) return 0;
  notes.tickets->keep(notes.server, Ticket(ticket));
  return 1;  // it is ours now
}

}  // namespace sheaf::socket::tls

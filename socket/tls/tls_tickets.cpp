#include "socket/tls/tls_tickets.h"

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <ctime>
#include <utility>

namespace sheaf::socket::tls {

void FreeTicket::operator()(ssl_session_st* ticket) const noexcept { SSL_SESSION_free(ticket); }

void TlsTickets::keep(const std::string& server, Ticket ticket) {
  if (distrusted_.contains(server)) return;
  if (tickets_.size() >= most) tickets_.clear();
  tickets_.insert_or_assign(server, std::move(ticket));
}

Ticket TlsTickets::take(const std::string& server, std::int64_t seconds) {
  const auto found = tickets_.find(server);
  if (found == tickets_.end()) return nullptr;
  Ticket ticket = std::move(found->second);
  tickets_.erase(found);
  const X509* const certificate = SSL_SESSION_get0_peer(ticket.get());
  std::time_t now = seconds;
  // X509_cmp_time() returns 1 if the certificate expires later.
  if (certificate == nullptr) return nullptr;
  if (X509_cmp_time(X509_get0_notAfter(certificate), &now) != 1) return nullptr;
  return ticket;
}

void TlsTickets::distrust(const std::string& server) {
  tickets_.erase(server);
  if (distrusted_.size() >= most) distrusted_.clear();
  distrusted_.insert(server);
}

}  // namespace sheaf::socket::tls

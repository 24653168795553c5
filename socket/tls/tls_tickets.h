#pragma once

// TlsTickets: the tickets with which servers let sessions be resumed, which saves both sides the
// exchange of certificates. Only the latest of each server is kept, and it is used once. A ticket
// is dropped when its server certificate has expired.
//
// Thread rule: one thread at a time.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>

struct ssl_session_st;  // OpenSSL's SSL_SESSION

namespace sheaf::socket::tls {

struct FreeTicket {
  void operator()(ssl_session_st* ticket) const noexcept;
};
using Ticket = std::unique_ptr<ssl_session_st, FreeTicket>;

class TlsTickets {
 public:
  void keep(const std::string& server, Ticket ticket);
  // Null without a ticket. `seconds`: the time since the Unix epoch.
  Ticket take(const std::string& server, std::int64_t seconds);
  // A handshake with a ticket of this server failed: no more of its tickets are kept.
  void distrust(const std::string& server);

 private:
  static constexpr std::size_t most = 4'096;
  std::unordered_map<std::string, Ticket> tickets_;
  std::unordered_set<std::string> distrusted_;
};

}  // namespace sheaf::socket::tls

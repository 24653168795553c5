#pragma once

// TlsTickets: what servers have given to resume their sessions with, which saves both sides the
// certificates. The latest of each server, each used once. A ticket is no longer used when the
// certificate that it stands for has ended.
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
  // Null if there is none. `seconds`: since the Unix epoch.
  Ticket take(const std::string& server, std::int64_t seconds);
  // A handshake with a ticket of this server failed: none is kept any more.
  void distrust(const std::string& server);

 private:
  static constexpr std::size_t most = 4'096;
  std::unordered_map<std::string, Ticket> tickets_;
  std::unordered_set<std::string> distrusted_;
};

}  // namespace sheaf::socket::tls

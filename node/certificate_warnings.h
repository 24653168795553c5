#pragma once

// CertificateWarnings: when a node's log warns that a certificate expires soon. It warns once a day
// for each certificate while 14 days or fewer are left. Before that it checks when 14 days are
// left, but at least once a day, because the wall clock may be set.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace sheaf::node {

// By the wall clock; nothing if there is no certificate.
struct CertificateEnds {
  std::optional<std::chrono::milliseconds> server;
  std::optional<std::chrono::milliseconds> own;
};

inline constexpr std::string_view server_certificate = "the server's certificate";
inline constexpr std::string_view own_certificate = "our certificate (tls_cert)";

// "the server's certificate ends 2027-01-01 09:00 UTC, in 10 days"; nothing while more than 14 days
// are left.
std::optional<std::string> certificate_warning(std::string_view which,
                                               std::chrono::milliseconds end,
                                               std::chrono::milliseconds wall);

class CertificateWarnings {
 public:
  // The warnings that are due now, as sentences without their full stop.
  std::vector<std::string> due(const CertificateEnds& ends, Now now);
  // A connection is ready and may have shown another certificate, so call due() now.
  void on_connection(Now now) noexcept { deadline_ = now.mono; }
  // When to call due() again.
  Deadline deadline() const noexcept { return deadline_; }

 private:
  std::array<Deadline, 2> warned_{never, never};  // when; for the server's and our own
  Deadline deadline_ = never;
};

}  // namespace sheaf::node

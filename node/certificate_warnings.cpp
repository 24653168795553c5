// Pure: no socket, clock, entropy, thread or callback.

#include "node/certificate_warnings.h"

#include <algorithm>
#include <cstdio>

namespace sheaf::node {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr std::chrono::hours day = 24h;
constexpr std::chrono::hours near_end = 14 * day;

std::string print_minute(milliseconds wall) {
  const auto date = std::chrono::floor<std::chrono::days>(wall);
  const std::chrono::year_month_day parts{std::chrono::local_days(date)};
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(wall - date).count();
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02u %02d:%02d UTC", static_cast<int>(parts.year()),
                static_cast<unsigned>(parts.month()), static_cast<unsigned>(parts.day()),
                static_cast<int>(minutes / 60), static_cast<int>(minutes % 60));
  return text;
}

// "1 day", "5 hours": rounded down.
std::string print_left(milliseconds left) {
  const auto hours = std::chrono::duration_cast<std::chrono::hours>(left).count();
  if (hours < 1) return "less than an hour";
  const auto count = hours < 48 ? hours : hours / 24;
  return std::to_string(count) + (hours < 48 ? " hour" : " day") + (count == 1 ? "" : "s");
}

// The next check: when 14 days are left, but within a day, because the wall clock may be set.
// Certificates may expire thousands of years from now, which nanoseconds cannot count.
Deadline next_look(milliseconds end, Now now) {
  const milliseconds left = end - now.wall;
  return now.mono + std::min<milliseconds>(day, std::max<milliseconds>(left - near_end, 1ms));
}

}  // namespace

std::optional<std::string> certificate_warning(std::string_view which, milliseconds end,
                                               milliseconds wall) {
  const milliseconds left = end - wall;
  if (left > near_end) return std::nullopt;
  std::string text(which);
  if (left <= 0ms) return text + " ended " + print_minute(end);
  return text + " ends " + print_minute(end) + ", in " + print_left(left);
}

std::vector<std::string> CertificateWarnings::due(const CertificateEnds& ends, Now now) {
  std::vector<std::string> said;
  deadline_ = never;
  const auto look = [&](std::string_view which, const std::optional<milliseconds>& end,
                        Deadline& warned) {
    if (!end) return;
    auto warning = certificate_warning(which, *end, now.wall);
    if (!warning) {
      deadline_ = std::min(deadline_, next_look(*end, now));
      return;
    }
    if (warned == never || now.mono - warned >= day) {
      warned = now.mono;
      said.push_back(std::move(*warning));
    }
    deadline_ = std::min(deadline_, warned + day);
  };
  look(server_certificate, ends.server, warned_[0]);
  look(own_certificate, ends.own, warned_[1]);
  return said;
}

}  // namespace sheaf::node

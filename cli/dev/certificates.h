#pragma once

// The certificates of `sheaf dev`: authorities, and what they sign for brokers on this machine.
// Without OpenSSL (SHEAF_TLS) none can be made.
//
// Thread rule: functions without state.

#include <chrono>
#include <cstdint>
#include <expected>
#include <string>

namespace sheaf::cli {

#ifdef SHEAF_TLS
inline constexpr bool has_certificates = true;
#else
inline constexpr bool has_certificates = false;
#endif

// A certificate and its key, in PEM form.
struct CertifiedKey {
  std::string certificate;
  std::string key;
};
// `number` is in the certificate's subject, `now` is the time since 1970. It is valid for a year,
// and also for clocks that are an hour behind. The error is one sentence.
std::expected<CertifiedKey, std::string> make_authority(std::uint64_t number,
                                                        std::chrono::seconds now);
// For localhost, 127.0.0.1 and ::1.
std::expected<CertifiedKey, std::string> make_server_certificate(const CertifiedKey& authority,
                                                                 std::chrono::seconds now);

}  // namespace sheaf::cli

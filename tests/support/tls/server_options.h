#pragma once

// Options that make the real servers of tests serve only TLS. The servers demand client
// certificates unless the paths have no authority.
//
// Thread rule: pure functions.

#include <string>
#include <vector>

#include "tests/support/tls/credentials.h"

namespace sheaf::test {

// For a listener of mosquitto (BrokerOptions::tls).
inline std::string mosquitto_tls(const TlsPaths& paths) {
  std::string lines = "certfile " + paths.certificate + "\nkeyfile " + paths.key + "\n";
  if (!paths.ca.empty()) lines += "cafile " + paths.ca + "\nrequire_certificate true\n";
  return lines;
}

// For memcached (MemcachedOptions::arguments).
inline std::vector<std::string> memcached_tls(const TlsPaths& paths) {
  std::string options = "ssl_chain_cert=" + paths.certificate + ",ssl_key=" + paths.key;
  if (!paths.ca.empty()) options += ",ssl_verify_mode=2,ssl_ca_cert=" + paths.ca;
  return {"-Z", "-o", options};
}

// For redis-server (RedisOptions::tls).
inline std::vector<std::string> redis_tls(const TlsPaths& paths) {
  const bool demands = !paths.ca.empty();
  return {"tls-cert-file " + paths.certificate, "tls-key-file " + paths.key,
          demands ? "tls-ca-cert-file " + paths.ca : "tls-auth-clients no"};
}

}  // namespace sheaf::test

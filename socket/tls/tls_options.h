#pragma once

// The settings of a cluster's TLS connections.

#include <string>

namespace sheaf::socket::tls {

struct TlsOptions {
  std::string ca_file;            // PEM, or a folder of such; empty: those that the system trusts
  std::string certificate_file;   // PEM, our own with its chain; empty: none. Goes with key_file.
  std::string key_file;           // PEM
  std::string key_password_file;  // the passphrase of the key; empty: it has none
  std::string name;               // name or address to verify; empty: the host that is dialed
  std::string protocol;           // offered by ALPN, such as "mqtt"; empty: none
};

}  // namespace sheaf::socket::tls

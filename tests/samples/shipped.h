#pragma once

// The files of samples/mosquitto as they are shipped, and a real broker that has them. What an
// installation has elsewhere is replaced, line by line; a line that is not there is an error.
//
// Thread rule: one thread at a time.

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <sheaf/client.h>

#include "tests/live/plugin/mqtt_client.h"
#include "tests/support/broker_process.h"
#include "tests/support/tls/credentials.h"

namespace sheaf::test {

// Of a file of the folder. Throws std::runtime_error if it is not there.
std::string shipped(std::string_view file);

// `text` with the one line `from` as `to`. Throws std::runtime_error if there is none, or two.
std::string with_line(const std::string& text, std::string_view from, std::string_view to);

// What a test may alter in the files, and in the broker's authority and certificate.
struct ShippedTerms {
  std::function<std::string(std::string)> configuration;
  std::function<std::string(std::string)> acl;
  TlsPaths tls = Credentials::shared().server();
};

// A new folder, until its end.
struct Folder {
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path path;
};

// A folder in the place of /etc/mosquitto and /var/lib/mosquitto, and the broker.
class ShippedBroker {
 public:
  explicit ShippedBroker(const ShippedTerms& terms = {});

  BrokerProcess& process() { return *process_; }
  std::uint16_t port() const { return process_->port(); }
  std::string log() const { return process_->log(); }
  // In the folder, in the place of one that is there.
  void replace(const std::string& file, const std::string& text) const;
  void reload() const;  // SIGHUP; returns when the file of rights was read again

  // A URI with `paths`, of which the certificate may be missing.
  std::string uri(const TlsPaths& paths) const;
  // Of a client with a certificate for this name, signed by the authority of the tests.
  Client open(const std::string& name) const;
  // The same for a client of the test's own.
  ConnectOptions raw(const std::string& name) const;

 private:
  Folder folder_;
  std::unique_ptr<BrokerProcess> process_;
};

// A certificate for this name, signed by the authority of the tests.
TlsPaths certificate_of(const std::string& name);

}  // namespace sheaf::test

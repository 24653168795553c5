#pragma once

// The files of samples/mosquitto as they are shipped, and a real broker that uses them. Paths that
// an installation would have elsewhere are replaced line by line; a missing line is an error.
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

// The text of a file in the folder. Throws std::runtime_error if it is not there.
std::string shipped(std::string_view file);

// `text` with the line `from` replaced by `to`. Throws std::runtime_error unless it occurs once.
std::string with_line(const std::string& text, std::string_view from, std::string_view to);

// Changes that a test may make to the files and to the broker's certificate.
struct ShippedTerms {
  std::function<std::string(std::string)> configuration;
  std::function<std::string(std::string)> acl;
  TlsPaths tls = Credentials::shared().server();
};

// A new folder, removed with the object.
struct Folder {
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path path;
};

// A folder instead of /etc/mosquitto and /var/lib/mosquitto, and the broker.
class ShippedBroker {
 public:
  explicit ShippedBroker(const ShippedTerms& terms = {});
  // One with the files as they are shipped. What a test changes, it changes back. Its OpenSSL
  // refuses nothing itself, so the files must.
  static ShippedBroker& shared();

  BrokerProcess& process() { return *process_; }
  std::uint16_t port() const { return process_->port(); }
  std::string log() const { return process_->log(); }
  // Replaces a file in the folder.
  void replace(const std::string& file, const std::string& text) const;
  // Puts all files back.
  void restore() const;
  void reload() const;  // SIGHUP; returns when the file of rights was read again

  // A URI with `paths`, whose certificate may be missing.
  std::string uri(const TlsPaths& paths) const;
  // A client with a certificate for this name, signed by the tests' authority.
  Client open(const std::string& name) const;
  // The same for a client of the tests.
  ConnectOptions raw(const std::string& name) const;

 private:
  ShippedTerms terms_;
  Folder folder_;
  std::unique_ptr<BrokerProcess> process_;
};

// A certificate for this name, signed by the tests' authority.
TlsPaths certificate_of(const std::string& name);

}  // namespace sheaf::test

#include "tests/samples/shipped.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "tests/live/tls/real_servers.h"
#include "tests/support/rights_file.h"
#include "tests/support/tls/tls_wire.h"

// CMake sets SHEAF_TEST_SAMPLE, the folder, and SHEAF_TEST_PLUGIN.

namespace sheaf::test {

namespace {

std::string content_of(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("there is no " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

std::string shipped(std::string_view file) {
  return content_of(std::string(SHEAF_TEST_SAMPLE "/").append(file));
}

std::string with_line(const std::string& text, std::string_view from, std::string_view to) {
  const std::string line = "\n" + std::string(from) + "\n";
  std::string all = "\n" + text;
  if (count_of(all, line) != 1) {
    throw std::runtime_error("not exactly one line is: " + std::string(from));
  }
  all.replace(all.find(line), line.size(), "\n" + std::string(to) + "\n");
  return all.substr(1);
}

TlsPaths certificate_of(const std::string& name) {
  const Credentials& all = Credentials::shared();
  return all.write(name, make_identity(valid_now(name), &all.authority()));
}

Folder::Folder() {
  std::string name = testing::TempDir() + "sheaf-sample-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
  path = name;
}

Folder::~Folder() { std::filesystem::remove_all(path); }

void ShippedBroker::restore() const {
  const std::string acl = shipped("acl");
  replace("acl", terms_.acl ? terms_.acl(acl) : acl);
  replace("rights.json", shipped("rights.json"));
  replace("clients.pem", content_of(terms_.tls.ca));
  replace("broker.pem", content_of(terms_.tls.certificate));
  replace("broker.key", content_of(terms_.tls.key));
}

ShippedBroker::ShippedBroker(const ShippedTerms& terms) : terms_(terms) {
  restore();
  const std::string own = folder_.path.string() + "/";
  const std::pair<std::string, std::string> elsewhere[] = {
      {"plugin /usr/local/lib/sheaf/libsheaf_statestore.so", "plugin " SHEAF_TEST_PLUGIN},
      {"plugin_opt_data /var/lib/mosquitto/sheaf.db", "plugin_opt_data " + own + "sheaf.db"},
      {"plugin_opt_rights /etc/mosquitto/rights.json", "plugin_opt_rights " + own + "rights.json"},
      {"acl_file /etc/mosquitto/acl", "acl_file " + own + "acl"},
      {"cafile /etc/mosquitto/ca_certificates/clients.pem", "cafile " + own + "clients.pem"},
      {"certfile /etc/mosquitto/certs/broker.pem", "certfile " + own + "broker.pem"},
      {"keyfile /etc/mosquitto/certs/broker.key", "keyfile " + own + "broker.key"},
      // If the test runs as root, another user may not be able to reach the plugin and the files.
      {"user mosquitto", ::geteuid() == 0 ? "user root" : "user mosquitto"}};
  std::string text = shipped("mosquitto.conf");
  if (terms.configuration) text = terms.configuration(text);
  for (const auto& [from, to] : elsewhere) text = with_line(text, from, to);
  BrokerOptions options;
  options.whole = [text](std::uint16_t port) {
    return with_line(text, "listener 8883", "listener " + std::to_string(port) + " 127.0.0.1");
  };
  process_ = std::make_unique<BrokerProcess>(options);
}

ShippedBroker& ShippedBroker::shared() {
  static ShippedBroker broker = [] {
    const OpensslRules lax_openssl({.lax = true});
    return ShippedBroker();
  }();
  return broker;
}

void ShippedBroker::replace(const std::string& file, const std::string& text) const {
  std::ofstream(folder_.path / "new") << text;
  std::filesystem::rename(folder_.path / "new", folder_.path / file);
}

void ShippedBroker::reload() const { test::reload(*process_); }

std::string ShippedBroker::uri(const TlsPaths& paths) const {
  std::string uri = "mqtts://127.0.0.1:" + std::to_string(port()) +
                    "?connect_timeout=10s&timeout=30s&tls_ca=" + paths.ca;
  if (!paths.certificate.empty()) {
    uri += "&tls_cert=" + paths.certificate + "&tls_key=" + paths.key;
  }
  return uri;
}

Client ShippedBroker::open(const std::string& name) const {
  auto client = Client::open(uri(certificate_of(name)));
  EXPECT_TRUE(client) << client.error().message();
  return std::move(*client);
}

ConnectOptions ShippedBroker::raw(const std::string& name) const {
  ConnectOptions options;
  options.client_id = name + "-1";
  options.connect = [paths = certificate_of(name)](std::uint16_t port) {
    return connect_tls(port, {.paths = paths});
  };
  return options;
}

}  // namespace sheaf::test

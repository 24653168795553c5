#include "tests/contract/endpoints.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#ifdef SHEAF_TEST_BROKERS
#include "tests/support/broker_process.h"
#endif
#ifdef SHEAF_TEST_TLS
#include "tests/support/tls/server_options.h"
#endif
#ifdef SHEAF_TEST_MEMCACHED_SERVERS
#include "tests/support/memcached_process.h"
#endif
#ifdef SHEAF_TEST_REDIS_SERVERS
#include "tests/support/redis_process.h"
#include "tests/support/resp_cluster.h"
#endif

namespace sheaf::test {
namespace {

// The default time-out of calls: a busy machine may stall for a second.
constexpr const char* patient = "&timeout=10s";

// Each instance has its own name, so that tests share no engine. A first client keeps the engines
// alive.
class Embedded final : public Endpoint {
 public:
  explicit Embedded(const std::string& spelling) {
    static std::atomic<int> count = 0;
    uri_ =
        "embedded://3?name=contract" + std::to_string(count++) + "&spelling=" + spelling + patient;
  }
  std::string uri() const override { return uri_; }

 private:
  std::string uri_;
};

#ifdef SHEAF_TEST_BROKERS
class Brokers final : public Endpoint {
 public:
  explicit Brokers(const std::string& spelling) {
    BrokerOptions options;
    options.plugin_options = {{"spelling", spelling}};
    for (int i = 0; i < 3; ++i) brokers_.push_back(std::make_unique<BrokerProcess>(options));
  }
  std::string uri() const override {
    std::string uri = "mqtt://";
    for (const auto& broker : brokers_) {
      if (uri.back() != '/') uri += ',';
      uri += "127.0.0.1:" + std::to_string(broker->port());
    }
    return uri + "?connect_timeout=5s" + patient;
  }

 private:
  std::vector<std::unique_ptr<BrokerProcess>> brokers_;
};
#endif

#ifdef SHEAF_TEST_MEMCACHED_SERVERS
class Servers final : public Endpoint {
 public:
  explicit Servers(std::string protocol) : protocol_(std::move(protocol)) {}
  std::string uri() const override {
    std::string uri = "memcached://";
    for (const MemcachedProcess& server : servers_) {
      if (uri.back() != '/') uri += ',';
      uri += "127.0.0.1:" + std::to_string(server.port());
    }
    return uri + "?connect_timeout=5s&protocol=" + protocol_ + patient;
  }

 private:
  std::string protocol_;
  std::array<MemcachedProcess, 3> servers_;
};
#endif

#ifdef SHEAF_TEST_REDIS_SERVERS
// Standalone servers under the client's own locator, without the command `missing` if it is not
// empty.
class RedisServers final : public Endpoint {
 public:
  explicit RedisServers(const std::string& missing) {
    RedisOptions options;
    if (!missing.empty()) options.lines = {"rename-command " + missing + " \"\""};
    for (int i = 0; i < 3; ++i) servers_.push_back(std::make_unique<RedisProcess>(options));
  }
  std::string uri() const override {
    std::string uri = "redis://";
    for (const auto& server : servers_) {
      if (uri.back() != '/') uri += ',';
      uri += "127.0.0.1:" + std::to_string(server->port());
    }
    return uri + "?connect_timeout=5s&routing=ring" + patient;
  }

 private:
  std::vector<std::unique_ptr<RedisProcess>> servers_;
};

// A cluster of which the client knows one server. The cluster outlives this object.
class SharedCluster final : public Endpoint {
 public:
  explicit SharedCluster(RespSoftware software) : cluster_(shared(software)) {
    for (std::size_t i = 0; i < primaries; ++i) cluster_.text(i, {"FLUSHALL"});
  }
  std::string uri() const override {
    // Not the first server of the cluster.
    return "redis://127.0.0.1:" + std::to_string(cluster_.server(1).port()) +
           "?connect_timeout=5s" + patient;
  }

 private:
  static constexpr std::size_t primaries = 3;

  static RespCluster& shared(RespSoftware software) {
    static const std::unique_ptr<RespCluster> cluster = [&] {
      RespClusterOptions options;
      options.primaries = primaries;
      options.replicas = 1;
      options.software = software;
      auto made = std::make_unique<RespCluster>(std::move(options));
      made->wait_until_settled();
      return made;
    }();
    return *cluster;
  }

  RespCluster& cluster_;
};
#endif

#ifdef SHEAF_TEST_TLS
// Servers of one kind that demand client certificates.
template <class Server, class Options>
class TlsServers final : public Endpoint {
 public:
  TlsServers(std::string scheme, const Options& options) : scheme_(std::move(scheme)) {
    for (int i = 0; i < 3; ++i) servers_.push_back(std::make_unique<Server>(options));
  }
  std::string uri() const override {
    std::string uri = scheme_ + "://";
    for (const auto& server : servers_) {
      if (uri.back() != '/') uri += ',';
      uri += "127.0.0.1:" + std::to_string(server->port());
    }
    uri += "?connect_timeout=5s&" + Credentials::shared().options();
    return uri + (scheme_ == "rediss" ? "&routing=ring" : "") + patient;
  }

 private:
  std::string scheme_;
  std::vector<std::unique_ptr<Server>> servers_;
};

#ifdef SHEAF_TEST_BROKERS
std::unique_ptr<Endpoint> brokers_over_tls() {
  BrokerOptions options;
  options.tls = mosquitto_tls(Credentials::shared().server());
  return std::make_unique<TlsServers<BrokerProcess, BrokerOptions>>("mqtts", options);
}
#endif
#ifdef SHEAF_TEST_MEMCACHED_SERVERS
std::unique_ptr<Endpoint> memcached_over_tls() {
  MemcachedOptions options;
  options.arguments = memcached_tls(Credentials::shared().server());
  return std::make_unique<TlsServers<MemcachedProcess, MemcachedOptions>>("memcacheds", options);
}
#endif
#ifdef SHEAF_TEST_REDIS_SERVERS
std::unique_ptr<Endpoint> redis_over_tls() {
  RedisOptions options;
  options.tls = redis_tls(Credentials::shared().server());
  return std::make_unique<TlsServers<RedisProcess, RedisOptions>>("rediss", options);
}
#endif
#endif

template <class Kind>
EndpointFactory factory(const std::string& name, const std::string& spelling) {
  return {name,
          [spelling]() -> std::unique_ptr<Endpoint> { return std::make_unique<Kind>(spelling); }};
}

}  // namespace

std::vector<EndpointFactory> endpoint_factories() {
  return {
      factory<Embedded>("Embedded", "sdk"), factory<Embedded>("EmbeddedPageSpelling", "page"),
#ifdef SHEAF_TEST_BROKERS
      factory<Brokers>("Brokers", "sdk"),   factory<Brokers>("BrokersPageSpelling", "page"),
#ifdef SHEAF_TEST_TLS
      {"BrokersOverTls", brokers_over_tls},
#endif
#endif
  };
}

std::vector<EndpointFactory> memcached_factories() {
  std::vector<EndpointFactory> all;
#ifdef SHEAF_TEST_MEMCACHED_SERVERS
  using std::chrono::seconds;
  all = {factory<Servers>("MemcachedMeta", "meta"), factory<Servers>("MemcachedBinary", "binary")};
  all[0].limits = {.key = 250, .binary_key = 186, .value = 1'048'267, .ttl = seconds(1)};
  all[1].limits = {.key = 250, .binary_key = 250, .value = 1'048'267, .ttl = seconds(1)};
#ifdef SHEAF_TEST_TLS
  all.push_back({"MemcachedOverTls", memcached_over_tls, all[0].limits});
#endif
#endif
  return all;
}

std::vector<EndpointFactory> redis_factories() {
  std::vector<EndpointFactory> all;
#ifdef SHEAF_TEST_REDIS_SERVERS
  const std::string name = std::string(traits_of(usual_software()).name) + "Servers";
  all = {factory<RedisServers>(name, ""), factory<RedisServers>(name + "InResp2", "HELLO"),
         factory<RedisServers>(name + "WithoutScripts", "EVAL")};
#ifdef SHEAF_TEST_TLS
  all.push_back({name + "OverTls", redis_over_tls});
#endif
  for (EndpointFactory& each : all) each.limits = {.key = 8'192, .binary_key = 8'192};
#endif
  return all;
}

std::vector<EndpointFactory> cluster_factories() {
  std::vector<EndpointFactory> all;
#ifdef SHEAF_TEST_REDIS_SERVERS
  const auto software = software_in("SHEAF_TEST_CLUSTER");
  if (!software) return all;
  all = {{"SharedCluster", [software] { return std::make_unique<SharedCluster>(*software); }}};
  all[0].limits = {.key = 8'192, .binary_key = 8'192};
  // Six .NET servers, each with threads for every processor, share the machine with the writers.
  if (software == RespSoftware::garnet) all[0].limits.pushes = std::chrono::seconds(60);
#endif
  return all;
}

std::vector<EndpointFactory> all_factories() {
  std::vector<EndpointFactory> all = endpoint_factories();
  for (const auto& others : {memcached_factories(), redis_factories(), cluster_factories()}) {
    all.insert(all.end(), others.begin(), others.end());
  }
  return all;
}

std::vector<EndpointFactory> watch_factories() {
  std::vector<EndpointFactory> all = endpoint_factories();
  for (const auto& others : {redis_factories(), cluster_factories()}) {
    all.insert(all.end(), others.begin(), others.end());
  }
  return all;
}

}  // namespace sheaf::test

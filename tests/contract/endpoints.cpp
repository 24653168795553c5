#include "tests/contract/endpoints.h"

#include <atomic>
#include <utility>

#include "tests/support/lent.h"

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

// A name of its own, so that tests share no engine; a first client keeps the engines alive.
class Embedded final : public Endpoint {
 public:
  explicit Embedded(const std::string& spelling) {
    static std::atomic<int> count = 0;
    uri_ = "embedded://3?name=contract" + std::to_string(count++) + "&spelling=" + spelling +
           "&timeout=10s";
  }
  std::string uri() const override { return uri_; }

 private:
  std::string uri_;
};

// Three servers of a kind, and what a client is told about them.
template <class Server, class Options>
struct ServerKind {
  std::string name;
  std::string scheme;
  Options options;
  std::string query{};  // further options of the URI: "&routing=ring"
};

template <class Server, class Options>
class Servers final : public Endpoint {
 public:
  explicit Servers(const ServerKind<Server, Options>& kind) : kind_(kind) {
    for (int i = 0; i < 3; ++i) servers_.emplace_back(kind.options);
  }

  std::string uri() const override {
    std::string uri = kind_.scheme + "://";
    for (const auto& server : servers_) {
      if (uri.back() != '/') uri += ',';
      uri += "127.0.0.1:" + std::to_string(server->port());
    }
    return patient(uri + "?connect_timeout=5s" + kind_.query);
  }

 private:
  ServerKind<Server, Options> kind_;
  std::vector<Lent<Server>> servers_;
};

#ifdef SHEAF_TEST_REDIS_SERVERS
// A cluster, of which the client is given one server. It outlives this object.
class SharedCluster final : public Endpoint {
 public:
  explicit SharedCluster(RespSoftware software) : cluster_(shared(software)) {
    for (std::size_t i = 0; i < primaries; ++i) cluster_.text(i, {"FLUSHALL"});
  }
  std::string uri() const override {
    // One that was not the first to be formed.
    const std::string port = std::to_string(cluster_.server(1).port());
    return patient("redis://127.0.0.1:" + port + "?connect_timeout=5s");
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

template <class Server, class Options>
EndpointFactory factory(const ServerKind<Server, Options>& kind, const Limits& limits = {}) {
  return {kind.name, [kind] { return std::make_unique<Servers<Server, Options>>(kind); }, limits};
}

EndpointFactory embedded(const std::string& name, const std::string& spelling) {
  return {name, [spelling] { return std::make_unique<Embedded>(spelling); }};
}

#ifdef SHEAF_TEST_TLS
// The servers demand certificates of their clients.
std::string tls_query() { return "&" + Credentials::shared().options(); }
#endif

}  // namespace

std::vector<EndpointFactory> endpoint_factories() {
  std::vector<EndpointFactory> all{embedded("Embedded", "sdk"),
                                   embedded("EmbeddedPageSpelling", "page")};
#ifdef SHEAF_TEST_BROKERS
  using Kind = ServerKind<BrokerProcess, BrokerOptions>;
  BrokerOptions options;
  all.push_back(factory(Kind{"Brokers", "mqtt", options}));
  options.plugin_options = {{"spelling", "page"}};
  all.push_back(factory(Kind{"BrokersPageSpelling", "mqtt", options}));
#ifdef SHEAF_TEST_TLS
  options.plugin_options.clear();
  options.tls = mosquitto_tls(Credentials::shared().server());
  all.push_back(factory(Kind{"BrokersOverTls", "mqtts", options, tls_query()}));
#endif
#endif
  return all;
}

std::vector<EndpointFactory> memcached_factories() {
  std::vector<EndpointFactory> all;
#ifdef SHEAF_TEST_MEMCACHED_SERVERS
  using Kind = ServerKind<MemcachedProcess, MemcachedOptions>;
  MemcachedOptions options;
  Limits limits{.key = 250, .binary_key = 186, .value = 1'048'267, .ttl = std::chrono::seconds(1)};
  all.push_back(factory(Kind{"MemcachedMeta", "memcached", options, "&protocol=meta"}, limits));
#ifdef SHEAF_TEST_TLS
  MemcachedOptions tls = options;
  for (const auto& each : memcached_tls(Credentials::shared().server())) {
    tls.arguments.push_back(each);
  }
  all.push_back(factory(Kind{"MemcachedOverTls", "memcacheds", tls, tls_query()}, limits));
#endif
  limits.binary_key = 250;
  all.push_back(factory(Kind{"MemcachedBinary", "memcached", options, "&protocol=binary"}, limits));
#endif
  return all;
}

std::vector<EndpointFactory> redis_factories() {
  std::vector<EndpointFactory> all;
#ifdef SHEAF_TEST_REDIS_SERVERS
  using Kind = ServerKind<RedisProcess, RedisOptions>;
  Limits limits;
  limits.key = limits.binary_key = 8'192;
  const std::string name = std::string(traits_of(usual_software()).name) + "Servers";
  const std::string ring = "&routing=ring";
  RedisOptions options;
  all.push_back(factory(Kind{name, "redis", options, ring}, limits));
  options.lines = {"rename-command HELLO \"\""};
  all.push_back(factory(Kind{name + "InResp2", "redis", options, ring}, limits));
  options.lines = {"rename-command EVAL \"\""};
  all.push_back(factory(Kind{name + "WithoutScripts", "redis", options, ring}, limits));
#ifdef SHEAF_TEST_TLS
  options.lines.clear();
  options.tls = redis_tls(Credentials::shared().server());
  all.push_back(factory(Kind{name + "OverTls", "rediss", options, ring + tls_query()}, limits));
#endif
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
  // Six servers of .NET with threads for each processor run next to the writers.
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

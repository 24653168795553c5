#include "tests/contract/endpoints.h"

#include <array>
#include <atomic>

#ifdef SHEAF_TEST_BROKERS
#include "tests/support/broker_process.h"
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

// Of calls that name none: a busy machine may stand still for a second.
constexpr const char* patient = "&timeout=10s";

// A name of its own, so that tests share no engine; a first client keeps the engines alive.
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
// Servers that stand alone, under the client's own locator.
class RedisServers final : public Endpoint {
 public:
  explicit RedisServers(const std::string& routing) : routing_(routing) {}
  std::string uri() const override {
    std::string uri = "redis://";
    for (const RedisProcess& server : servers_) {
      if (uri.back() != '/') uri += ',';
      uri += "127.0.0.1:" + std::to_string(server.port());
    }
    return uri + "?connect_timeout=5s&routing=" + routing_ + patient;
  }

 private:
  std::string routing_;
  std::array<RedisProcess, 3> servers_;
};

// A cluster, of which the client is given one server.
class RedisCluster final : public Endpoint {
 public:
  explicit RedisCluster(const std::string& routing) : routing_(routing) {
    cluster_.wait_until_settled();
  }
  std::string uri() const override {
    // One that was not the first to be formed.
    return "redis://127.0.0.1:" + std::to_string(port_) +
           "?connect_timeout=5s&routing=" + routing_ + patient;
  }

 private:
  std::string routing_;
  RespCluster cluster_;
  std::uint16_t port_ = cluster_.server(1).port();
};
#endif

template <class Kind>
EndpointFactory factory(const std::string& name, const std::string& spelling) {
  return {name,
          [spelling]() -> std::unique_ptr<Endpoint> { return std::make_unique<Kind>(spelling); }};
}

}  // namespace

std::vector<EndpointFactory> endpoint_factories() {
  return {
      factory<Embedded>("Embedded", "sdk"),
      factory<Embedded>("EmbeddedPageSpelling", "page"),
#ifdef SHEAF_TEST_BROKERS
      factory<Brokers>("Brokers", "sdk"),
      factory<Brokers>("BrokersPageSpelling", "page"),
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
#endif
  return all;
}

std::vector<EndpointFactory> all_factories() {
  std::vector<EndpointFactory> all = endpoint_factories();
  for (EndpointFactory& factory : memcached_factories()) all.push_back(std::move(factory));
  return all;
}

std::vector<EndpointFactory> with_redis(std::vector<EndpointFactory> all) {
#ifdef SHEAF_TEST_REDIS_SERVERS
  for (EndpointFactory factory : {factory<RedisServers>("RedisServers", "ring"),
                                  factory<RedisCluster>("RedisCluster", "cluster")}) {
    factory.limits = {.key = 8'192, .binary_key = 8'192};
    all.push_back(std::move(factory));
  }
#endif
  return all;
}

}  // namespace sheaf::test

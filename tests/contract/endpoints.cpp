#include "tests/contract/endpoints.h"

#include <atomic>
#include <map>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tests/support/wait_for_condition.h"
#include "tests/support/wire.h"

#ifdef SHEAF_TEST_BROKERS
#include "tests/support/broker_process.h"
#endif
#ifdef SHEAF_TEST_TLS
#include "tests/support/tls/server_options.h"
#include "tests/support/tls/tls_wire.h"
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

// Three servers of a kind, and what a client is told about them.
template <class Server, class Options>
struct ServerKind {
  std::string name;
  std::string scheme;
  Options options;
  std::string query{};  // further options of the URI: "&routing=ring"
};

// Empties a server for the next test.
template <class Server>
void empty(Server& server, bool tls) {
#ifdef SHEAF_TEST_BROKERS
  if constexpr (std::is_same_v<Server, BrokerProcess>) return server.forget();
#endif
  std::string_view command = "flush_all\r\n";
  std::string_view answer = "OK\r\n";
#ifdef SHEAF_TEST_REDIS_SERVERS
  if constexpr (std::is_same_v<Server, RedisProcess>) {
    command = "*1\r\n$8\r\nFLUSHALL\r\n";
    answer = "+OK\r\n";
  }
#endif
  std::unique_ptr<Wire> wire;
#ifdef SHEAF_TEST_TLS
  if (tls) wire = connect_tls(server.port(), {.paths = Credentials::shared().client()});
#endif
  if (!tls) wire = connect_tcp(server.port());
  wire->send(command);
  if (wire->receive(std::chrono::minutes(1)) != answer) {
    throw std::runtime_error("a server was not emptied");
  }
}

// They outlive the test: the next one of the process gets them empty.
template <class Server, class Options>
class Servers final : public Endpoint {
 public:
  explicit Servers(const ServerKind<Server, Options>& kind) : kind_(kind) {
    const bool tls = kind.query.find("tls_ca=") != std::string::npos;
    if (idle().empty()) {
      for (int i = 0; i < 3; ++i) servers_.push_back(std::make_unique<Listening>(kind.options));
    } else {
      servers_ = std::move(idle().back());
      idle().pop_back();
      for (const auto& server : servers_) {
        server->wait_until_left();
        empty(server->process, tls);
      }
    }
  }
  ~Servers() override { idle().push_back(std::move(servers_)); }
  Servers(const Servers&) = delete;
  Servers& operator=(const Servers&) = delete;

  std::string uri() const override {
    std::string uri = kind_.scheme + "://";
    for (const auto& server : servers_) {
      if (uri.back() != '/') uri += ',';
      uri += "127.0.0.1:" + std::to_string(server->process.port());
    }
    return uri + "?connect_timeout=5s" + kind_.query + patient;
  }

 private:
  struct Listening {
    explicit Listening(const Options& options) : process(options) {
      wait_for_condition("nobody is connected", [&] { return !has_connections(process.port()); });
      sockets = process.sockets();
    }
    // Then the server has read all that its clients have sent.
    void wait_until_left() const {
      wait_for_condition("the server has closed all connections",
                         [&] { return process.sockets() <= sockets; });
    }

    Server process;
    std::size_t sockets;  // without connections
  };
  using Three = std::vector<std::unique_ptr<Listening>>;

  // Those of the same kind that no test uses. A test may use more than three servers.
  std::vector<Three>& idle() {
    static std::map<std::string, std::vector<Three>> all;
    return all[kind_.name];
  }

  ServerKind<Server, Options> kind_;
  Three servers_;
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
  options.forgets = true;
  options.plugin_options = {{"spelling", "sdk"}};
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
  // What was flushed is freed late, and memory does not move to items of another size at once.
  MemcachedOptions options;
  options.arguments = {"-m", "1024"};
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
  // Six servers of .NET with threads for each processor stand beside the writers.
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

#pragma once

// Real servers of each kind that serve TLS with given files, for tests over all kinds.

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/lent.h"
#include "tests/support/tls/server_options.h"

#ifdef SHEAF_TEST_BROKERS
#include "tests/support/broker_process.h"
#endif
#ifdef SHEAF_TEST_MEMCACHED_SERVERS
#include "tests/support/memcached_process.h"
#endif
#ifdef SHEAF_TEST_REDIS_SERVERS
#include "tests/support/redis_process.h"
#endif

namespace sheaf::test {

// A server that runs as long as this object exists.
struct RealServer {
  std::uint16_t port = 0;
  std::shared_ptr<void> process;
  std::string address() const { return "127.0.0.1:" + std::to_string(port); }
};

// Faults that a server is to have.
struct RealServerTerms {
  // Null: a server without TLS. Without an authority, it asks for no certificates, and its own may
  // be wrong.
  const TlsPaths* paths = nullptr;
  bool lax = false;  // also serves what OpenSSL would refuse
  bool old = false;  // TLS 1.1 at most
};

// Starts a server with faults, and borrows one without them.
template <class Process>
RealServer real_server(const typename Process::Options& options, const RealServerTerms& terms) {
  const bool own = terms.lax || terms.old || (terms.paths != nullptr && terms.paths->ca.empty());
  if (own) {
    const auto process = std::make_shared<Process>(options);
    return {process->port(), process};
  }
  const auto process = std::make_shared<Lent<Process>>(options);
  return {(*process)->port(), process};
}

struct RealKind {
  std::string name;
  std::string scheme;
  std::string
      alone;  // an option, "&name=value": the server is no cluster, and need not be waited for
  std::function<RealServer(const RealServerTerms&)> start;
};

// OpenSSL settings that only the server reads.
class OpensslRules {
 public:
  explicit OpensslRules(const RealServerTerms& terms) : set_(terms.lax || terms.old) {
    if (!set_) return;
    const std::string text =
        std::string("openssl_conf = all\n[all]\nssl_conf = ssl\n[ssl]\nsystem_default = rules\n") +
        "[rules]\nCipherString = DEFAULT@SECLEVEL=0\nMinProtocol = TLSv1\n" +
        (terms.old ? "MaxProtocol = TLSv1.1\n" : "");
    const std::string path = Credentials::shared().file("openssl.cnf", text);
    ::setenv("OPENSSL_CONF", path.c_str(), 1);
  }
  ~OpensslRules() {
    if (set_) ::unsetenv("OPENSSL_CONF");
  }
  OpensslRules(const OpensslRules&) = delete;
  OpensslRules& operator=(const OpensslRules&) = delete;

 private:
  bool set_;
};

#ifdef SHEAF_TEST_BROKERS
inline RealServer start_mosquitto(const RealServerTerms& terms) {
  const OpensslRules rules(terms);
  BrokerOptions options;
  if (terms.paths != nullptr) options.tls = mosquitto_tls(*terms.paths);
  if (terms.old) options.tls += "tls_version tlsv1.1\n";
  return real_server<BrokerProcess>(options, terms);
}
#endif
#ifdef SHEAF_TEST_MEMCACHED_SERVERS
inline RealServer start_memcached(const RealServerTerms& terms) {
  const OpensslRules rules(terms);
  MemcachedOptions options;
  if (terms.paths != nullptr) options.arguments = memcached_tls(*terms.paths);
  if (terms.old) options.arguments.back() += ",ssl_min_version=1";
  return real_server<MemcachedProcess>(options, terms);
}
#endif
#ifdef SHEAF_TEST_REDIS_SERVERS
inline RealServer start_redis(const RealServerTerms& terms) {
  const OpensslRules rules(terms);
  RedisOptions options;
  if (terms.paths != nullptr) options.tls = redis_tls(*terms.paths);
  if (terms.old) options.tls.push_back("tls-protocols TLSv1.1");
  return real_server<RedisProcess>(options, terms);
}
#endif

inline std::vector<RealKind> real_kinds() {
  return {
#ifdef SHEAF_TEST_BROKERS
      {"Mosquitto", "mqtts", "", start_mosquitto},
#endif
#ifdef SHEAF_TEST_MEMCACHED_SERVERS
      {"Memcached", "memcacheds", "", start_memcached},
#endif
#ifdef SHEAF_TEST_REDIS_SERVERS
      {"Redis", "rediss", "&routing=ring", start_redis},
#endif
  };
}

}  // namespace sheaf::test

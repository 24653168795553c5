// Clusters as URIs.

#include "tests/fuzz/configuration.h"

namespace sheaf::fuzz {

void run(std::string_view bytes) {
  Input input(bytes);
  std::string uri;
  if (input.flag()) uri = "mqtt://user:" + std::string(secret) + '@';
  const std::string_view rest = input.rest();
  uri += rest;
  if (const auto config = ClusterConfig::parse_uri(uri)) {
    expect_sound(*config);
  } else {
    expect_discreet(config.error(), rest);
  }
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (const char* uri :
       {"mqtt://b1:1883*2,b2", "mqtt://[::1]:1883,127.0.0.1?locator=ring&timeout=250ms",
        "mqtt://ann:p%40ss@broker?allow_plain_password=true&pool_max=4&pool_min=2",
        "embedded://3?name=x&spelling=page&max_bytes=1MiB&fence_retention=90s",
        "memcached://m1,m2:11212*3?ring=libmemcached&protocol=binary&failover=rehash",
        "memcached://10.0.0.1?ring=spymemcached&item_size=2MiB&default_ttl=5m&extra_connections=0",
        "mqtts://b?tls_ca=%2Fa%20b&tls_cert=c&tls_key=k&tls_alpn=mqtt", "rediss://b?tls_name=::1",
        "mqtt://h?slots=1024&spin=off&log_keys=yes&client_id=a-b_c.1"}) {
    all.push_back(std::string("\0", 1) + uri);
  }
  all.emplace_back("\1host:1883,other*2?timeout=1s");
  return all;
}

}  // namespace sheaf::fuzz

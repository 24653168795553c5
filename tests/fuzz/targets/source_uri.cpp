// URIs of sources of servers.

#include <sheaf/server_source.h>

#include "extras/discovery/dns/message.h"
#include "tests/fuzz/configuration.h"

namespace sheaf::fuzz {

void run(std::string_view bytes) {
  Input input(bytes);
  std::string uri;
  if (input.flag()) uri = "redis+srv://user:" + std::string(secret) + '@';
  const std::string_view rest = input.rest();
  uri += rest;
  const auto source = ServerSource::parse_uri(uri);
  if (!source) return expect_discreet(source.error(), rest);
  expect(ServerSource::is_source(uri), "a source has a scheme of its own");
  expect(!ClusterConfig::parse_uri(uri), "which is none of servers");
  expect(source->config.nodes.empty() && !source->host.empty(), "a source is one place");
  const bool srv = source->kind == SourceKind::srv;
  expect(srv == (source->port == 0), "records have no port");
  expect(!srv || discovery::dns::SrvQuery::of(source->host, 0), "a name may be asked for");
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (const char* uri :
       {"memcached+srv://_memcached._tcp.cache.example?timeout=250ms", "mqtts+srv://_m._tcp.a./",
        "memcached+elasticache://x.cfg.use1.cache.amazonaws.com:11211?ring=libmemcached",
        "MEMCACHEDS+ElastiCache://[::1]?tls_name=a",
        "redis+srv://u:p%40@a?allow_plain_password=1"}) {
    all.push_back(std::string("\0", 1) + uri);
  }
  all.emplace_back("\1_redis._tcp.a?allow_plain_password=1");
  return all;
}

}  // namespace sheaf::fuzz

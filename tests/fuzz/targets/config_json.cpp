// Clusters as JSON documents.

#include "tests/fuzz/configuration.h"

namespace sheaf::fuzz {

void run(std::string_view bytes) {
  Input input(bytes);
  std::string text;
  if (input.flag()) text = R"({"clusters":{"a":{"password":")" + std::string(secret) + '"';
  const std::string_view rest = input.rest();
  text += rest;
  const auto clusters = ClusterConfig::parse_json(text);
  if (!clusters) return expect_discreet(clusters.error(), rest);
  for (const auto& [name, config] : *clusters) expect_sound(config);
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (const char* text :
       {R"({"clusters":{"main":{"servers":"mqtt://b1,b2*2","timeout":"250ms"}}})",
        R"({"clusters":{"a":{"kind":"mqtt","servers":[{"host":"b1","port":1883,"weight":2},"b2"],)"
        R"("user":"ann","password":"pw","allow_plain_password":true,"pool_max":4}}})",
        R"({"clusters":{"c":{"servers":"memcached://m1","ring":"libmemcached","item_size":"2MiB"},)"
        R"("d":{"servers":"embedded://2","spelling":"page","max_keys":10}}})",
        R"({"clusters":{"a":{"servers":[],"timeout":-1}}})", R"([1,"\ud800",1e999,{"a":null}])"}) {
    all.push_back(std::string("\0", 1) + text);
  }
  all.emplace_back("\1,\"user\":\"ann\",\"servers\":\"mqtt://h\",\"slots\":1000}}}");
  return all;
}

}  // namespace sheaf::fuzz

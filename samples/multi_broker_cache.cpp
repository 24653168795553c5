// A read-through cache over several brokers or memcached servers. The slow source is read once for
// each key, and all other readers get the cached value until its time to live is over. When a node
// is down, the program reads the source.
//
// multi_broker_cache [URI]   default embedded://3

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include <sheaf/client.h>

namespace {

using namespace std::chrono_literals;

// The slow source: a database, a PLC, a web service.
struct Source {
  int asked = 0;
  std::string load(const std::string& key) {
    ++asked;
    std::this_thread::sleep_for(2ms);
    return "calibration of " + key;
  }
};

class Cache {
 public:
  Cache(sheaf::Client& client, Source& source) : client_(client), source_(source) {}

  std::string get(const std::string& key) {
    const auto cached = client_.get(key);
    if (cached && *cached) return (*cached)->data;
    // The key is absent or its node does not answer. Either way the source has the truth.
    const std::string value = source_.load(key);
    if (cached) store(key, value);
    return value;
  }

 private:
  void store(const std::string& key, const std::string& value) {
    sheaf::SetOptions options;
    options.ttl = 10min;
    // Two programs may load the same key at once; both then store the same value. If the endpoint
    // does not compare values, the second finds the first one's value, which is just as good.
    options.condition = client_.supports(sheaf::Feature::if_absent_or_equal)
                            ? sheaf::SetCondition::if_absent_or_equal
                            : sheaf::SetCondition::if_absent;
    const auto set = client_.set(key, value, options);
    if (!set) std::fprintf(stderr, "not cached: %s\n", set.error().message().c_str());
  }

  sheaf::Client& client_;
  Source& source_;
};

}  // namespace

int main(int argc, char** argv) {
  auto client = sheaf::Client::open(argc > 1 ? argv[1] : "embedded://3");
  if (!client) return std::fprintf(stderr, "%s\n", client.error().message().c_str()), 2;

  constexpr int machine_count = 40;
  const auto key_of = [](int i) { return "calibration/machine" + std::to_string(i); };
  for (int i = 0; i < machine_count; ++i) {
    if (!client->remove(key_of(i))) return std::fprintf(stderr, "a node does not answer\n"), 1;
  }

  Source source;
  Cache cache(*client, source);
  for (int round = 0; round < 3; ++round) {
    const int before = source.asked;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < machine_count; ++i) {
      if (cache.get(key_of(i)) != "calibration of " + key_of(i)) {
        return std::fprintf(stderr, "wrong value for %s\n", key_of(i).c_str()), 1;
      }
    }
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    std::printf("round %d: %d of %d from the source, %.1f ms\n", round + 1, source.asked - before,
                machine_count, took.count());
  }
  for (const sheaf::NodeStats& node : client->stats()) {
    std::printf("%-21s %-10s %4llu requests, round trip %.0f us\n", node.node.c_str(),
                std::string(to_string(node.health)).c_str(),
                static_cast<unsigned long long>(node.requests),
                std::chrono::duration<double, std::micro>(node.round_trip).count());
  }
  // Every key was loaded once, in the first round.
  return source.asked == machine_count ? 0 : 1;
}

// One sheaf client for all threads, or one for each.

#include <memory>
#include <stdexcept>

#include <sheaf/client.h>

#include "bench/memcached_peers.h"

namespace bench {
namespace {

void get(sheaf::Client& client, std::string_view key) {
  const auto got = client.get(key);
  if (!got) throw std::runtime_error(got.error().message());
  if (!*got || !Data::is_value_of((*got)->data, key)) wrong_value("sheaf", key);
}

void set(sheaf::Client& client, std::string_view key, std::string_view value) {
  const auto stored = client.set(key, value);
  if (!stored) throw std::runtime_error(stored.error().message());
}

// The results of each thread's last call lend their memory, as libmemcached's do.
void get_many(sheaf::Client& client, std::span<const std::string_view> keys) {
  thread_local std::vector<sheaf::KeyResult<sheaf::GetResult>> all;
  all = client.get_many(keys, {}, std::move(all));
  if (all.size() != keys.size()) wrong_value("sheaf", keys[0]);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto& [key, got] = all[i];
    if (!got) throw std::runtime_error(got.error().message());
    if (key != keys[i] || !*got || !Data::is_value_of((*got)->data, key)) {
      wrong_value("sheaf", key);
    }
  }
}

struct Peer {
  Peer(const Data& data, sheaf::Client opened) : client(std::move(opened)) {
    for (unsigned i = 0; i < Data::count; ++i) keys.push_back(data.key(i));
  }
  // Throws if a connection was not good for all the rounds.
  void check_connections() const {
    for (const sheaf::NodeStats& node : client.stats()) {
      if (node.connects > node.connections)
        throw std::runtime_error("sheaf: connected again to " + node.node);
    }
  }
  void run(const Job& job, const Turn& turn) {
    switch (job.work) {
      case Work::get:
        return get(client, keys[turn.index()]);
      case Work::set:
        return set(client, keys[turn.index()], turn.value());
      case Work::get_many:
        return get_many(client, std::span(keys).subspan(turn.index(), job.keys));
    }
  }

  sheaf::Client client;
  std::vector<std::string_view> keys;
};

}  // namespace

Contestant memcached_sheaf(const Data& data, const Job& job, const SheafKind& kind) {
  auto config = sheaf::ClusterConfig::parse_uri(data.uri());
  if (!config) throw std::runtime_error(config.error().message());
  config->protocol = kind.protocol;
  config->spin = kind.spin;
  config->timeout = std::chrono::seconds(10);  // a busy machine is no error
  const auto peers = std::make_shared<std::vector<std::unique_ptr<Peer>>>();
  for (unsigned i = 0; i < (kind.each ? job.threads : 1); ++i) {
    auto client = sheaf::Client::open(*config);
    if (!client) throw std::runtime_error(client.error().message());
    peers->push_back(std::make_unique<Peer>(data, std::move(*client)));
  }
  const bool binary = kind.protocol == sheaf::MemcachedProtocol::binary;
  std::string name = binary ? "sheaf-binary" : "sheaf-meta";
  if (kind.each) name += "-each";
  if (!kind.spin) name += "-sleep";
  return {std::move(name), [&data, job, peers](std::chrono::milliseconds length) {
            const Round round = run_job(data, job, length, [&](unsigned thread, const Turn& turn) {
              (*peers)[thread % peers->size()]->run(job, turn);
            });
            for (const auto& peer : *peers) peer->check_connections();
            return round;
          }};
}

}  // namespace bench

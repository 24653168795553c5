// One sheaf client for all threads, or one for each.

#include <memory>
#include <stdexcept>
#include <utility>

#include <sheaf/client.h>

#include "bench/fleet.h"

namespace bench {
namespace {

using Results = std::vector<sheaf::KeyResult<sheaf::GetResult>>;

void get(sheaf::Client& client, std::string_view key) {
  const auto got = client.get(key);
  if (!got) throw std::runtime_error(got.error().message());
  if (!*got || !Data::is_value_of((*got)->data, key)) wrong_value("sheaf", key);
}

void set(sheaf::Client& client, std::string_view key, std::string_view value) {
  const auto stored = client.set(key, value);
  if (!stored) throw std::runtime_error(stored.error().message());
}

void get_many(sheaf::Client& client, std::span<const std::string_view> keys, Results& all) {
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

void execute(sheaf::Client& client, std::span<const std::string_view> keys) {
  std::vector<sheaf::Command> commands;
  commands.reserve(keys.size());
  for (const std::string_view key : keys) commands.push_back({"GET", key});
  const auto replies = client.execute_many(commands);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!replies[i]) throw std::runtime_error(replies[i].error().message());
    if (!Data::is_value_of(replies[i]->text().value_or(""), keys[i])) wrong_value("sheaf", keys[i]);
  }
}

// The clients, and the results of each thread's last call, whose memory the next call reuses.
class Peers {
 public:
  Peers(const Data& data, const Job& job, const sheaf::ClusterConfig& config, bool each)
      : job_(job), results_(job.threads) {
    for (unsigned i = 0; i < (each ? job.threads : 1); ++i) {
      auto client = sheaf::Client::open(config);
      if (!client) throw std::runtime_error(client.error().message());
      clients_.push_back(std::move(*client));
    }
    for (unsigned i = 0; i < Data::count; ++i) keys_.push_back(data.key(i));
  }
  // Throws if any client had to connect again during the rounds.
  void check_connections() const {
    for (const sheaf::Client& client : clients_) {
      for (const sheaf::NodeStats& node : client.stats()) {
        if (node.connects > node.connections) {
          throw std::runtime_error("sheaf: connected again to " + node.node);
        }
      }
    }
  }
  void run(unsigned thread, const Turn& turn) {
    sheaf::Client& client = clients_[thread % clients_.size()];
    switch (job_.work) {
      case Work::get:
        return get(client, keys_[turn.index()]);
      case Work::set:
        return set(client, keys_[turn.index()], turn.value());
      case Work::get_many:
        return get_many(client, std::span(keys_).subspan(turn.index(), job_.keys),
                        results_[thread]);
      case Work::execute:
        return execute(client, std::span(keys_).subspan(turn.index(), job_.keys));
    }
  }

 private:
  const Job& job_;
  std::vector<sheaf::Client> clients_;
  std::vector<Results> results_;
  std::vector<std::string_view> keys_;
};

}  // namespace

sheaf::ClusterConfig config_of(const Data& data) {
  auto config = sheaf::ClusterConfig::parse_uri(data.uri());
  if (!config) throw std::runtime_error(config.error().message());
  config->timeout = std::chrono::seconds(10);  // a busy machine is not an error
  return *std::move(config);
}

Contestant fleet_sheaf(const Data& data, const Job& job, std::string name,
                       const sheaf::ClusterConfig& config, bool each) {
  const auto peers = std::make_shared<Peers>(data, job, config, each);
  return {std::move(name), [&data, &job, peers](std::chrono::milliseconds length) {
            const Round round = run_job(data, job, length, [&](unsigned thread, const Turn& turn) {
              peers->run(thread, turn);
            });
            peers->check_connections();
            return round;
          }};
}

}  // namespace bench

#include "tests/sim/kit/sim_redis.h"

#include <algorithm>

#include "protocol/resp/hash_slot.h"
#include "protocol/resp/reply_reader.h"

namespace sheaf::sim {
namespace {

using protocol::resp::hash_slot;
using protocol::resp::ReplyReader;
using protocol::resp::slot_count;
using protocol::resp::Value;

class RedisPeer final : public SimPeer {
 public:
  RedisPeer(SimRedisCluster& cluster, unsigned server, SimConnection& connection)
      : cluster_(cluster), server_(server), connection_(connection) {}

  std::size_t on_bytes(std::string_view bytes, Now) override {
    received_ += bytes;
    ReplyReader reader;
    while (!received_.empty() && reader.read(received_) == ReplyReader::Progress::complete) {
      std::vector<std::string> words;
      for (const Value word : reader.root()) words.emplace_back(word.text());
      replies_ += cluster_.execute(server_, words, asking_);
      received_.erase(0, reader.size());
    }
    send();
    return bytes.size();
  }
  void on_writable(Now) override { send(); }
  void on_end(Now) override {}

 private:
  void send() { replies_.erase(0, connection_.send(replies_)); }

  SimRedisCluster& cluster_;
  unsigned server_;
  SimConnection& connection_;
  std::string received_;
  std::string replies_;
  bool asking_ = false;
};

class RedisService final : public SimService {
 public:
  RedisService(SimRedisCluster& cluster, unsigned server) : cluster_(cluster), server_(server) {}
  std::unique_ptr<SimPeer> accept(SimConnection& connection, Now) override {
    return std::make_unique<RedisPeer>(cluster_, server_, connection);
  }
  void tick(Now) override {}
  Deadline next_tick() const override { return never; }

 private:
  SimRedisCluster& cluster_;
  unsigned server_;
};

std::string bulk(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}

}  // namespace

SimRedisCluster::SimRedisCluster(SimNetwork& network, unsigned servers)
    : views_(servers, std::vector<unsigned>(slot_count)), data_(servers) {
  for (auto& view : views_) {
    for (std::size_t slot = 0; slot < slot_count; ++slot) {
      view[slot] = static_cast<unsigned>(slot * servers / slot_count);
    }
  }
  for (unsigned server = 0; server < servers; ++server) {
    network.add_server(host(server), port, [this, server](Now) {
      return std::make_unique<RedisService>(*this, server);
    });
  }
}

void SimRedisCluster::begin_migration(std::uint16_t slot, unsigned target) {
  targets_[slot] = target;
}

bool SimRedisCluster::move_a_key(std::uint16_t slot) {
  const unsigned target = targets_.at(slot);
  Data& from = data_[views_[target][slot]];
  const auto at = std::ranges::find_if(
      from, [slot](const auto& entry) { return hash_slot(entry.first) == slot; });
  if (at == from.end()) return false;
  data_[target].insert(from.extract(at));
  return true;
}

void SimRedisCluster::finish_migration(std::uint16_t slot, unsigned target,
                                       unsigned in_the_eyes_of) {
  views_[in_the_eyes_of][slot] = target;
  const bool all = std::ranges::all_of(
      views_, [slot, target](const auto& view) { return view[slot] == target; });
  if (all) targets_.erase(slot);
}

void SimRedisCluster::move_keys(std::uint16_t slot, unsigned from, unsigned target) {
  for (auto at = data_[from].begin(); at != data_[from].end();) {
    const auto next = std::next(at);
    if (hash_slot(at->first) == slot) data_[target].insert(data_[from].extract(at));
    at = next;
  }
}

std::string SimRedisCluster::elsewhere(std::string_view word, std::uint16_t slot, unsigned target) {
  ++redirects_;
  return "-" + std::string(word) + " " + std::to_string(slot) + " " + host(target) + ":" +
         std::to_string(port) + "\r\n";
}

std::string SimRedisCluster::execute(unsigned server, const std::vector<std::string>& words,
                                     bool& asking) {
  const std::string& name = words.at(0);
  if (name == "HELLO") {
    return "%3\r\n" + bulk("server") + bulk("redis") + bulk("version") + bulk("7.2.4") +
           bulk("proto") + ":3\r\n";
  }
  if (name == "CLIENT") return "+OK\r\n";
  const bool asked = std::exchange(asking, name == "ASKING");
  if (name == "ASKING") return "+OK\r\n";
  if (name == "PING") return "+PONG\r\n";
  if (down) return "-CLUSTERDOWN The cluster is down\r\n";
  const std::string& key = words.at(1);
  const std::uint16_t slot = hash_slot(key);
  const auto target = targets_.find(slot);
  Data& data = data_[server];
  if (views_[server][slot] == server) {
    const bool leaves = target != targets_.end() && target->second != server;
    if (leaves && !data.contains(key)) return elsewhere("ASK", slot, target->second);
  } else if (!asked || target == targets_.end() || target->second != server) {
    return elsewhere("MOVED", slot, views_[server][slot]);
  }
  if (name == "GET") {
    const auto at = data.find(key);
    return at != data.end() ? bulk(at->second) : "_\r\n";
  }
  data[key] = words.at(2);
  ++stores_[words.at(2)];
  return "+OK\r\n";
}

}  // namespace sheaf::sim

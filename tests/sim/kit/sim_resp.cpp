#include "tests/sim/kit/sim_resp.h"

#include <algorithm>

#include "tests/support/resp_model/model_connection.h"

namespace sheaf::sim {

using test::resp_model::ClusterChanges;
using test::resp_model::ClusterOptions;
using test::resp_model::ModelCluster;
using test::resp_model::ModelConnection;
using test::resp_model::NodeAddress;

namespace {

constexpr std::uint16_t resp_port = 6'379;

NodeAddress address_of(unsigned host) { return {"r" + std::to_string(host), resp_port}; }

std::vector<NodeAddress> first_addresses(unsigned count) {
  std::vector<NodeAddress> all;
  for (unsigned i = 0; i < count; ++i) all.push_back(address_of(i));
  return all;
}

// How long sending a push may take.
constexpr auto push_interval = std::chrono::milliseconds(1);

// One connection. Bytes that do not fit into the window wait here.
class RespPeer final : public SimPeer {
 public:
  using Peers = std::vector<RespPeer*>;

  // It is one of `peers` until it is destroyed.
  RespPeer(ModelCluster& cluster, unsigned node, SimConnection& connection,
           std::shared_ptr<Peers> peers)
      : model_(cluster, node), connection_(connection), peers_(std::move(peers)) {
    peers_->push_back(this);
  }
  ~RespPeer() override { std::erase(*peers_, this); }
  RespPeer(const RespPeer&) = delete;
  RespPeer& operator=(const RespPeer&) = delete;

  std::size_t on_bytes(std::string_view bytes, Now now) override {
    out_ += model_.receive(bytes, now.mono);
    flush();
    return bytes.size();
  }
  void on_writable(Now) override { flush(); }
  void on_end(Now) override { ended_ = true; }

  bool tracks() const { return model_.tracks() && !ended_; }
  void push(Now now) {
    out_ += model_.pushes(now.mono);
    flush();
  }

 private:
  void flush() {
    out_.erase(0, connection_.send(out_));
    if (out_.empty() && model_.closed()) connection_.end();
  }

  ModelConnection model_;
  SimConnection& connection_;
  const std::shared_ptr<Peers> peers_;
  std::string out_;
  bool ended_ = false;
};

class RespService final : public SimService {
 public:
  RespService(ModelCluster& cluster, unsigned node) : cluster_(cluster), node_(node) {}
  std::unique_ptr<SimPeer> accept(SimConnection& connection, Now) override {
    return std::make_unique<RespPeer>(cluster_, node_, connection, peers_);
  }
  void tick(Now now) override {
    ticked_ = now.mono;
    for (RespPeer* const peer : *peers_) {
      if (peer->tracks()) peer->push(now);
    }
  }
  Deadline next_tick() const override {
    return std::ranges::any_of(*peers_, &RespPeer::tracks) ? ticked_ + push_interval : never;
  }

 private:
  ModelCluster& cluster_;
  unsigned node_;
  const std::shared_ptr<RespPeer::Peers> peers_ = std::make_shared<RespPeer::Peers>();
  Deadline ticked_{0};
};

}  // namespace

SimResp::SimResp(SimNetwork& network, unsigned primaries, std::uint64_t seed,
                 ClusterOptions options)
    : network_(network),
      cluster_(first_addresses(primaries), seed, std::move(options)),
      next_host_(primaries) {
  for (unsigned node = 0; node < primaries; ++node) {
    servers_.push_back(&serve(node, address_of(node)));
  }
}

SimServer& SimResp::serve(unsigned node, const NodeAddress& address) {
  return network_.add_server(address.host, address.port, [this, node](Now) {
    return std::make_unique<RespService>(cluster_, node);
  });
}

NodeAddress SimResp::next_address() { return address_of(next_host_++); }

NodeAddress SimResp::address(unsigned node) const { return cluster_.node(node).view.own().address; }

std::vector<NodeConfig> SimResp::addresses() const {
  std::vector<NodeConfig> all;
  for (unsigned node = 0; node < cluster_.size(); ++node) {
    all.push_back({address(node).host, address(node).port, 1});
  }
  return all;
}

unsigned SimResp::add_primary() {
  const NodeAddress at = next_address();
  const unsigned node = cluster().add_primary(at, now());
  servers_.push_back(&serve(node, at));
  return node;
}

unsigned SimResp::add_replica(unsigned primary) {
  const NodeAddress at = next_address();
  const unsigned node = cluster().add_replica(primary, at, now());
  servers_.push_back(&serve(node, at));
  return node;
}

// The caller makes its change first; then this runs what the change made due.
ModelCluster& SimResp::cluster() {
  network_.world().after(std::chrono::nanoseconds(0), [this, token = std::weak_ptr(alive_)](Now) {
    if (!token.expired()) go_on();
  });
  return cluster_;
}

ClusterChanges& SimResp::changes() {
  cluster();
  return changes_;
}

void SimResp::go_on() {
  if (ticks_at_ <= now()) ticks_at_ = never;
  cluster_.tick(now());
  changes_.tick(now());
  const Deadline next = std::min(cluster_.next_tick(), changes_.next_tick());
  if (next == never || next >= ticks_at_) return;
  ticks_at_ = next;
  network_.world().at(next, [this, token = std::weak_ptr(alive_)](Now) {
    if (!token.expired()) go_on();
  });
}

void SimResp::stop_for(unsigned node, std::chrono::nanoseconds time) {
  cluster_.stop(node);
  server(node).stop();
  network_.world().after(time, [this, node, token = std::weak_ptr(alive_)](Now) {
    if (token.expired()) return;
    cluster().go_on(node, now());
    server(node).go_on();
  });
}

void SimResp::go_down_for(std::chrono::nanoseconds time) {
  for (unsigned node = 0; node < cluster_.size(); ++node) {
    cluster_.node(node).faults.down_until = now() + time;
  }
}

ServerLog SimResp::stored() const {
  ServerLog log;
  for (const auto& execution : cluster_.log().executions()) {
    if (execution.words[0] == "SET") log.push_back({execution.at, this, execution.words[2]});
  }
  return log;
}

void SimResp::move(unsigned node) {
  const NodeAddress at = next_address();
  server(node).crash();
  cluster().restart(node, at, now());
  servers_[node] = &serve(node, at);
}

}  // namespace sheaf::sim

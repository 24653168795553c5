#include "tests/sim/kit/sim_store.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace sheaf::sim {

using store::server::Host;

namespace {

class StorePeer;

}  // namespace

// The peers of all front ends of a store, since each front end sends the output of all.
class StorePeers {
 public:
  std::unordered_map<Host::Connection*, StorePeer*> by_session;
};

namespace {

class StoreService final : public SimService {
 public:
  StoreService(std::shared_ptr<Host> host, std::shared_ptr<StorePeers> peers)
      : host_(std::move(host)), peers_(std::move(peers)) {}

  std::unique_ptr<SimPeer> accept(SimConnection& connection, Now now) override;
  void tick(Now now) override {
    host_->tick(now);
    pump(now);
  }
  Deadline next_tick() const override { return host_->next_deadline().value_or(never); }

  // Lets every connection that has something to send or to end do so.
  void pump(Now now);
  Host& host() { return *host_; }
  void forget(Host::Connection& connection) {
    peers_->by_session.erase(&connection);
    host_->release(connection);
  }

 private:
  std::shared_ptr<Host> host_;
  std::shared_ptr<StorePeers> peers_;
};

// One MQTT session and its connection.
class StorePeer final : public SimPeer {
 public:
  StorePeer(StoreService& service, SimConnection& connection, Host::Connection* session)
      : service_(service), connection_(connection), session_(session) {
    if (session_ == nullptr) connection_.end();  // the host has too many
  }
  ~StorePeer() override { leave(); }
  StorePeer(const StorePeer&) = delete;
  StorePeer& operator=(const StorePeer&) = delete;

  std::size_t on_bytes(std::string_view bytes, Now now) override {
    std::size_t taken = 0;
    while (session_ != nullptr && taken < bytes.size()) {
      const std::span<std::byte> space = session_->input_space();
      const std::size_t size = std::min(space.size(), bytes.size() - taken);
      if (size == 0) return taken;
      std::memcpy(space.data(), bytes.data() + taken, size);
      taken += size;
      session_->on_input(size, now);
      service_.pump(now);
    }
    return session_ == nullptr ? bytes.size() : taken;
  }
  void on_writable(Now now) override { flush(now); }
  void on_end(Now now) override {
    if (session_ == nullptr) return;
    session_->on_eof(now);
    leave();
    service_.pump(now);
  }

  void flush(Now now) {
    while (session_ != nullptr && !session_->poll_output().empty()) {
      const std::string_view part = as_text(session_->poll_output().front());
      const std::size_t taken = connection_.send(part);
      if (taken > 0) session_->on_output(taken, now);
      if (taken < part.size()) return;
    }
    if (session_ == nullptr || !session_->closed()) return;
    leave();
    connection_.end();
  }

 private:
  void leave() {
    if (session_ != nullptr) service_.forget(*std::exchange(session_, nullptr));
  }

  StoreService& service_;
  SimConnection& connection_;
  Host::Connection* session_;
};

std::unique_ptr<SimPeer> StoreService::accept(SimConnection& connection, Now now) {
  Host::Connection* session = host_->connect(now);
  auto peer = std::make_unique<StorePeer>(*this, connection, session);
  if (session != nullptr) peers_->by_session.emplace(session, peer.get());
  return peer;
}

void StoreService::pump(Now now) {
  while (Host::Connection* ready = host_->poll_ready()) {
    const auto found = peers_->by_session.find(ready);
    if (found != peers_->by_session.end()) found->second->flush(now);
  }
}

}  // namespace

SimServer::Start SimStore::start() {
  return [this](Now) {
    if (host_ == nullptr || !keep_data) {
      host_ = std::make_shared<Host>(options_);
      peers_ = std::make_shared<StorePeers>();
    }
    return std::make_unique<StoreService>(host_, peers_);
  };
}

}  // namespace sheaf::sim

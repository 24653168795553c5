#include "tests/sim/kit/sim_store.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "protocol/mqtt5/packets.h"
#include "protocol/statestore/packets.h"
#include "protocol/statestore/topics.h"

namespace sheaf::sim {

using store::server::Host;
namespace mqtt5 = protocol::mqtt5;
namespace statestore = protocol::statestore;

namespace {

class StorePeer;

}  // namespace

// The peers of all front ends of a store, since each front end sends the output of all.
class StorePeers {
 public:
  std::unordered_map<Host::Connection*, StorePeer*> by_session;
};

namespace {

// Cuts the bytes of one client into packets, so that it is known which one the engine carried out.
class PacketTap {
 public:
  // How many of the next bytes belong to the same packet.
  std::size_t limit(std::size_t size) const {
    const auto read = mqtt5::read_frame(packet_);
    const bool open = read.state == mqtt5::FrameResult::State::need_more && read.missing > 0;
    return open ? std::min(size, read.missing) : size;
  }
  // Adds bytes. Returns the value that the packet stores if it is one that does, and is whole.
  std::optional<std::string> add(std::string_view bytes) {
    packet_.append(bytes);
    const auto read = mqtt5::read_frame(packet_);
    if (read.state == mqtt5::FrameResult::State::need_more) return std::nullopt;
    const std::string packet = std::exchange(packet_, {});
    if (read.frame.type != mqtt5::PacketType::publish) return std::nullopt;
    const auto publish = mqtt5::Publish::parse(read.frame, packet);
    if (!publish || publish->topic != statestore::request_topic) return std::nullopt;
    const auto request = statestore::parse_request(publish->payload);
    if (!request || !std::holds_alternative<statestore::SetRequest>(*request)) return std::nullopt;
    return std::string(std::get<statestore::SetRequest>(*request).value);
  }

 private:
  std::string packet_;
};

class StoreService final : public SimService {
 public:
  StoreService(const SimStore& store, std::shared_ptr<Host> host, std::shared_ptr<StorePeers> peers)
      : store_(store), host_(std::move(host)), peers_(std::move(peers)) {}

  std::unique_ptr<SimPeer> accept(SimConnection& connection, Now now) override;
  void tick(Now now) override {
    host_->tick(now);
    pump(now);
  }
  Deadline next_tick() const override { return host_->next_deadline().value_or(never); }

  // Lets every connection that has something to send or to end do so.
  void pump(Now now);
  Host& host() { return *host_; }
  const SimStore& store() const { return store_; }
  void forget(Host::Connection& connection) {
    peers_->by_session.erase(&connection);
    host_->release(connection);
  }

 private:
  const SimStore& store_;
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
      std::size_t size = std::min(space.size(), bytes.size() - taken);
      if (service_.store().log != nullptr) size = tap_.limit(size);
      if (size == 0) return taken;
      std::memcpy(space.data(), bytes.data() + taken, size);
      feed(bytes.substr(taken, size), now);
      taken += size;
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
  // Passes on bytes that are in the session's input.
  void feed(std::string_view bytes, Now now) {
    ServerLog* const log = service_.store().log;
    if (log == nullptr) return session_->on_input(bytes.size(), now);
    const std::uint64_t before = writes();
    session_->on_input(bytes.size(), now);
    auto value = tap_.add(bytes);
    if (value && writes() > before) {
      log->push_back({now.mono, &service_.store(), std::move(*value)});
    }
  }
  std::uint64_t writes() { return service_.host().engine().counters().executed_writes; }
  void leave() {
    if (session_ != nullptr) service_.forget(*std::exchange(session_, nullptr));
  }

  StoreService& service_;
  SimConnection& connection_;
  Host::Connection* session_;
  PacketTap tap_;  // if there is a log
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
    return std::make_unique<StoreService>(*this, host_, peers_);
  };
}

}  // namespace sheaf::sim

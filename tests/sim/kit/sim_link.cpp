#include "tests/sim/kit/sim_link.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace sheaf::sim {
namespace {

// How long a client's kernel takes to find room again, and how soon a reader that paused is asked
// again.
constexpr std::chrono::nanoseconds short_while = std::chrono::microseconds(50);
constexpr int reads_per_turn = 16;

class SimStream final : public socket::Stream {
 public:
  explicit SimStream(std::shared_ptr<SimLink> link) : link_(std::move(link)) {}
  ~SimStream() override { link_->client_gone(); }
  SimStream(const SimStream&) = delete;
  SimStream& operator=(const SimStream&) = delete;
  std::size_t write(std::span<const Bytes> parts) override { return link_->write(parts); }

 private:
  std::shared_ptr<SimLink> link_;
};

}  // namespace

void ByteQueue::take(std::size_t size) {
  taken_ += size;
  if (taken_ == bytes_.size()) {
    clear();
  } else if (taken_ > bytes_.size() / 2) {
    bytes_.erase(0, taken_);
    taken_ = 0;
  }
}

SimLink::SimLink(SimServer& server, SimLoop& loop, socket::StreamSink& sink)
    : server_(server), world_(server.world_), loop_(loop), sink_(&sink) {
  if (server.mangle) mangler_ = server.mangle();
}

std::unique_ptr<socket::Stream> SimLink::make_stream() {
  return std::make_unique<SimStream>(shared_from_this());
}

Deadline SimLink::arrival(Direction& direction) {
  direction.last = std::max(direction.last, world_.now().mono + server_.draw_delay());
  return direction.last;
}

std::size_t SimLink::room(const Direction& direction) const {
  const std::size_t window = server_.faults.window;
  return window - std::min(window, direction.used());
}

std::size_t SimLink::piece(std::size_t size) {
  const std::size_t most = server_.faults.max_piece;
  return most == 0 ? size : std::min<std::size_t>(size, 1 + world_.random().below(most));
}

bool SimLink::chance(double probability) {
  return probability > 0 && world_.random().between(0, 1) < probability;
}

// ---- client's end

std::size_t SimLink::write(std::span<const Bytes> parts) {
  if (sink_ == nullptr || fate_ != Fate::open) return 0;
  ++server_.packets_;
  ++packets_;
  std::string bytes;
  for (const Bytes part : parts) bytes.append(as_text(part));
  const std::size_t wanted = bytes.size();
  const std::size_t most = std::min(wanted, room(up_));
  std::size_t taken = most;
  const LinkFaults& faults = server_.faults;
  const bool broken = !dark_ && chance(faults.reset);
  if (taken > 0 && (broken || chance(faults.short_write))) {
    taken = 1 + world_.random().below(taken);
  }
  bytes.resize(taken);
  if (taken > 0) to_server(std::move(bytes));
  if (broken) {
    // The bytes taken may still reach the server before the end of the connection does.
    world_.at(arrival(up_), [self = shared_from_this()](Now) { self->break_off(); });
  } else if (taken < wanted) {
    up_.wants_room = true;
    if (taken < most) {
      world_.after(short_while, [self = shared_from_this()](Now) {
        self->up_.wants_room = false;
        self->client_writable_ = true;
        self->wake_client();
      });
    }
  }
  return taken;
}

void SimLink::to_server(std::string bytes) {
  up_.on_the_way += bytes.size();
  world_.at(arrival(up_), [self = shared_from_this(), bytes = std::move(bytes)](Now) {
    if (self->dark_ || self->server_over_ || self->client_left_) return;
    self->world_.note(bytes.size());
    self->up_.on_the_way -= bytes.size();
    self->up_.arrived.append(bytes);
    self->serve();
  });
}

void SimLink::client_gone() {
  sink_ = nullptr;
  // Closing with unread bytes sends a reset, and the server may lose what it has not read yet.
  const bool hard = !down_.arrived.empty() && world_.random().below(4) == 0;
  world_.at(arrival(up_), [self = shared_from_this(), hard](Now) {
    if (self->dark_) return;
    self->client_left_ = true;
    if (hard) self->up_.arrived.clear();
    self->serve();
    self->forget_if_over();
  });
}

void SimLink::wake_client() {
  if (sink_ == nullptr || client_woken_) return;
  client_woken_ = true;
  loop_.deliver(world_.now().mono,
                [self = shared_from_this()](Now now) { self->client_turn(now); });
}

void SimLink::client_turn(Now now) {
  client_woken_ = false;
  if (sink_ == nullptr) return;
  if (std::exchange(client_writable_, false) && fate_ == Fate::open) {
    sink_->on_writable(now);
    if (sink_ == nullptr) return;
  }
  if (!hand_over(now) || fate_ == Fate::open) return;
  world_.note(fate_ == Fate::ended ? 1'000'001 : 1'000'002);
  std::exchange(sink_, nullptr)->on_closed(fate_ == Fate::ended ? 0 : ECONNRESET, now);
}

// False if the stream is gone or there is more to read.
bool SimLink::hand_over(Now now) {
  bool freed = false;
  for (int i = 0; i < reads_per_turn && !down_.arrived.empty(); ++i) {
    const std::span<std::byte> space = sink_->read_space();
    if (space.empty()) {
      world_.after(short_while, [self = shared_from_this()](Now) { self->wake_client(); });
      return false;
    }
    const std::size_t size = std::min(space.size(), piece(down_.arrived.size()));
    std::memcpy(space.data(), down_.arrived.view().data(), size);
    down_.arrived.take(size);
    freed = true;
    sink_->on_read(size, now);
    if (sink_ == nullptr) return false;
  }
  if (freed && std::exchange(down_.wants_room, false)) {
    world_.at(arrival(up_), [self = shared_from_this()](Now) {
      self->server_writable_ = true;
      self->serve();
    });
  }
  if (!down_.arrived.empty()) wake_client();
  return down_.arrived.empty();
}

void SimLink::notify_client(Fate fate) {
  world_.at(arrival(down_), [self = shared_from_this(), fate](Now) {
    if (self->dark_ || self->fate_ != Fate::open) return;
    self->fate_ = fate;
    // A reset may overtake what the client has not read.
    if (fate == Fate::reset && self->world_.random().below(2) == 0) self->down_.arrived.clear();
    self->wake_client();
  });
}

// ---- server's end

std::size_t SimLink::send(std::string_view bytes) {
  if (server_over_) return bytes.size();
  const std::size_t taken = std::min(bytes.size(), room(down_));
  if (taken < bytes.size()) down_.wants_room = true;
  if (taken == 0) return 0;
  if (mangler_ == nullptr) {
    to_client(std::string(bytes.substr(0, taken)));
    return taken;
  }
  mangler_->on_bytes(bytes.substr(0, taken), [this](std::string part, auto delay) {
    if (delay.count() == 0) {
      to_client(std::move(part));
      return;
    }
    world_.after(
        delay, [self = shared_from_this(), part = std::move(part)](Now) { self->to_client(part); });
  });
  return taken;
}

void SimLink::to_client(std::string bytes) {
  down_.on_the_way += bytes.size();
  world_.at(arrival(down_), [self = shared_from_this(), bytes = std::move(bytes)](Now) {
    if (self->dark_) return;
    self->world_.note(bytes.size());
    self->down_.on_the_way -= bytes.size();
    self->down_.arrived.append(bytes);
    self->wake_client();
  });
}

void SimLink::serve() {
  const auto self = shared_from_this();
  if (server_over_ || !server_.alive() || server_.stopped_) return;
  if (!accepted_) {
    accepted_ = true;
    peer_ = server_.service_->accept(*this, server_.now());
  }
  if (!server_over_ && std::exchange(server_writable_, false)) peer_->on_writable(server_.now());
  bool freed = false;
  while (!server_over_ && !up_.arrived.empty()) {
    const std::string_view some = up_.arrived.view().substr(0, piece(up_.arrived.size()));
    const std::size_t taken = peer_->on_bytes(some, server_.now());
    up_.arrived.take(taken);
    freed = freed || taken > 0;
    if (taken < some.size()) break;
  }
  if (freed && std::exchange(up_.wants_room, false)) {
    world_.at(arrival(down_), [self](Now) {
      if (self->dark_) return;
      self->client_writable_ = true;
      self->wake_client();
    });
  }
  if (!server_over_ && client_left_) drop_peer();
  server_.touch();
}

void SimLink::drop_peer() {
  server_over_ = true;
  if (peer_ != nullptr) peer_->on_end(server_.now());
  peer_.reset();
  forget_if_over();
}

// Called from inside the peer, so the peer is destroyed a little later.
void SimLink::close_server(Fate fate) {
  if (server_over_) return;
  server_over_ = true;
  notify_client(fate);
  world_.after(std::chrono::nanoseconds(0), [self = shared_from_this()](Now) {
    self->peer_.reset();
    self->forget_if_over();
  });
}

void SimLink::break_off() {
  notify_client(Fate::reset);
  client_left_ = true;
  up_.arrived.clear();
  serve();
}

void SimLink::process_gone() {
  // The kernel resets connections with unread bytes and ends others in order.
  const bool unread = !up_.arrived.empty() || world_.random().below(2) == 0;
  const bool was_over = std::exchange(server_over_, true);
  peer_.reset();
  if (!was_over) notify_client(unread ? Fate::reset : Fate::ended);
  forget_if_over();
}

void SimLink::forget_if_over() {
  if (!server_over_ || peer_ != nullptr || std::exchange(forgetting_, true)) return;
  world_.after(std::chrono::nanoseconds(0),
               [self = shared_from_this()](Now) { self->server_.forget(*self); });
}

}  // namespace sheaf::sim

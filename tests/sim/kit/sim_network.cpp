#include "tests/sim/kit/sim_network.h"

#include <algorithm>

#include "base/text.h"
#include "socket/own_pause.h"
#include "tests/sim/kit/sim_link.h"

namespace sheaf::sim {

// A connection being made. Shared with the events that are in progress for it.
class SimDial final : public socket::Dial, private socket::TimerSink {
 public:
  SimDial(SimServer* server, SimLoop& loop, Deadline deadline, socket::DialSink& dial_sink,
          socket::StreamSink& stream_sink)
      : state_(std::make_shared<State>(loop, dial_sink, stream_sink)), timer_(loop.timer(*this)) {
    timer_->set(deadline);
    if (server == nullptr) {
      fail(state_, "name look-up failed: no such host", std::chrono::milliseconds(1));
      return;
    }
    loop.world().after(server->draw_delay(),
                       [state = state_, server](Now) { knock(state, *server); });
  }
  ~SimDial() override {
    state_->over = true;
    if (state_->link != nullptr) state_->link->client_gone();
  }
  SimDial(const SimDial&) = delete;
  SimDial& operator=(const SimDial&) = delete;

 private:
  struct State {
    State(SimLoop& its_loop, socket::DialSink& its_dial_sink, socket::StreamSink& its_stream_sink)
        : loop(its_loop), dial_sink(its_dial_sink), stream_sink(its_stream_sink) {}
    SimLoop& loop;
    socket::DialSink& dial_sink;
    socket::StreamSink& stream_sink;
    bool over = false;
    std::shared_ptr<SimLink> link;  // until it is handed to the sink
  };
  using Shared = std::shared_ptr<State>;

  static void fail(const Shared& state, std::string text, std::chrono::nanoseconds delay) {
    const Deadline at = state->loop.world().now().mono + delay;
    state->loop.deliver(at, [state, text = std::move(text)](Now now) {
      if (std::exchange(state->over, true)) return;
      state->dial_sink.on_dial_failed({text}, now);
    });
  }

  // The first packet reaches the server's machine.
  static void knock(const Shared& state, SimServer& server) {
    ++server.packets_;
    if (state->over || server.cut_off_) return;
    if (!server.alive() || server.full) {
      fail(state, "connection refused", server.draw_delay());
      return;
    }
    state->link = std::make_shared<SimLink>(server, state->loop, state->stream_sink);
    server.links_.push_back(state->link);
    ++server.accepted_;
    const Deadline at = state->link->arrival_at_client();
    state->link->serve();
    server.world_.at(at, [state, at](Now) {
      if (state->over || state->link->dark()) return;
      state->loop.deliver(at, [state](Now now) { connected(state, now); });
    });
  }

  static void connected(const Shared& state, Now now) {
    if (std::exchange(state->over, true)) return;
    auto stream = std::exchange(state->link, nullptr)->make_stream();
    state->dial_sink.on_connected(std::move(stream), now);
  }

  void on_timer(Now now) override {
    if (const auto excused = socket::excused_deadline(state_->loop, now)) {
      return timer_->set(*excused);
    }
    if (std::exchange(state_->over, true)) return;
    state_->dial_sink.on_dial_failed({"connect timed out"}, now);
  }

  Shared state_;
  std::unique_ptr<socket::Timer> timer_;
};

// ---- server

SimServer::SimServer(SimWorld& world, std::string name, Start start)
    : world_(world), name_(std::move(name)), start_(std::move(start)) {
  restart();
}

SimServer::~SimServer() { crash(); }

Now SimServer::now() const {
  Now now = world_.now();
  now.wall += wall_offset;
  return now;
}

std::chrono::nanoseconds SimServer::draw_delay() {
  const auto jitter = static_cast<std::uint64_t>(faults.jitter.count());
  return faults.delay + std::chrono::nanoseconds(jitter == 0 ? 0 : world_.random().below(jitter));
}

void SimServer::crash() {
  const auto links = links_;
  for (const auto& link : links) link->process_gone();
  service_.reset();
  stopped_ = false;
}

void SimServer::restart() {
  if (alive()) crash();
  service_ = start_(now());
  tick_at_ = never;
  touch();
}

void SimServer::stop() { stopped_ = true; }

void SimServer::go_on() {
  stopped_ = false;
  if (!alive()) return;
  const auto links = links_;
  for (const auto& link : links) link->serve();
  service_->tick(now());
  touch();
}

void SimServer::cut_off() {
  cut_off_ = true;
  for (const auto& link : links_) link->go_dark();
}

void SimServer::reconnect() { cut_off_ = false; }

void SimServer::crash_for(std::chrono::nanoseconds time) {
  crash();
  world_.after(time, [this](Now) { restart(); });
}

void SimServer::stop_for(std::chrono::nanoseconds time) {
  stop();
  world_.after(time, [this](Now) { go_on(); });
}

void SimServer::cut_off_for(std::chrono::nanoseconds time) {
  cut_off();
  world_.after(time, [this](Now) { reconnect(); });
}

void SimServer::reset_all() {
  const auto links = links_;
  for (const auto& link : links) link->break_off();
}

std::uint64_t SimServer::packets_on(std::size_t connection) const {
  return links_.at(connection)->packets();
}

void SimServer::touch() {
  if (!alive()) return;
  // A service that is always due is not asked all the time.
  const Deadline soon = world_.now().mono + std::chrono::microseconds(10);
  const Deadline next = service_->next_tick();
  if (next == never || std::max(next, soon) >= tick_at_) return;
  tick_at_ = std::max(next, soon);
  world_.at(tick_at_, [this, token = std::weak_ptr(alive_token_)](Now) {
    if (token.expired()) return;
    tick_at_ = never;
    if (!alive() || stopped_) return;
    service_->tick(now());
    touch();
  });
}

void SimServer::forget(SimLink& link) {
  std::erase_if(links_, [&link](const auto& other) { return other.get() == &link; });
}

// ---- network

namespace {

class SimDialer final : public socket::Dialer {
 public:
  SimDialer(SimNetwork& network, SimLoop& loop) : network_(network), loop_(loop) {}
  std::unique_ptr<socket::Dial> dial(const socket::Endpoint& endpoint, Deadline deadline,
                                     socket::DialSink& dial_sink,
                                     socket::StreamSink& stream_sink) override {
    SimServer* server = network_.find(join_host_port(endpoint.host, endpoint.port));
    return std::make_unique<SimDial>(server, loop_, deadline, dial_sink, stream_sink);
  }

 private:
  SimNetwork& network_;
  SimLoop& loop_;
};

}  // namespace

SimServer& SimNetwork::add_server(const std::string& host, std::uint16_t port,
                                  SimServer::Start start) {
  const std::string name = join_host_port(host, port);
  auto& server = servers_[name];
  server = std::make_unique<SimServer>(world_, name, std::move(start));
  return *server;
}

SimServer* SimNetwork::find(const std::string& name) {
  const auto found = servers_.find(name);
  return found == servers_.end() ? nullptr : found->second.get();
}

std::unique_ptr<socket::Dialer> SimNetwork::dialer(SimLoop& loop) {
  return std::make_unique<SimDialer>(*this, loop);
}

}  // namespace sheaf::sim

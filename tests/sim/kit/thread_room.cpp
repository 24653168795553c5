#include "tests/sim/kit/thread_room.h"

#include <algorithm>
#include <vector>

#include "base/quiet_thread.h"
#include "tests/sim/kit/sim_threads.h"
#include "tests/sim/kit/sim_transport.h"

namespace sheaf::sim {

using namespace std::chrono_literals;

ThreadRoom::ThreadRoom(const Draw& draw, const Plants& plants)
    : random_(draw.random),
      plants_(plants),
      stack_(draw.setting.seed, draw.setting.servers + (plants.servers_change ? 2 : 0),
             draw.setting.kind, plants.servers_change),
      faulty_(random_.below(3) != 0) {
  draw_servers();
  all_servers_ = stack_.config.nodes;
  if (servers_change()) stack_.config.nodes = draw_members(random_);
  members_ = stack_.config.nodes;
}

ThreadRoom::Draw ThreadRoom::draw(std::uint64_t seed, std::uint64_t memcached_in) {
  Draw draw{Random(seed), {seed, EndpointKind::state_store, 1}};
  draw.setting.servers += static_cast<unsigned>(draw.random.below(2));
  const bool memcached = memcached_in != 0 && draw.random.below(memcached_in) == 0;
  if (memcached) draw.setting.kind = EndpointKind::memcached;
  return draw;
}

void ThreadRoom::draw_servers() {
  ClusterConfig& config = stack_.config;
  config.timeout = std::chrono::milliseconds(50 + random_.below(200));
  config.connect_timeout = 60ms;
  config.keep_alive = 1s;  // a connection that was cut off is dead, and no end is notified
  config.pool_max = 1 + static_cast<unsigned>(random_.below(2));
  if (config.kind == EndpointKind::memcached) {
    config.extra_connections = static_cast<unsigned>(random_.below(5));
  } else {
    config.protocol = MemcachedProtocol::automatic;
  }
  config.idle_timeout = std::chrono::milliseconds(random_.below(2) == 0 ? 10 : 60'000);
  config.spin = random_.below(2) == 0;
  for (unsigned i = 0; i < stack_.size(); ++i) {
    LinkFaults& faults = stack_.broker(i).faults;
    faults.delay = draw_us(random_, 200);
    if (random_.below(2) == 0) faults.jitter = draw_us(random_, 2000);
    if (random_.below(4) == 0) faults.max_piece = 1 + random_.below(100);
    if (random_.below(4) == 0) faults.short_write = 0.1;
    if (faulty_ && random_.below(3) == 0) faults.reset = 0.01;
  }
}

void ThreadRoom::draw_faults(std::chrono::microseconds within) {
  if (!faulty_) return;
  for (std::uint64_t i = random_.below(4); i > 0; --i) {
    SimServer& server = stack_.broker(static_cast<unsigned>(random_.below(stack_.size())));
    const std::uint64_t kind = random_.below(3);
    const auto length = std::chrono::milliseconds(1 + random_.below(200));
    stack_.world.after(draw_us(random_, static_cast<std::uint64_t>(within.count())),
                       [&server, kind, length](Now) {
                         if (!server.serving()) return;
                         if (kind == 0) server.reset_all();
                         if (kind == 1) server.stop_for(length);
                         if (kind == 2) server.cut_off_for(length);
                       });
  }
}

void ThreadRoom::end_faults() {
  for (unsigned i = 0; i < stack_.size(); ++i) stack_.broker(i).faults = {};
  if (faulty_) pass(10s);
  faulty_ = false;
}

void ThreadRoom::main() {
  use_network(stack_.network, plants_.lane, plants_.session, plants_.cluster);
  if (!plants_.driven) return run();
  driver_.emplace();
  std::vector<std::stop_source> over(plants_.turning);
  std::vector<QuietThread> turning;
  for (const std::stop_source& source : over)
    turning.emplace_back("driver", [this, stop = source.get_token()] { driver_->run(stop); });
  run();
  for (unsigned i = 0; i < plants_.turning; ++i) {
    over[i].request_stop();
    turning[i].join();  // the later drivers continue
  }
}

Client ThreadRoom::open_client(ClientOptions options) {
  if (driver_) options.driver = &*driver_;
  auto client = Client::open(stack_.config, std::move(options));
  if (!client) require("the client does not open: " + client.error().message());
  clients_here_.push_back(&client::Internals::context(*client));
  client::Internals::impl(*client)->computations().flights.set_controls(plants_.compute);
  return std::move(*client);
}

void ThreadRoom::run_threads(unsigned count, const std::function<void(unsigned)>& main) {
  std::vector<QuietThread> threads;
  for (unsigned i = 0; i < count; ++i) {
    threads.emplace_back("caller", [&main, i] { main(i); });
  }
  std::optional<QuietThread> changer;
  over_ = false;
  if (servers_change()) {
    changer.emplace("changer", [this, random = Random(random_.fork())]() mutable {
      while (!over_) change_servers(random);
    });
  }
  for (QuietThread& thread : threads) thread.join();
  over_ = true;
  if (changer) changer->join();
  if (servers_change()) check_servers();
}

std::vector<NodeConfig> ThreadRoom::draw_members(Random& random) const {
  std::vector<NodeConfig> members;
  while (members.empty()) {
    for (const NodeConfig& server : all_servers_) {
      if (random.below(2) == 0) continue;
      members.push_back(server);
      members.back().weight = static_cast<std::uint32_t>(1 + random.below(3));
    }
  }
  return members;
}

// Changes become ever rarer: a long run would otherwise spend most of its time on topologies.
void ThreadRoom::change_servers(Random& random) {
  const std::uint64_t longest = random.below(2) == 0 ? 3'000 : 60'000;
  pass(draw_us(random, longest * (1 + counts_.changes / 8)));
  members_ = draw_members(random);
  for (client::runtime::Context* const client : clients_here_) {
    if (auto updated = client->update(members_); !updated) require(updated.error().message());
    ++counts_.changes;
  }
}

// Every request has ended since the last change, so no client still has a node that has left, or a
// connection to one. A server that was cut off may not have noticed.
void ThreadRoom::check_servers() {
  if (faulty_) return;
  pass(stack_.config.timeout + 1s);
  for (client::runtime::Context* const client : clients_here_) {
    std::size_t nodes = 0;
    client->path().run([&](Now) { nodes = client->cluster().nodes().size(); });
    if (nodes != members_.size()) require("a client keeps a node that has left");
  }
  for (unsigned i = 0; i < stack_.size(); ++i) {
    const auto same = [&](const NodeConfig& m) { return m.host == all_servers_[i].host; };
    if (std::ranges::any_of(members_, same)) continue;
    if (stack_.broker(i).connections() > 0) require("a connection to a server that has left");
  }
}

void ThreadRoom::rest(Random& random) {
  pass(draw_us(random, random.below(2) == 0 ? 12'000 : 600'000));
}

void ThreadRoom::pass(std::chrono::nanoseconds time) { SimThreads::current()->pass(time); }

ThreadRoom::Start ThreadRoom::begin_call() const {
  return {stack_.world.now().mono, SimThreads::current()->delays()};
}

void ThreadRoom::end_call(const Start& started, std::chrono::nanoseconds limit) {
  ++counts_.calls;
  stack_.world.note(static_cast<std::uint64_t>((stack_.world.now().mono - started.at).count()));
  check_time(started, limit);
}

void ThreadRoom::check_time(const Start& started, std::chrono::nanoseconds limit) const {
  const SimThreads& threads = *SimThreads::current();
  const auto took = stack_.world.now().mono - started.at;
  // The call may be late by the delays of threads since then, including those in progress at that
  // moment.
  const auto delays = threads.delays() - started.delays + 10 * threads.longest_delay();
  const auto late = took - limit - delays;
  if (late.count() > 0) {
    require("a call ended " + std::to_string(late.count() / 1000) + " us after its deadline");
  }
}

// Calls may time out where threads are delayed for long.
bool ThreadRoom::calm() const {
  return !faulty_ && !servers_change() && SimThreads::current()->longest_delay() <= 1ms;
}

void ThreadRoom::check_error(const Error& error) {
  ++counts_.failures;
  if (calm()) require("a call failed for nothing: " + error.message());
}

void ThreadRoom::require(const std::string& finding) {
  if (!finding.empty()) SimThreads::current()->fail(finding);
}

}  // namespace sheaf::sim

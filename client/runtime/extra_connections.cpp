#include "client/runtime/extra_connections.h"

#include <algorithm>
#include <new>
#include <ranges>
#include <system_error>

#include "base/this_thread.h"
#include "client/runtime/late_write.h"
#include "node/tallies.h"
#include "socket/lane/post.h"

namespace sheaf::client::runtime {
namespace {

// How long a server is left alone after it did not accept one more connection.
constexpr std::chrono::seconds pause{1};

// Health and round trip stay those of the client's own path, which also carries single keys.
void add(NodeStats& to, const NodeStats& from) {
  to.connections += from.connections;
  to.in_flight += from.in_flight;
  to.waiting += from.waiting;
  to.requests += from.requests;
  to.replies += from.replies;
  to.refused += from.refused;
  to.not_sent += from.not_sent;
  to.unknown += from.unknown;
  to.overloaded += from.overloaded;
  to.timed_out += from.timed_out;
  to.late_replies += from.late_replies;
  to.bad_timestamps += from.bad_timestamps;
  to.connects += from.connects;
  to.connect_failures += from.connect_failures;
  to.connections_lost += from.connections_lost;
  to.probes += from.probes;
  to.bytes_sent += from.bytes_sent;
  to.bytes_received += from.bytes_received;
}

}  // namespace

// A path, and the nodes it is connected to.
class ExtraConnections::Side final : private cluster::ConnectionListener, private LateWriteOwner {
 public:
  Side(ExtraConnections& owner, std::unique_ptr<Path> path)
      : owner_(owner), epoch_(path->cluster().topology().epoch()), path_(std::move(path)) {
    path_->cluster().set_listener(this);
  }
  ~Side() = default;
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  Path& path() noexcept { return *path_; }
  std::unique_ptr<Path> take_path() noexcept { return std::move(path_); }
  // ready_for() and forget() are called under the owner's mutex.
  bool ready_for(const Need& need) const noexcept {
    owner_.mutex_.assert_held();
    return epoch_ == need.epoch &&
           std::ranges::all_of(need.servers, [this](const Server& server) SHEAF_UNCHECKED {
             return server.node < ready_.size() && ready_[server.node];
           });
  }
  void forget(std::uint32_t node) noexcept {
    owner_.mutex_.assert_held();
    if (node < ready_.size()) ready_[node] = false;
  }
  void connect(std::uint32_t node) {
    socket::post(path_->lane(), [this, node](Now now) {
      cluster::ClientCluster& cluster = path_->cluster();
      if (cluster.topology().member(node) != nullptr) cluster.node(node).connect(now);
    });
  }
  void follow(const Map& map) {
    socket::post(path_->lane(), [this, map](Now now) {
      path_->sessions().judge_by(map.known);
      if (map.topology->epoch() <= path_->cluster().topology().epoch()) return;
      path_->cluster().apply(map.topology, now);
      const sync::MutexLock lock(owner_.mutex_);
      epoch_ = map.topology->epoch();
    });
  }
  bool owes(std::uint32_t node) const { return path_->cluster().nodes().last_signs(node).owes; }
  // It counts as a caller no more, but is not free. May throw, and has no effect then.
  void await_write(Path& own, std::uint32_t node, std::string_view key) {
    write_ = std::make_unique<LateWrite>(own, *path_, node, key, as_owner());
    ++owner_.late_writes_;
    --owner_.lent_;
    write_->begin();
  }
  // Ends everything.
  void close() {
    path_->run([this](Now now) { path_->cluster().shut_down(now); });
    path_->stop([this] { return path_->cluster().empty(); });
  }

 private:
  void on_connection_ready(unsigned node, Now) override {
    const sync::MutexLock lock(owner_.mutex_);
    if (node >= ready_.size()) ready_.resize(node + 1);
    ready_[node] = true;
    owner_.make_place(node);
    owner_.next_attempt_[node] = {};
  }
  void on_connection_ended(std::uint64_t connection, Now) override {
    const sync::MutexLock lock(owner_.mutex_);
    forget(node::SocketMaker::node_of(connection));
  }

  LateWriteOwner& as_owner() noexcept { return *this; }
  void on_key_free() noexcept override {
    const sync::MutexLock lock(owner_.mutex_);
    if (!owner_.closed_) path_->lane().post(forget_write_);
  }
  void forget_write(Now) {
    write_.reset();
    const sync::MutexLock lock(owner_.mutex_);
    owner_.free_.push_back(this);
    --owner_.late_writes_;
  }

  ExtraConnections& owner_;
  std::uint64_t epoch_ SHEAF_GUARDED_BY(owner_.mutex_);      // of the path's topology
  std::vector<bool> ready_ SHEAF_GUARDED_BY(owner_.mutex_);  // by node, as far as known
  std::unique_ptr<Path> path_;
  std::unique_ptr<LateWrite> write_;  // null: none is awaited
  socket::MemberTask<Side> forget_write_{*this, &Side::forget_write};
};

Path& ExtraConnections::Lease::operator*() const noexcept { return side_->path(); }

bool ExtraConnections::Lease::owes(std::uint32_t node) const { return side_->owes(node); }

void ExtraConnections::Lease::await_write(Path& own, std::uint32_t node, std::string_view key) {
  side_->await_write(own, node, key);
  owner_ = nullptr;
}

ExtraConnections::ExtraConnections(unsigned limit, std::size_t servers, Open open)
    : most_(limit), limit_(limit_with(servers)), open_(std::move(open)) {
  sides_.reserve(limit);
  free_.reserve(limit);
}

ExtraConnections::~ExtraConnections() { close(); }

// Paths above the limit stay, but are lent only while few threads are at work.
unsigned ExtraConnections::limit_with(std::size_t servers) const noexcept {
  const std::size_t each = most_connections / std::max<std::size_t>(servers, 1);
  return static_cast<unsigned>(std::clamp<std::size_t>(each, 1, most_));
}

// A thread prefers the side it used last, whichever client that was: the server's thread for that
// connection is then where it was, too.
ExtraConnections::Side* ExtraConnections::take(const Need& need) {
  const auto ready = [&need](const Side* side) { return side->ready_for(need); };
  const void*& last_side = this_thread().last_side;
  auto chosen = std::ranges::find(free_, last_side);
  if (chosen == free_.end() || !ready(*chosen)) {
    const auto last = std::ranges::find_if(free_.rbegin(), free_.rend(), ready);
    if (last == free_.rend()) return nullptr;
    chosen = std::next(last).base();
  }
  Side* const side = *chosen;
  free_.erase(chosen);
  ++lent_;
  last_side = side;
  return side;
}

// A connection from before the outage may be dead although nothing has noticed it yet.
void ExtraConnections::note_outages(const Server& server) {
  if (std::exchange(outages_[server.node], server.outages) == server.outages) return;
  for (const auto& side : sides_) side->forget(server.node);
}

void ExtraConnections::make_place(std::uint32_t node) {
  if (node < outages_.size()) return;
  next_attempt_.resize(node + 1);
  outages_.resize(node + 1);
}

ExtraConnections::Lease ExtraConnections::borrow(const Need& need, Deadline now) {
  Side* cold = nullptr;
  Waiting waiting(need);
  bool waits = false;
  {
    const sync::MutexLock lock(mutex_);
    for (const Server& server : need.servers) {
      make_place(server.node);
      note_outages(server);
    }
    if (Side* const side = take(need)) return {*this, *side};
    waits = free_.empty() && made_ >= limit_ && need.patience.count() > 0;
    if (waits) {
      waiting_.push_back(&waiting);
      ++queued_;
    } else if (!may_connect(need, now)) {
      return {};
    } else if (!free_.empty()) {
      cold = free_.front();
    }
  }
  if (waits) return await(waiting);
  if (cold == nullptr) cold = add_side();
  if (cold == nullptr) return {};
  for (const Server& server : need.servers) cold->connect(server.node);
  return {};
}

// True if a free path may be connected to the servers, or a new one if none is free. Then others
// may not for a while.
bool ExtraConnections::may_connect(const Need& need, Deadline now) {
  for (const Server& server : need.servers) {
    if (now < next_attempt_[server.node]) return false;
  }
  if (free_.empty()) {
    if (opening_ || made_ >= limit_) return false;
    opening_ = true;
  }
  for (const Server& server : need.servers) next_attempt_[server.node] = now + pause;
  return true;
}

// Sleeps until the call has its turn or loses patience.
ExtraConnections::Lease ExtraConnections::await(Waiting& waiting) {
  waiting.parker.park_for(waiting.need.patience);
  const sync::MutexLock lock(mutex_);
  if (waiting.side == nullptr) {
    std::erase(waiting_, &waiting);
    --queued_;
    return {};
  }
  this_thread().last_side = waiting.side;
  return {*this, *waiting.side};
}

ExtraConnections::Side* ExtraConnections::add_side() {
  std::unique_ptr<Side> side;
  try {
    if (auto path = open_()) side = std::make_unique<Side>(*this, std::move(path));
  } catch (const std::bad_alloc&) {     // NOLINT(bugprone-empty-catch): manages without
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): no thread left
  }
  const sync::MutexLock lock(mutex_);
  opening_ = false;
  if (side == nullptr) return nullptr;
  free_.insert(free_.begin(), side.get());
  if (map_.topology != nullptr) side->follow(map_);  // it may have opened with an older one
  sides_.push_back(std::move(side));
  ++made_;
  return sides_.back().get();
}

void ExtraConnections::on_map(std::shared_ptr<const cluster::Topology> topology,
                              std::shared_ptr<const protocol::KnownServers> known) {
  const sync::MutexLock lock(mutex_);
  const bool same_servers = known == map_.known || (known && map_.known && *known == *map_.known);
  if (closed_ || (topology == map_.topology && same_servers)) return;
  limit_ = limit_with(topology->members().size());
  map_ = {std::move(topology), std::move(known)};
  for (const auto& side : sides_) side->follow(map_);
}

void ExtraConnections::give_back(Side& side) noexcept {
  const sync::MutexLock lock(mutex_);
  const auto next = std::ranges::find_if(
      waiting_, [&side](const Waiting* waiting) { return side.ready_for(waiting->need); });
  if (next != waiting_.end()) {
    Waiting& waiting = **next;
    waiting_.erase(next);
    --queued_;
    waiting.side = &side;
    waiting.parker.unpark();  // under the lock, because it is gone soon after
    return;
  }
  free_.push_back(&side);  // never reallocates: reserved for all
  --lent_;
}

void ExtraConnections::distrust(Side& side, std::span<const std::uint32_t> nodes) {
  const sync::MutexLock lock(mutex_);
  for (const std::uint32_t node : nodes) side.forget(node);
}

std::vector<ExtraConnections::Side*> ExtraConnections::all() {
  const sync::MutexLock lock(mutex_);
  std::vector<Side*> all;
  for (const auto& side : sides_) all.push_back(side.get());
  return all;
}

// Adds each entry of theirs to our entry of the same server, which is mostly at the same index.
template <class Entry, class Name, class Add>
void add_each(std::vector<Entry>& ours, const std::vector<Entry>& theirs, Name name, Add add) {
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    const bool same_place = i < ours.size() && name(ours[i]) == name(theirs[i]);
    const auto to = same_place ? ours.begin() + static_cast<std::ptrdiff_t>(i)
                               : std::ranges::find(ours, name(theirs[i]), name);
    if (to != ours.end()) add(*to, theirs[i]);
  }
}

void ExtraConnections::add_to(std::vector<NodeStats>& stats) {
  for (Side* const side : all()) {
    Path& path = side->path();
    std::vector<NodeStats> theirs;
    path.run([&](Now) { theirs = path.cluster().nodes().stats(); });
    add_each(
        stats, theirs, [](const NodeStats& node) { return node.node; },
        [](NodeStats& to, const NodeStats& from) { add(to, from); });
  }
}

void ExtraConnections::add_to(std::vector<NodeMetrics>& metrics) {
  for (Side* const side : all()) {
    Path& path = side->path();
    std::vector<NodeMetrics> theirs;
    path.run([&](Now) { theirs = path.cluster().nodes().metrics(); });
    add_each(
        metrics, theirs, [](const NodeMetrics& node) { return node.stats.node; },
        [](NodeMetrics& to, const NodeMetrics& from) {
          add(to.stats, from.stats);
          node::add(to.operations, from.operations);
        });
  }
}

void ExtraConnections::close() noexcept {
  {
    const sync::MutexLock lock(mutex_);
    if (std::exchange(closed_, true)) return;
  }
  for (Side* const side : all()) side->close();
}

void ExtraConnections::abandon() noexcept {
  for (unsigned i = 0; i < made_; ++i) Path::abandon(sides_[i]->take_path());
}

}  // namespace sheaf::client::runtime

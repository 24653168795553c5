#include "client/watch/watch_registry.h"

#include <algorithm>

#include "base/checks.h"

namespace sheaf::client::watch {

using Audience = WatchKey::Audience;
using Kind = WatchEvent::Kind;

namespace {

// True if a repetition would get the same answer.
bool is_permanent(const Error& error) {
  if (error.outcome == Outcome::unsupported || error.outcome == Outcome::invalid) return true;
  switch (error.reason) {
    case Reason::not_authorized:
    case Reason::syntax:
    case Reason::unknown_command:
    case Reason::wrong_arguments:
    case Reason::key_empty:
      return true;
    default:
      return false;
  }
}

protocol::Verb verb_of(WatchKey::Request request) {
  switch (request) {
    case WatchKey::Request::watch:
      return protocol::Verb::watch;
    case WatchKey::Request::unwatch:
      return protocol::Verb::unwatch;
    case WatchKey::Request::read:
    case WatchKey::Request::none:
      break;
  }
  return protocol::Verb::get;
}

}  // namespace

// One key, its watchers, and its one request.
class WatchRegistry::Entry final : public ListHook<Entry>,
                                   public DeadlineHook<Entry>,
                                   private socket::RequestSink {
 public:
  struct Watcher {
    calls::WatchSink* sink = nullptr;  // null: removed during a notification
    std::uint64_t needs = 0;           // waits for this read or a later one; 0: live
  };

  Entry(Side& side, std::string_view name, const WatchKeyOptions& options)
      : side_(side), key(name), machine(options) {
    request.operation.key = key;
    request.sink = this;
  }

  // Views in the reports stay valid: a sink cannot use the connection.
  void notify(const WatchKey::Reports& reports, Now now);
  bool remove(const calls::WatchSink& sink);
  // Takes over the watchers that the key had on another node until now.
  void take_watchers(Entry& before, Now proof, Now now);
  bool watched() const {
    return std::ranges::any_of(watchers, [](const Watcher& w) { return w.sink != nullptr; });
  }

 private:
  void notify(const WatchKey::Report& report, Now now);
  void on_done(socket::Request&, const socket::Completion& completion) override;
  Side& side_;

 public:
  const std::string key;
  WatchKey machine;
  socket::Request request;
  std::vector<Watcher> watchers;
  bool notifying = false;
};

// The keys that are watched on one node.
class WatchRegistry::Side final : private node::WatchLineOwner, private socket::RequestSink {
 public:
  Side(WatchRegistry& registry, node::ClientNode& node)
      : home(node),
        registry_(registry),
        line(node, registry.loop_, *this, registry.random_.fork(), registry.options_.line) {
    question_.sink = this;
    question_.counted = false;
  }

  Entry& entry(std::string_view key);
  Entry* find(std::string_view key);
  // Must follow every change of the entry. The entry may not exist afterwards.
  void update(Entry& entry, Now now);
  // Sends the requests of the keys while the line has room for them.
  void pump(Now now);
  void wake(Now now);
  Deadline next() const { return deadlines_.next(); }
  // The number of keys that have watchers.
  std::size_t keys() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(entries_, [](const auto& each) { return each.second->watched(); }));
  }
  bool closing() const { return registry_.shut_down_; }
  void count(const calls::WatchUpdate& update) noexcept;
  // Time between two reads of a key: a node's keys together are read `most_reads` times a second.
  std::chrono::nanoseconds pace() const;
  // Learns where a key belongs. Returns false if the answer does not say.
  bool learn(std::string_view key, const protocol::Reply& reply, Now now);
  // Every change of the key before this time is known, or in a reported gap.
  Now known_until(const Entry& entry) const;
  void shut_down(Now now);
  bool empty() const { return line.empty() && !asking_; }
  // The watched keys that belong to other nodes.
  std::vector<std::string> strangers(const cluster::Topology& topology) const;
  std::vector<std::string> names() const;

  const node::ClientNode& home;

 private:
  void on_line_up(Now now) override;
  void on_line_room(Now now) override { pump(now); }
  void on_line_notification(const protocol::Notification& notification, Now now) override;
  void on_line_down(Now proof, Now now) override;
  void on_line_failed(const protocol::CloseReason& why, Now now) override;
  void on_done(socket::Request&, const socket::Completion&) override { asking_ = false; }
  void ask_for_owner(Now now);
  void on_notification(Entry& entry, const protocol::Notification& notification, Now now);
  template <class Change>
  void for_each(const Change& change);

  WatchRegistry& registry_;
  std::map<std::string_view, std::unique_ptr<Entry>> entries_;  // keyed by the entry's own name
  IntrusiveList<Entry> sending_;                                // keys with a request to send
  DeadlineHeap<Entry> deadlines_;
  std::string asked_key_;
  cluster::Request question_;  // for asked_key_, while the line is down
  bool asking_ = false;

 public:
  node::WatchLine line;
};

// ---- a key

void WatchRegistry::Entry::notify(const WatchKey::Reports& reports, Now now) {
  if (side_.closing()) return;
  notifying = true;
  for (const WatchKey::Report& report : reports.list()) notify(report, now);
  notifying = false;
  std::erase_if(watchers, [](const Watcher& watcher) { return watcher.sink == nullptr; });
}

// Watchers may be added and removed meanwhile. Those added are not notified.
void WatchRegistry::Entry::notify(const WatchKey::Report& report, Now now) {
  side_.count(report.update);
  const std::size_t count = watchers.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Watcher watcher = watchers[i];
    const bool waits = watcher.needs != 0;
    if (watcher.sink == nullptr || (report.audience == Audience::live && waits)) continue;
    if (report.audience == Audience::waiting && !waits) continue;
    if (report.update.kind == WatchEvent::Kind::current) {
      if (watcher.needs > machine.reads()) continue;
      watchers[i].needs = 0;
    }
    watcher.sink->on_update(key, report.update, now);
  }
}

bool WatchRegistry::Entry::remove(const calls::WatchSink& sink) {
  const auto at = std::ranges::find(watchers, &sink, &Watcher::sink);
  if (at == watchers.end()) return false;
  if (notifying) {
    at->sink = nullptr;
  } else {
    watchers.erase(at);
  }
  return true;
}

void WatchRegistry::Entry::take_watchers(Entry& before, Now proof, Now now) {
  for (Watcher watcher : std::exchange(before.watchers, {})) {
    const bool waits = watcher.needs != 0;
    watcher.needs = machine.join(waits ? calls::WatchStart::current : calls::WatchStart::quiet);
    watchers.push_back(watcher);
  }
  const WatchKey::Reports reports = machine.on_moved_here(before.machine, proof, now);
  before.machine.leave();
  notify(reports, now);
}

void WatchRegistry::Entry::on_done(socket::Request&, const socket::Completion& completion) {
  const Now now = completion.now;
  if (!completion.answered) {
    if (completion.outcome != Outcome::refused) return machine.on_lost();  // the line ends next
    const Error error{completion.outcome, completion.reason, std::string(completion.node),
                      now.mono - request.submitted_at, std::string(completion.text)};
    notify(side_.learn(key, completion.reply, now)
               ? machine.on_redirected(error, now)
               : machine.on_refused(error, is_permanent(error), now),
           now);
    return side_.update(*this, now);
  }
  machine.set_pace(side_.pace());
  switch (machine.open_request()) {
    case WatchKey::Request::watch:
      notify(machine.on_watching(now, completion.reply.polls), now);
      break;
    case WatchKey::Request::unwatch:
      machine.on_unwatched();
      break;
    case WatchKey::Request::read: {
      std::optional<std::string_view> value;
      if (completion.reply.status == protocol::Status::done) value = completion.reply.value;
      notify(machine.on_read(value, completion.reply.version, now), now);
      break;
    }
    case WatchKey::Request::none:
      break;
  }
  side_.update(*this, now);
}

// ---- a node

WatchRegistry::Entry* WatchRegistry::Side::find(std::string_view key) {
  const auto at = entries_.find(key);
  return at != entries_.end() ? at->second.get() : nullptr;
}

WatchRegistry::Entry& WatchRegistry::Side::entry(std::string_view key) {
  if (Entry* const known = find(key)) return *known;
  // Audits are spread, so that keys watched together are not always read together.
  WatchKeyOptions options = registry_.options_.key;
  options.audit = std::chrono::nanoseconds(static_cast<std::int64_t>(
      registry_.random_.between(0.75, 1.25) * static_cast<double>(options.audit.count())));
  auto made = std::make_unique<Entry>(*this, key, options);
  Entry& entry = *made;
  entries_.emplace(entry.key, std::move(made));
  if (line.up()) entry.machine.on_line_up();
  return entry;
}

void WatchRegistry::Side::update(Entry& entry, Now now) {
  if (entry.notifying) return;  // done after the notification
  deadlines_.remove(entry);
  if (registry_.shut_down_) return;
  if (!entry.watched() && entry.machine.idle()) {
    sending_.remove(entry);
    entries_.erase(entries_.find(entry.key));
    if (entries_.empty()) line.leave(now);
    return;
  }
  if (entry.machine.next_request(now) != WatchKey::Request::none) {
    if (!entry.linked()) sending_.push_back(entry);
    registry_.loop_.defer(registry_);
  } else if (const Deadline due = entry.machine.poll_deadline(); due != never) {
    deadlines_.push(entry, due);
    registry_.arm();
  }
}

void WatchRegistry::Side::pump(Now now) {
  while (line.room() > 0) {
    Entry* const entry = sending_.pop_front();
    if (entry == nullptr) return;
    const WatchKey::Request request = entry->machine.next_request(now);
    if (request == WatchKey::Request::none) {
      update(*entry, now);
      continue;
    }
    entry->machine.sent(now);
    entry->request.operation.verb = verb_of(request);
    const auto submitted = line.submit(entry->request, now);
    if (submitted) continue;
    const protocol::LocalError& why = submitted.error();
    const Error error{why.outcome, why.reason, line.identity(), {}, why.text};
    entry->notify(entry->machine.on_refused(error, is_permanent(error), now), now);
    update(*entry, now);
  }
}

void WatchRegistry::Side::wake(Now now) {
  while (Entry* const entry = deadlines_.pop_due(now.mono)) update(*entry, now);
}

std::vector<std::string> WatchRegistry::Side::strangers(const cluster::Topology& topology) const {
  std::vector<std::string> strangers;
  for (const auto& [key, entry] : entries_) {
    const unsigned owner = topology.owner(key);
    const bool at_home = owner != cluster::nobody
                             ? owner == home.options().index
                             : topology.member(home.options().index) != nullptr;
    if (entry->watched() && !at_home) strangers.emplace_back(key);
  }
  return strangers;
}

// `change` may remove its own entry, but must not add or remove any other.
template <class Change>
void WatchRegistry::Side::for_each(const Change& change) {
  for (auto at = entries_.begin(); at != entries_.end();) {
    Entry& entry = *(at++)->second;
    change(entry);
  }
}

void WatchRegistry::Side::on_line_up(Now now) {
  for_each([&](Entry& entry) {
    entry.machine.on_line_up();
    update(entry, now);
  });
}

void WatchRegistry::Side::on_line_notification(const protocol::Notification& notification,
                                               Now now) {
  if (notification.key.empty()) {
    for (const std::string& name : names()) {
      if (Entry* const entry = find(name)) on_notification(*entry, notification, now);
    }
  } else if (Entry* const entry = find(notification.key)) {
    on_notification(*entry, notification, now);
  }
}

void WatchRegistry::Side::on_notification(Entry& entry, const protocol::Notification& notification,
                                          Now now) {
  entry.notify(entry.machine.on_notification(notification, now), now);
  update(entry, now);
}

void WatchRegistry::Side::on_line_down(Now, Now now) {
  for_each([&](Entry& entry) {
    entry.machine.on_line_down(known_until(entry));
    update(entry, now);
  });
  ask_for_owner(now);
}

void WatchRegistry::Side::on_line_failed(const protocol::CloseReason& why, Now now) {
  const Error error{Outcome::not_sent, why.reason, line.identity(), {}, why.text};
  for (const std::string& name : names()) {
    Entry* const entry = find(name);
    if (entry == nullptr) continue;
    entry->notify(entry->machine.on_line_failed(error), now);
    update(*entry, now);
  }
  ask_for_owner(now);
}

// The names are copied, because sinks may add and remove watches during a notification.
std::vector<std::string> WatchRegistry::Side::names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) names.emplace_back(name);
  return names;
}

void WatchRegistry::Side::count(const calls::WatchUpdate& update) noexcept {
  if (update.kind == Kind::gap) ++registry_.gaps_;
  const bool change =
      update.kind == Kind::set || update.kind == Kind::deleted || update.kind == Kind::changed;
  if (change) ++registry_.changes_;
}

// ---- where keys belong

std::chrono::nanoseconds WatchRegistry::Side::pace() const {
  constexpr std::int64_t most_reads = 1'000;
  return std::chrono::nanoseconds(std::chrono::seconds(1)) *
         static_cast<std::int64_t>(entries_.size()) / most_reads;
}

bool WatchRegistry::Side::learn(std::string_view key, const protocol::Reply& reply, Now now) {
  cluster::Redirects* const redirects = registry_.cluster_.redirects();
  if (redirects == nullptr || !reply.redirect) return false;
  redirects->learn(key, home.options().index, *reply.redirect, now);
  return true;
}

// A line that is up proves nothing about a key that may have left the node unannounced.
Now WatchRegistry::Side::known_until(const Entry& entry) const {
  const Now proof = line.proof();
  if (registry_.cluster_.redirects() == nullptr) return proof;
  const Now sure = entry.machine.sure_at();
  return sure.mono < proof.mono ? sure : proof;
}

void WatchRegistry::Side::ask_for_owner(Now now) {
  constexpr std::chrono::seconds patience{1};
  const bool may_ask = registry_.cluster_.redirects() != nullptr && !registry_.shut_down_;
  if (!may_ask || asking_ || entries_.empty()) return;
  asked_key_ = entries_.begin()->first;
  question_.operation = {};
  question_.operation.key = asked_key_;
  question_.operation.deadline = now.mono + patience;
  asking_ = true;
  registry_.cluster_.start(question_, now);
}

void WatchRegistry::Side::shut_down(Now now) {
  if (asking_) registry_.cluster_.cancel(question_, now);
  line.shut_down(now);
}

// ---- all nodes

WatchRegistry::WatchRegistry(socket::Loop& loop, cluster::ClientCluster& cluster, Seed seed,
                             const WatchRegistryOptions& options)
    : loop_(loop), cluster_(cluster), options_(options), random_(seed), timer_(loop.timer(*this)) {
  SHEAF_CHECK(options_.key.compare != nullptr);
  options_.key.hash_seed = random_.u64();
  cluster_.set_topology_listener(this);
}

WatchRegistry::~WatchRegistry() {
  cluster_.set_topology_listener(nullptr);
  loop_.forget(*this);
}

unsigned WatchRegistry::home_of(std::string_view key) const {
  const cluster::Topology& topology = cluster_.topology();
  const unsigned owner = topology.owner(key);
  return owner != cluster::nobody ? owner : topology.members().front().index();
}

WatchRegistry::Side& WatchRegistry::side_of(std::string_view key) {
  const unsigned node = home_of(key);
  if (node >= sides_.size()) sides_.resize(node + 1);
  auto& side = sides_[node];
  if (side == nullptr) side = std::make_unique<Side>(*this, cluster_.node(node));
  return *side;
}

void WatchRegistry::add(std::string_view key, calls::WatchSink& sink, calls::WatchStart start,
                        Now now) {
  if (shut_down_) return;
  Side& side = side_of(key);
  Entry& entry = side.entry(key);
  entry.watchers.push_back({&sink, entry.machine.join(start)});
  side.line.open(now);
  side.update(entry, now);
}

void WatchRegistry::remove(std::string_view key, calls::WatchSink& sink, Now now) noexcept {
  if (shut_down_) return;
  if (remove_from(side_of(key), key, sink, now)) return;
  // While keys are moving, the watch may still be on the key's old node.
  for (const auto& side : sides_) {
    if (side != nullptr && remove_from(*side, key, sink, now)) return;
  }
}

bool WatchRegistry::remove_from(Side& side, std::string_view key, const calls::WatchSink& sink,
                                Now now) {
  Entry* const entry = side.find(key);
  if (entry == nullptr || !entry->remove(sink)) return false;
  if (!entry->watched()) entry->machine.leave();
  side.update(*entry, now);
  return true;
}

// ---- another topology

void WatchRegistry::on_login(Now now) {
  for (const auto& side : sides_) {
    if (side != nullptr) side->line.renew_login(now);
  }
}

// The keys are collected first, because sinks may add and remove watches during a notification.
void WatchRegistry::on_topology(Now now) {
  if (shut_down_) return;
  std::vector<std::pair<Side*, std::vector<std::string>>> moving;
  for (const auto& side : sides_) {
    if (side != nullptr) moving.emplace_back(side.get(), side->strangers(cluster_.topology()));
  }
  for (const auto& [side, keys] : moving) {
    for (const std::string& key : keys) {
      if (Entry* const entry = side->find(key)) move(*side, *entry, now);
    }
  }
  for (auto& side : sides_) {
    if (side == nullptr) continue;
    if (cluster_.topology().member(side->home.options().index) != nullptr) continue;
    side->shut_down(now);
    leaving_.push_back(std::move(side));
  }
  arm();
}

void WatchRegistry::move(Side& from, Entry& entry, Now now) {
  Side& to = side_of(entry.key);
  Entry& here = to.entry(entry.key);
  here.take_watchers(entry, from.known_until(entry), now);
  from.update(entry, now);
  to.line.open(now);
  to.update(here, now);
}

bool WatchRegistry::lets_go(const node::ClientNode& node) {
  std::erase_if(leaving_, [](const auto& side) { return side->empty(); });
  return std::ranges::none_of(leaving_, [&](const auto& side) { return &side->home == &node; });
}

void WatchRegistry::run_deferred(Now now) {
  for (const auto& side : sides_) {
    if (side != nullptr && !shut_down_) side->pump(now);
  }
}

void WatchRegistry::on_timer(Now now) {
  for (const auto& side : sides_) {
    if (side != nullptr) side->wake(now);
  }
  arm();
}

void WatchRegistry::arm() {
  Deadline next = never;
  for (const auto& side : sides_) {
    if (side != nullptr) next = std::min(next, side->next());
  }
  if (next == never || shut_down_) {
    timer_->cancel();
  } else {
    timer_->set(next);
  }
}

void WatchRegistry::shut_down(Now now) {
  shut_down_ = true;
  timer_->cancel();
  for (const auto& side : sides_) {
    if (side != nullptr) side->shut_down(now);
  }
}

bool WatchRegistry::empty() const {
  const auto over = [](const auto& side) { return side == nullptr || side->empty(); };
  return std::ranges::all_of(sides_, over) && std::ranges::all_of(leaving_, over);
}

std::size_t WatchRegistry::keys() const {
  std::size_t keys = 0;
  for (const auto& side : sides_) keys += side != nullptr ? side->keys() : 0;
  return keys;
}

WatchMetrics WatchRegistry::counts() const { return {keys(), changes_, gaps_}; }

}  // namespace sheaf::client::watch

#include "client/watch/watch_hub.h"

#include <algorithm>

#include "base/checks.h"

namespace sheaf::client::watch {

using Ask = WatchKey::Ask;
using To = WatchKey::Tell::To;

namespace {

// Asking again would give the same answer.
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

protocol::Verb verb_of(Ask ask) {
  switch (ask) {
    case Ask::watch:
      return protocol::Verb::watch;
    case Ask::unwatch:
      return protocol::Verb::unwatch;
    default:
      return protocol::Verb::get;
  }
}

}  // namespace

// A key, those who watch it, and its one request.
class WatchHub::Entry final : public ListHook<Entry>, private socket::RequestSink {
 public:
  struct Sink {
    calls::WatchSink* sink = nullptr;  // null: removed while news were told
    std::uint64_t needs = 0;           // waits for this read or a later one; 0: live
  };

  Entry(Side& side, std::string_view name, const WatchKeyOptions& options)
      : side_(side), key(name), machine(options) {
    request.operation.key = key;
    request.sink = this;
  }

  // Views of `tells` stay as they are: nothing that a sink may do uses the connection.
  void tell(const WatchKey::Tells& tells, Now now);
  void tell_one(const WatchKey::Tell& told, Now now);
  bool remove(const calls::WatchSink& sink);
  bool watched() const {
    return std::ranges::any_of(sinks, [](const Sink& s) { return s.sink != nullptr; });
  }

 private:
  void on_done(socket::Request&, const socket::Completion& completion) override;
  Side& side_;

 public:
  const std::string key;
  WatchKey machine;
  socket::Request request;
  std::vector<Sink> sinks;
  bool telling = false;
  std::size_t deadline_place = socket::Request::no_place;
};

// What is watched on one node.
class WatchHub::Side final : private node::WatchLineOwner {
 public:
  Side(WatchHub& hub, node::ClientNode& node)
      : hub_(hub), line(node, hub.loop_, *this, hub.random_.fork(), hub.options_.line) {}

  Entry& entry(std::string_view key);
  Entry* find(std::string_view key);
  // After anything has happened to the entry; it may be gone afterwards.
  void update(Entry& entry, Now now);
  // Sends what keys want to ask, as far as there is room.
  void pump(Now now);
  void wake(Now now);
  Deadline next() const { return deadlines_.next(); }
  std::size_t keys() const { return entries_.size(); }
  bool closing() const { return hub_.shut_down_; }

 private:
  void on_line_up(Now now) override;
  void on_line_room(Now now) override { pump(now); }
  void on_line_notification(const protocol::Notification& notification, Now now) override;
  void on_line_down(Now proof, Now now) override;
  void on_line_failed(const protocol::CloseReason& why, Now now) override;
  template <class Change>
  void for_each(const Change& change);

  WatchHub& hub_;
  std::map<std::string_view, std::unique_ptr<Entry>> entries_;  // named by the entry's own key
  IntrusiveList<Entry> asking_;
  node::DeadlineQueue<Entry, &Entry::deadline_place> deadlines_;

 public:
  node::WatchLine line;
};

// ---- a key

void WatchHub::Entry::tell(const WatchKey::Tells& tells, Now now) {
  if (side_.closing()) return;
  telling = true;
  for (const WatchKey::Tell& told : tells.list()) tell_one(told, now);
  telling = false;
  std::erase_if(sinks, [](const Sink& sink) { return sink.sink == nullptr; });
}

// Sinks may come and go meanwhile; those that come are not told.
void WatchHub::Entry::tell_one(const WatchKey::Tell& told, Now now) {
  const std::size_t count = sinks.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Sink sink = sinks[i];
    const bool waits = sink.needs != 0;
    if (sink.sink == nullptr || (told.to == To::live && waits)) continue;
    if (told.to == To::waiting && !waits) continue;
    if (told.news.kind == calls::WatchNews::Kind::current) {
      if (sink.needs > machine.reads()) continue;
      sinks[i].needs = 0;
    }
    sink.sink->on_news(key, told.news, now);
  }
}

bool WatchHub::Entry::remove(const calls::WatchSink& sink) {
  const auto at = std::ranges::find(sinks, &sink, &Sink::sink);
  if (at == sinks.end()) return false;
  if (telling) {
    at->sink = nullptr;
  } else {
    sinks.erase(at);
  }
  return true;
}

void WatchHub::Entry::on_done(socket::Request&, const socket::Completion& completion) {
  const Now now = completion.now;
  const bool refused = !completion.answered && completion.outcome == Outcome::refused;
  if (refused) {
    const Error error{completion.outcome, completion.reason, std::string(completion.node),
                      now.mono - request.submitted_at, std::string(completion.text)};
    tell(machine.on_refused(error, is_permanent(error), now), now);
  } else if (!completion.answered) {
    machine.on_lost();
    return;  // the end of the line follows
  } else if (machine.open_question() == Ask::watch) {
    tell(machine.on_watching(now), now);
  } else if (machine.open_question() == Ask::unwatch) {
    machine.on_unwatched();
  } else {
    std::optional<std::string_view> value;
    if (completion.reply.status == protocol::Status::done) value = completion.reply.value;
    tell(machine.on_read(value, completion.reply.version, now), now);
  }
  side_.update(*this, now);
}

// ---- a node

WatchHub::Entry* WatchHub::Side::find(std::string_view key) {
  const auto at = entries_.find(key);
  return at != entries_.end() ? at->second.get() : nullptr;
}

WatchHub::Entry& WatchHub::Side::entry(std::string_view key) {
  if (Entry* const known = find(key)) return *known;
  // Spread, so that keys that were watched together are not read together for ever.
  WatchKeyOptions options = hub_.options_.key;
  options.audit = std::chrono::nanoseconds(static_cast<std::int64_t>(
      hub_.random_.between(0.75, 1.25) * static_cast<double>(options.audit.count())));
  auto made = std::make_unique<Entry>(*this, key, options);
  Entry& entry = *made;
  entries_.emplace(entry.key, std::move(made));
  if (line.up()) entry.machine.on_line_up();
  return entry;
}

void WatchHub::Side::update(Entry& entry, Now now) {
  if (entry.telling) return;  // who tells does it
  deadlines_.remove(entry);
  if (hub_.shut_down_) return;
  if (!entry.watched() && entry.machine.idle()) {
    asking_.remove(entry);
    entries_.erase(entries_.find(entry.key));
    if (entries_.empty()) line.leave(now);
    return;
  }
  if (entry.machine.next_ask(now) != Ask::nothing) {
    if (!entry.linked()) asking_.push_back(entry);
    hub_.loop_.defer(hub_);
  } else if (const Deadline due = entry.machine.poll_deadline(); due != never) {
    deadlines_.push(entry, due);
    hub_.arm();
  }
}

void WatchHub::Side::pump(Now now) {
  while (line.room() > 0) {
    Entry* const entry = asking_.pop_front();
    if (entry == nullptr) return;
    const Ask ask = entry->machine.next_ask(now);
    if (ask == Ask::nothing) {
      update(*entry, now);
      continue;
    }
    entry->machine.asked(now);
    entry->request.operation.verb = verb_of(ask);
    const auto submitted = line.submit(entry->request, now);
    if (submitted) continue;
    const protocol::LocalError& why = submitted.error();
    const Error error{why.outcome, why.reason, line.identity(), {}, why.text};
    entry->tell(entry->machine.on_refused(error, is_permanent(error), now), now);
    update(*entry, now);
  }
}

void WatchHub::Side::wake(Now now) {
  while (Entry* const entry = deadlines_.pop_due(now.mono)) update(*entry, now);
}

// A change may end the entry; none begins or ends another.
template <class Change>
void WatchHub::Side::for_each(const Change& change) {
  for (auto at = entries_.begin(); at != entries_.end();) {
    Entry& entry = *(at++)->second;
    change(entry);
  }
}

void WatchHub::Side::on_line_up(Now now) {
  for_each([&](Entry& entry) {
    entry.machine.on_line_up();
    update(entry, now);
  });
}

void WatchHub::Side::on_line_notification(const protocol::Notification& notification, Now now) {
  Entry* const entry = find(notification.key);
  if (entry == nullptr) return;
  entry->tell(entry->machine.on_notification(notification, now), now);
  update(*entry, now);
}

void WatchHub::Side::on_line_down(Now proof, Now now) {
  for_each([&](Entry& entry) {
    entry.machine.on_line_down(proof);
    update(entry, now);
  });
}

// Sinks are told, and may begin and end watches here: the keys are named first.
void WatchHub::Side::on_line_failed(const protocol::CloseReason& why, Now now) {
  const Error error{Outcome::not_sent, why.reason, line.identity(), {}, why.text};
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) names.emplace_back(name);
  for (const std::string& name : names) {
    Entry* const entry = find(name);
    if (entry == nullptr) continue;
    entry->tell(entry->machine.on_line_failed(error), now);
    update(*entry, now);
  }
}

// ---- the hub

WatchHub::WatchHub(socket::Loop& loop, cluster::ClientCluster& cluster, Seed seed,
                   const WatchHubOptions& options)
    : loop_(loop),
      cluster_(cluster),
      options_(options),
      random_(seed),
      sides_(cluster.size()),
      timer_(loop.timer(*this)) {
  SHEAF_CHECK(options_.key.compare != nullptr);
  options_.key.hash_seed = random_.u64();
}

WatchHub::~WatchHub() { loop_.forget(*this); }

WatchHub::Side& WatchHub::side_of(std::string_view key) {
  const unsigned node = cluster_.topology().owner(key);
  auto& side = sides_[node];
  if (side == nullptr) side = std::make_unique<Side>(*this, cluster_.node(node));
  return *side;
}

void WatchHub::add(std::string_view key, calls::WatchSink& sink, calls::WatchStart start, Now now) {
  if (shut_down_) return;
  Side& side = side_of(key);
  Entry& entry = side.entry(key);
  entry.sinks.push_back({&sink, entry.machine.join(start)});
  side.line.open(now);
  side.update(entry, now);
}

void WatchHub::remove(std::string_view key, calls::WatchSink& sink, Now now) noexcept {
  if (shut_down_) return;
  Side& side = side_of(key);
  Entry* const entry = side.find(key);
  if (entry == nullptr || !entry->remove(sink)) return;
  if (!entry->watched()) entry->machine.leave();
  side.update(*entry, now);
}

void WatchHub::run_deferred(Now now) {
  for (const auto& side : sides_) {
    if (side != nullptr && !shut_down_) side->pump(now);
  }
}

void WatchHub::on_timer(Now now) {
  for (const auto& side : sides_) {
    if (side != nullptr) side->wake(now);
  }
  arm();
}

void WatchHub::arm() {
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

void WatchHub::shut_down(Now now) {
  shut_down_ = true;
  timer_->cancel();
  for (const auto& side : sides_) {
    if (side != nullptr) side->line.shut_down(now);
  }
}

bool WatchHub::empty() const {
  return std::ranges::all_of(
      sides_, [](const auto& side) { return side == nullptr || side->line.empty(); });
}

std::size_t WatchHub::keys() const {
  std::size_t keys = 0;
  for (const auto& side : sides_) keys += side != nullptr ? side->keys() : 0;
  return keys;
}

}  // namespace sheaf::client::watch

#include "tests/sim/slot_load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <numeric>

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;
using protocol::Verb;
using protocol::resp::hash_slot;
using protocol::resp::slot_count;
using test::resp_model::Execution;
using test::resp_model::SlotRange;

constexpr std::chrono::nanoseconds timeout = 1s;
constexpr std::string_view password = "pass";
constexpr std::size_t counters_of_a_client = 2;

std::string name_of(unsigned client) { return "c" + std::to_string(client); }

test::resp_model::ClusterOptions with_password(test::resp_model::ClusterOptions options) {
  options.password = password;  // makes the log name the clients
  return options;
}

// A key for each slot.
std::vector<std::string> find_keys() {
  std::vector<std::string> keys(slot_count);
  std::size_t missing = slot_count;
  for (unsigned i = 0; missing > 0; ++i) {
    std::string key = "key" + std::to_string(i);
    std::string& place = keys[hash_slot(key)];
    if (!place.empty()) continue;
    place = std::move(key);
    --missing;
  }
  return keys;
}
const std::vector<std::string>& keys_by_slot() {
  static const auto* const keys = new std::vector<std::string>(find_keys());
  return *keys;
}

}  // namespace

// ---- one client

SlotUser::SlotUser(SlotLoad& load, SimWorld& world, SimNetwork& network,
                   const ClusterConfig& config, unsigned number,
                   const std::vector<std::string>& keys)
    : load_(load),
      client_(world, network, config, 1000 * (number + 1)),
      random_(Random(77 + number).fork()),
      timer_(client_.loop().timer(*this)) {
  for (const std::string& key : keys) keys_.emplace_back(key);
  for (std::size_t i = 0; i < std::min(keys.size(), counters_of_a_client); ++i) {
    // Each counter is in the slot of its key.
    counters_.push_back({"{" + keys[i] + "}" + name_of(number)});
  }
}

SlotUser::~SlotUser() = default;

void SlotUser::go_on() {
  if (!std::exchange(resting_, false)) return;
  if (!busy()) pause(load_.world.now());
}

void SlotUser::pause(Now now) {
  const auto longest = static_cast<std::uint64_t>(2 * load_.pause_.count());
  timer_->set(now.mono + std::chrono::nanoseconds(random_.below(longest) + 1));
}

void SlotUser::on_timer(Now now) {
  if (!resting_ && !busy()) begin(now);
}

// Draws one action, or some on one key. Four in ten are reads, half of them of a random client's
// key if nothing else is in flight, five are writes, and one is an increment.
void SlotUser::begin(Now now) {
  const bool several = random_.below(4) == 0;
  const std::size_t count = several ? 2 + random_.below(actions_.size() - 1) : 1;
  KeyHistory& history = keys_[random_.below(keys_.size())];
  in_flight_ = static_cast<unsigned>(count);
  for (std::size_t i = 0; i < count; ++i) {
    Action& action = actions_[i];
    action.operation = {};
    action.may_lag = false;
    action.read.reset();
    const std::uint64_t draw = random_.below(10);
    if (draw < 2 && !several) {
      SlotUser& owner = load_.user(random_.below(load_.users()));
      read(action, owner.history(random_.below(owner.keys())));
    } else if (draw < 4) {
      read(action, history);
      if (load_.reads_ == ReadTarget::primary) {
        action.read = load_.order_.begin_read(0, history.name());
      }
    } else if (draw < 9) {
      set(action, history);
    } else {
      add(action);
    }
    action.operation.deadline = now.mono + timeout;
    action.sink = this;
    action.in_flight = true;
  }
  for (std::size_t i = 0; i < count; ++i) client_.cluster().start(actions_[i], now);
}

void SlotUser::read(Action& action, KeyHistory& history) {
  action.doing = Doing::get;
  action.history = &history;
  action.since = history.last_acknowledged();
  action.operation.verb = Verb::get;
  action.operation.key = history.name();
  action.may_lag = true;
}

void SlotUser::set(Action& action, KeyHistory& history) {
  action.doing = Doing::set;
  action.history = &history;
  action.value = history.begin_set(0);
  action.write = history.newest();
  load_.order_.begin_write(0, history.name(), action.value);
  action.operation.verb = Verb::set;
  action.operation.key = history.name();
  action.operation.value = action.value;
}

void SlotUser::add(Action& action) {
  action.doing = Doing::add;
  action.counter = &counters_[random_.below(counters_.size())];
  action.words = {"INCRBY", action.counter->name, "1"};
  action.operation.verb = Verb::command;
  action.operation.key = action.counter->name;
  action.operation.words = action.words;
}

void SlotUser::on_done(socket::Request& request, const socket::Completion& completion) {
  auto& action = static_cast<Action&>(request);
  if (!std::exchange(action.in_flight, false)) load_.finding("an action ended twice");
  --in_flight_;
  ++load_.done_;
  if (completion.answered) {
    last_success_ = completion.now.mono;
  } else {
    load_.errors_.push_back({completion.now.mono, std::string(completion.text)});
  }
  if (action.doing == Doing::get) {
    end_read(action, completion);
  } else {
    Error error;
    error.outcome = completion.outcome;
    error.text = completion.text;
    end_write(action, completion.answered ? nullptr : &error);
  }
  if (!resting_ && !busy()) pause(completion.now);
}

void SlotUser::end_read(Action& action, const socket::Completion& completion) {
  const bool found = completion.answered && completion.reply.status == protocol::Status::done;
  if (action.read) {
    load_.order_.end_read(*action.read,
                          found ? std::optional(completion.reply.value) : std::nullopt);
  }
  if (!completion.answered) return;
  GetResult got;
  if (found) {
    got.emplace();
    got->data = completion.reply.value;
  }
  load_.finding(action.history->check(action.since, got));
}

void SlotUser::end_write(Action& action, const Error* error) {
  const bool unknown = error != nullptr && error->outcome == Outcome::unknown;
  if (action.doing == Doing::add) {
    action.counter->acknowledged += error == nullptr ? 1 : 0;
    action.counter->in_doubt += unknown ? 1 : 0;
    return;
  }
  const auto times =
      error == nullptr ? SlotLoad::Times{1, 1} : SlotLoad::Times{0, unknown ? 1u : 0u};
  load_.sets_[action.value] = times;
  if (error == nullptr) {
    load_.order_.acknowledge(action.value);
  } else {
    load_.order_.fail(action.value, error->outcome, load_.now());
  }
  load_.finding(action.history->end_write(action.write, error));
}

// Checks that every acknowledged increment was carried out once on the present counter.
std::string SlotUser::check_counters() {
  for (const Counter& counter : counters_) {
    const std::int64_t value = load_.number_at(counter.name);
    if (value >= counter.acknowledged && value <= counter.acknowledged + counter.in_doubt) continue;
    return counter.name + " is " + std::to_string(value) + " after " +
           std::to_string(counter.acknowledged) + " additions";
  }
  return {};
}

// ---- all of them

SlotLoad::SlotLoad(std::uint64_t seed, unsigned primaries, unsigned clients,
                   test::resp_model::ClusterOptions options, ReadOptions reads)
    : world(seed),
      resp(network, primaries, seed, with_password(std::move(options))),
      reads_(reads.from) {
  resp.cluster().log().keeps_reads = false;
  ClusterConfig config;
  config.kind = EndpointKind::redis;
  config.nodes = resp.addresses();
  config.password = password;
  config.allow_plain_password = true;
  config.keep_alive = 3'600s;
  config.reads = reads.from;
  config.replica_misses = reads.misses;
  config.hedged_reads = reads.hedged;
  const std::vector<std::string>& all = keys_by_slot();
  for (unsigned number = 0; number < clients; ++number) {
    config.user = name_of(number);
    std::vector<std::string> keys;
    for (std::size_t slot = number; slot < all.size(); slot += clients) keys.push_back(all[slot]);
    users_.push_back(
        std::make_unique<SlotUser>(*this, world, network, config, number, std::move(keys)));
  }
}

SlotLoad::~SlotLoad() { rest(); }

void SlotLoad::run(std::chrono::nanoseconds pause) {
  pause_ = pause;
  for (const auto& user : users_) user->go_on();
}

void SlotLoad::rest() {
  for (const auto& user : users_) user->rest();
  const auto still = [this] { return std::ranges::none_of(users_, &SlotUser::busy); };
  for (int i = 0; i < 100 && !still(); ++i) world.run_for(50ms);
  EXPECT_TRUE(still());
}

void SlotLoad::finding(std::string text) {
  if (!text.empty()) findings_.push_back(std::move(text));
}

// ---- changes

std::vector<unsigned> SlotLoad::owners() const {
  std::vector<unsigned> owners(slot_count);
  for (std::size_t slot = 0; slot < slot_count; ++slot) {
    owners[slot] = resp.owner(static_cast<std::uint16_t>(slot));
  }
  return owners;
}

void SlotLoad::wait_for_changes() {
  EXPECT_TRUE(world.run(now() + 600s, [this] { return resp.settled(); }));
}

// Only half of the nodes receive slots at a time, and the others lose some. A node that did both
// could take back what it has just given away, through the epoch that it gets with a new slot.
void SlotLoad::move_all(const Mover& move) {
  const std::vector<unsigned> before = owners();
  std::vector<unsigned> nodes = before;
  std::ranges::sort(nodes);
  nodes.erase(std::ranges::unique(nodes).begin(), nodes.end());
  ASSERT_EQ(nodes.size() % 2, 0u);
  const std::size_t half = nodes.size() / 2;
  for (const bool first_half : {true, false}) {
    std::vector<Shift> shifts;
    for (std::size_t i = 0; i < half; ++i) {
      const unsigned source = first_half ? nodes[i] : nodes[i + half];
      const unsigned target = first_half ? nodes[i + half] : nodes[i];
      for (std::size_t slot = 0; slot < slot_count; ++slot) {
        if (before[slot] != source) continue;
        const auto here = static_cast<std::uint16_t>(slot);
        const bool goes_on = !shifts.empty() && shifts.back().source == source &&
                             shifts.back().slots.last + 1 == here;
        if (!goes_on) shifts.push_back({{here, here}, source, target});
        shifts.back().slots.last = here;
      }
    }
    move(shifts);
    wait_for_changes();
  }
  const std::vector<unsigned> after = owners();
  for (std::size_t slot = 0; slot < slot_count; ++slot) {
    ASSERT_NE(after[slot], before[slot]) << "slot " << slot;
  }
}

std::vector<SlotLoad::Shift> SlotLoad::in_pieces(const std::vector<Shift>& shifts,
                                                 std::size_t slots) {
  std::vector<Shift> pieces;
  for (const Shift& shift : shifts) {
    for (std::size_t first = shift.slots.first; first <= shift.slots.last; first += slots) {
      const std::size_t last = std::min<std::size_t>(first + slots - 1, shift.slots.last);
      pieces.push_back({{static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(last)},
                        shift.source,
                        shift.target});
    }
  }
  return pieces;
}

void SlotLoad::migrate_all(unsigned at_once, std::chrono::nanoseconds about) {
  move_all([&](const std::vector<Shift>& shifts) {
    const std::size_t each = std::max<std::size_t>(1, slot_count / 2 / at_once);
    // A slot takes about eight steps: its states, its two keys and a gap.
    const std::chrono::nanoseconds step = about / 2 / static_cast<std::int64_t>(8 * each);
    for (const Shift& piece : in_pieces(shifts, each)) {
      resp.changes().migrate(piece.slots, piece.source, piece.target, {step, step}, now());
    }
  });
}

void SlotLoad::flip_all(std::size_t slots, std::chrono::nanoseconds about,
                        std::chrono::nanoseconds gap) {
  move_all([&](const std::vector<Shift>& shifts) {
    const auto pieces = in_pieces(shifts, slots);
    for (const Shift& piece : pieces) {
      resp.changes().flip(piece.slots, piece.source, piece.target, {gap, gap}, now());
      world.run_for(about / 2 / static_cast<std::int64_t>(pieces.size()));
    }
  });
}

void SlotLoad::cluster_down(std::chrono::nanoseconds time) {
  resp.go_down_for(time);
  world.run_for(time);
}

void SlotLoad::add_replicas() {
  const unsigned nodes = resp.cluster().size();
  for (unsigned node = 0; node < nodes; ++node) resp.add_replica(node);
  wait_for_changes();
}

void SlotLoad::double_nodes(bool all_at_once, test::resp_model::ChangePace pace) {
  std::vector<unsigned> newcomers;
  const unsigned nodes = resp.cluster().size();
  for (unsigned i = 0; i < nodes; ++i) newcomers.push_back(resp.add_primary());
  wait_for_changes();
  resp.changes().share(newcomers, all_at_once, pace, now());
  wait_for_changes();
  std::vector<std::size_t> slots(2 * nodes);
  for (const unsigned owner : owners()) ++slots[owner];
  for (const std::size_t count : slots) EXPECT_EQ(count, slot_count / (2 * nodes));
}

// ---- judgement

std::int64_t SlotLoad::number_at(const std::string& key) {
  const auto places = resp.cluster().places_of(key, now());
  if (places.empty()) return 0;
  const auto* item = resp.cluster().node(places.front()).keys->find(key, now());
  std::int64_t number = -1;
  std::from_chars(item->value.data(), item->value.data() + item->value.size(), number);
  return places.size() == 1 ? number : -1;
}

void SlotLoad::judge() {
  rest();
  for (std::string& text : order_.judge(resp.stored())) finding(std::move(text));
  order_.forget();
  std::map<std::string, unsigned> carried_out;
  for (const Execution& execution : resp.log().executions()) {
    if (execution.words[0] == "SET") ++carried_out[execution.words[2]];
  }
  for (const auto& [value, times] : sets_) {
    const auto found = carried_out.find(value);
    const unsigned count = found == carried_out.end() ? 0 : found->second;
    if (count >= times.least && count <= times.most) continue;
    finding(value + " was stored " + std::to_string(count) + " times");
  }
  sets_.clear();
  resp.cluster().log().forget_executions();
  for (const auto& user : users_) finding(user->check_counters());
  const auto shown = std::min<std::size_t>(findings_.size(), 10);
  for (std::size_t i = 0; i < shown; ++i) ADD_FAILURE() << findings_[i];
  findings_.clear();
}

std::size_t SlotLoad::forgive() {
  rest();
  return std::exchange(findings_, {}).size();
}

void SlotLoad::expect_no_errors() { expect_only("nothing"); }

void SlotLoad::expect_only(std::string_view text) {
  std::map<std::string, unsigned> others;
  for (const Failed& failed : errors_) {
    if (!failed.text.starts_with(text)) ++others[failed.text];
  }
  std::size_t shown = 0;
  for (const auto& [other, times] : others) {
    if (++shown <= 10) ADD_FAILURE() << times << " times: " << other;
  }
}

void SlotLoad::expect_served_within(std::chrono::nanoseconds time) {
  const Deadline since = now();
  world.run_for(time);
  for (const auto& user : users_) EXPECT_GT(user->last_success(), since);
  const std::size_t before = errors();
  world.run_for(1s);
  for (std::size_t i = before; i < errors(); ++i) ADD_FAILURE() << errors_[i].text;
}

double SlotLoad::fetches_per_client() const {
  return static_cast<double>(resp.log().fetches()) / static_cast<double>(users_.size());
}

double SlotLoad::share_of_replicas() {
  std::uint64_t all = 0;
  std::uint64_t of_replicas = 0;
  for (const auto& user : users_) {
    const cluster::Topology& topology = user->client().cluster().topology();
    for (const NodeStats& stats : user->client().cluster().nodes().stats()) {
      all += stats.replies;
      if (topology.find(stats.node)->is_replica()) of_replicas += stats.replies;
    }
  }
  return static_cast<double>(of_replicas) / static_cast<double>(all);
}

// A request for the map may wait for its connection, so it can arrive late.
void SlotLoad::expect_calm_fetches() const {
  const auto fetches = resp.log().fetch_times();
  EXPECT_EQ(fetches.size(), users_.size());
  for (const auto& [client, times] : fetches) {
    for (std::size_t i = 1; i < times.size(); ++i) {
      EXPECT_GE(times[i] - times[i - 1], 995ms) << client;
    }
  }
}

}  // namespace sheaf::sim

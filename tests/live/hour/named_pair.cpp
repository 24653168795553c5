#include "tests/live/hour/named_pair.h"

#ifdef SHEAF_TEST_REDIS_SERVERS

#include <future>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "tests/contract/endpoints.h"
#include "tests/live/hour/hour_cluster.h"
#include "tests/support/garnet_process.h"
#include "tests/support/names.h"
#include "tests/support/redis_process.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf::test {
namespace {

const std::string pair_name = "pair.sheaf.test";
constexpr std::array<const char*, 2> addresses{"127.0.0.1", "127.0.0.2"};

// As a client sends it.
std::string in_the_protocol(const std::string& command) {
  std::istringstream words(command);
  std::string all;
  std::size_t count = 0;
  for (std::string word; words >> word; ++count) {
    all += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  }
  return "*" + std::to_string(count) + "\r\n" + all;
}

std::string text_after(const std::string& text, const std::string& begin) {
  const std::size_t at = text.find(begin);
  if (at == std::string::npos) return {};
  const std::size_t from = at + begin.size();
  return text.substr(from, text.find_first_of(",\r\n", from) - from);
}

SlotSet all_slots_of_the_pair() { return SlotSet().set(); }

}  // namespace

NamedPair::NamedPair(RespSoftware software, const ClusterObserver& machine, HourRecord& record,
                     std::uint64_t seed)
    : software_(software), record_(record), judge_(machine) {
  start(0);
  start(1);
  if (replicates()) {
    replicate(1, port(), addresses[0]);
    wait_until_replicated();
  } else {
    warm_up(1);
  }
  name_leads_to(0);
  const std::string uri = "redis://" + pair_name + ":" + std::to_string(port());
  const HourLoad::Surroundings surroundings{.record = record_, .judge = judge_, .losses = losses_};
  const std::vector<HourLoad::Whose> all = {
      {.mark = "N", .keys = "named", .uri = uri},
      {.mark = "R", .keys = "ring", .uri = uri + "?routing=ring"}};
  for (const HourLoad::Whose& whose : all) {
    loads_.push_back(std::make_unique<HourLoad>(surroundings, whose, seed + loads_.size()));
  }
}

void NamedPair::finish() {
  for (const auto& load : loads_) load->stop();
  record_.add_failures(judge_.violations(), judge_.findings());
}

// ---- the servers

// A name cannot lead to another port, so the second server uses the same one at another address.
void NamedPair::start(std::size_t index) {
  RespProcessOptions each;
  each.address = addresses.at(index);
  if (index == 1) each.port = port();
  if (replicates()) {
    RedisOptions redis;
    static_cast<RespProcessOptions&>(redis) = each;
    redis.software = software_;
    servers_.at(index) = std::make_unique<RedisProcess>(redis);
  } else {
    servers_.at(index) = std::make_unique<GarnetProcess>(each);
  }
}

std::string NamedPair::ask(std::size_t index, const std::string& command) {
  auto& wire = wires_.at(index);
  if (!wire) wire = connect_tcp_at(addresses.at(index), port());
  wire->send(in_the_protocol(command));
  std::string answer;
  std::size_t wanted = std::string::npos;
  while (answer.size() < wanted) {
    const auto more = wire->receive(std::chrono::minutes(1));
    if (!more || more->empty()) throw std::runtime_error("no answer to " + command);
    answer += *more;
    const std::size_t line = answer.find("\r\n");
    if (line == std::string::npos) continue;
    wanted = line + 2;
    if (answer.starts_with('$')) wanted += std::stoul(answer.substr(1, line - 1)) + 2;
  }
  return answer;
}

void NamedPair::expect_ok(std::size_t index, const std::string& command) {
  const std::string answer = ask(index, command);
  if (!answer.starts_with("+OK")) throw std::runtime_error(command + ": " + answer);
}

void NamedPair::replicate(std::size_t index, std::uint16_t from, const std::string& address) {
  expect_ok(index, "REPLICAOF " + address + " " + std::to_string(from));
}

void NamedPair::wait_until_online() {
  wait_for_condition("the replica replicates",
                     [this] { return ask(primary_, "INFO replication").contains("state=online"); });
}

// Until the replica has all that the primary has executed, which executes no writes meanwhile.
void NamedPair::wait_until_replicated() {
  wait_for_condition("the replica has everything", [this] {
    const std::string state = ask(primary_, "INFO replication");
    const std::string offset = text_after(state, "master_repl_offset:");
    return state.contains("state=online") && text_after(state, ",offset=") == offset;
  });
}

// ---- events

NamedPair::Event NamedPair::begin(std::string name, bool loses) {
  Event event{.name = std::move(name), .permission = judge_.allow(all_slots_of_the_pair())};
  if (loses) event.loss = losses_.begin(all_slots_of_the_pair());
  return event;
}

void NamedPair::name_leads_to(std::size_t index) {
  Names::instance().lead(pair_name, {addresses.at(index)});
}

void NamedPair::promote_other() {
  if (replicates()) expect_ok(other(), "REPLICAOF NO ONE");
  name_leads_to(other());
}

void NamedPair::follow(std::size_t old) {
  if (!replicates()) return warm_up(old);
  replicate(old, port(), addresses.at(primary_));
  wait_until_online();
}

// A Garnet compiles its code when it is used first, which takes seconds on a busy machine.
void NamedPair::warm_up(std::size_t index) {
  for (const char* const routing : {"", "?routing=ring"}) {
    Client client = open(std::string("redis://") + addresses.at(index) + ":" +
                         std::to_string(port()) + routing);
    comes_true([&] { return client.set("warm", "v") && client.get("warm"); });
  }
}

// The old primary answers the writes that it holds when it is a replica: none of them is lost.
void NamedPair::demote_and_move() {
  const Event event = begin("name moves, old server refuses", false);
  const std::size_t old = primary_;
  expect_ok(old, "CLIENT PAUSE 60000 WRITE");
  wait_until_replicated();
  promote_other();
  replicate(old, dead_.number(), addresses[0]);
  expect_ok(old, "CLIENT UNPAUSE");
  end(event);
  follow(old);
}

void NamedPair::kill_and_move() {
  const Event event = begin("name moves, old server killed", true);
  const std::size_t old = primary_;
  wires_.at(old).reset();
  servers_.at(old)->kill();
  promote_other();
  end(event);
  servers_.at(old)->restart();
  follow(old);
}

void NamedPair::end(const Event& event) {
  primary_ = other();
  expect_ok(primary_, "SET marker " + std::to_string(++marker_));
  const auto said = Clock::now();
  judge_.end(event.permission, said);
  if (event.loss) losses_.end(*event.loss, said);
  std::vector<std::future<std::optional<Clock::time_point>>> backs;
  for (const auto& load : loads_) {
    backs.push_back(
        std::async(std::launch::async, [this, &load] { return time_of_return(*load); }));
  }
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    const auto back = backs[i].get();
    if (back) {
      record_.back(event.name, *back - said, CallJudge::settling + judge_.allowance());
    } else {
      record_.not_back(event.name);
      loads_[i]->reopen();
    }
  }
  const auto over = said + CallJudge::settling + judge_.allowance();
  wait_for_condition("no call may fail any more", [&] { return Clock::now() > over; });
  for (const auto& load : loads_) {
    const auto marker = marker_of(*load);
    if (!marker || *marker == std::to_string(marker_)) continue;
    record_.found(Breach::stale, event.name + ": an older marker is read, " + *marker);
  }
}

std::optional<NamedPair::Clock::time_point> NamedPair::time_of_return(HourLoad& load) const {
  if (!comes_true([&] { return is_back(load); })) return std::nullopt;
  return Clock::now();
}

bool NamedPair::is_back(HourLoad& load) const {
  const auto set = load.client().set("probe", "v", {.timeout = probe_time});
  return set && marker_of(load) == std::to_string(marker_);
}

std::optional<std::string> NamedPair::marker_of(HourLoad& load) {
  const auto got = load.client().get("marker", {.timeout = probe_time});
  if (!got) return std::nullopt;
  return *got ? (*got)->data : "none";
}

}  // namespace sheaf::test

#endif

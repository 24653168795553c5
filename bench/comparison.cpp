#include "bench/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "bench/counted_calls.h"
#include "tests/support/counted_heap.h"

namespace bench {
namespace {

std::vector<double> sorted(const std::vector<Round>& rounds, double Round::* field) {
  std::vector<double> values;
  for (const Round& round : rounds) values.push_back(round.*field);
  std::ranges::sort(values);
  return values;
}

// The columns after the rates.
struct Figure {
  const char* title;
  const char* name;  // in JSON
  double Round::* field;
  int decimals;
};
constexpr Figure figures[] = {{"p50 us", "p50_us", &Round::p50_us, 1},
                              {"p99 us", "p99_us", &Round::p99_us, 1},
                              {"p99.9 us", "p999_us", &Round::p999_us, 1},
                              {"cpu us/op", "cpu_us", &Round::cpu_us, 2},
                              {"servers", "servers_us", &Round::servers_us, 2},
                              {"waits/op", "waits", &Round::waits, 2},
                              {"lost/op", "losses", &Round::losses, 2},
                              {"calls/op", "system_calls", &Round::system_calls, 2},
                              {"allocs/op", "allocations", &Round::allocations, 2}};

// A round whose rate does not count. A machine that is busy may leave a short one no operation.
Round counted_round(const Contestant& peer, std::chrono::milliseconds length) {
  const CountedCalls counted;
  Round round;
  while (round.operations == 0) round = peer.round(length);
  round.system_calls = counted.system_calls() / round.operations;
  round.allocations = counted.allocations() / round.operations;
  return round;
}

// A member of an object in JSON, and a comma. A round without operations has no ratio, and JSON no
// infinity.
std::string member(const std::string& name, double value) {
  char text[32] = "null";
  if (std::isfinite(value)) std::snprintf(text, sizeof text, "%.6g", value);
  return "\"" + name + "\": " + text + ", ";
}
std::string member(const std::string& name, const std::string& text) {
  return "\"" + name + "\": \"" + text + "\", ";
}
std::string object(std::string members) {
  if (members.ends_with(", ")) members.resize(members.size() - 2);
  return "{" + members + "}";
}

}  // namespace

bool Schedule::take(const std::string& name, const std::string& value) {
  if (name == "--rounds") {
    rounds = static_cast<int>(number(name, value, 10'000));
  } else if (name == "--openings") {
    openings = static_cast<int>(number(name, value, 1'000));
  } else if (name == "--milliseconds") {
    length = std::chrono::milliseconds(number(name, value, 60'000));
  } else {
    return false;
  }
  return true;
}

bool Setup::take(const std::string& name, const std::string& value) {
  if (name != "--json") return schedule.take(name, value) || bed.take(name, value);
  if (!std::ofstream(value, std::ios::app)) {
    throw std::invalid_argument("--json: cannot write '" + value + "'");
  }
  json = value;
  return true;
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts(1);
  for (const char c : list) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

unsigned number(const std::string& option, const std::string& text, unsigned most, unsigned least) {
  char* end = nullptr;
  const unsigned long value = std::strtoul(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < least || value > most) {
    throw std::invalid_argument(option + ": '" + text + "' is not a number from " +
                                std::to_string(least) + " to " + std::to_string(most));
  }
  return static_cast<unsigned>(value);
}

int run_program(const char* name, const std::function<void()>& body) {
  sheaf::test::count_heap(false);
  try {
    body();
    return 0;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 3;
  }
}

Comparison::Comparison(const Schedule& schedule,
                       const std::function<std::vector<Contestant>()>& open) {
  for (int opening = 0; opening < schedule.openings; ++opening) run(schedule, open());
}

// Runs the rounds of one opening.
void Comparison::run(const Schedule& schedule, const std::vector<Contestant>& peers) {
  if (rows_.empty()) {
    for (const Contestant& peer : peers) rows_.push_back({peer.name, {}});
    order_.emplace(peers.size());
  }
  for (const Contestant& peer : peers) peer.round(schedule.length / 4);  // warm-up
  std::vector<Round> counted;
  for (const Contestant& peer : peers) counted.push_back(counted_round(peer, schedule.length));
  for (int turn = 0; turn < schedule.rounds; ++turn) {
    for (const std::size_t i : order_->next()) {
      Round round = peers[i].round(schedule.length);
      round.system_calls = counted[i].system_calls;
      round.allocations = counted[i].allocations;
      rows_[i].rounds.push_back(round);
    }
  }
}

const Comparison::Row* Comparison::find(const std::string& name) const {
  const auto found = std::ranges::find(rows_, name, &Row::name);
  return found == rows_.end() ? nullptr : &*found;
}

double Comparison::ratio(const std::string& mine, const std::string& other) const {
  const Row* const above = find(mine);
  const Row* const below = find(other);
  std::vector<double> values;
  for (std::size_t i = 0; above != nullptr && below != nullptr && i < above->rounds.size(); ++i) {
    values.push_back(above->rounds[i].per_second / below->rounds[i].per_second);
  }
  return median(std::move(values));
}

void Comparison::print(unsigned keys, std::span<const Column> columns) const {
  std::printf("%-18s %9s %9s %9s %10s", "", "ops/s", "low", "high", "keys/s");
  for (const Figure& figure : figures) std::printf(" %9s", figure.title);
  for (const Column& column : columns) std::printf(" %9s", column.title.c_str());
  std::printf("\n");
  for (const Row& row : rows_) {
    const std::vector<double> rates = sorted(row.rounds, &Round::per_second);
    const double rate = median(rates);
    std::printf("%-18s %9.0f %9.0f %9.0f %10.0f", row.name.c_str(), rate, rates.front(),
                rates.back(), rate * keys);
    for (const Figure& figure : figures) {
      std::printf(" %9.*f", figure.decimals, median(sorted(row.rounds, figure.field)));
    }
    for (const Column& column : columns) std::printf(" %9.2f", ratio(row.name, column.other));
    std::printf("\n");
  }
  std::fflush(stdout);
}

// The members of one contestant.
std::string Comparison::json(const Row& row, std::span<const Column> columns) const {
  const std::vector<double> rates = sorted(row.rounds, &Round::per_second);
  std::string out =
      member("rate", median(rates)) + member("low", rates.front()) + member("high", rates.back());
  for (const Figure& figure : figures) {
    out += member(figure.name, median(sorted(row.rounds, figure.field)));
  }
  std::string ratios;
  for (const auto& [title, other] : columns) {
    if (other != row.name && find(other) != nullptr)
      ratios += member(other, ratio(row.name, other));
  }
  return object(out + "\"ratios\": " + object(ratios));
}

void Comparison::append(const Setup& setup, const TestBed& bed, const Cell& cell,
                        std::span<const Column> columns) const {
  if (setup.json.empty()) return;
  std::string contestants;
  for (const Row& row : rows_) contestants += "\"" + row.name + "\": " + json(row, columns) + ", ";
  const std::string line =
      object(member("program", cell.program) + member("work", cell.work) +
             member("servers", cell.servers) + member("threads", cell.threads) +
             member("busy", bed.options().busy) + member("placement", bed.options().placement) +
             member("processors", bed.processors()) + member("openings", setup.schedule.openings) +
             member("rounds", setup.schedule.rounds) +
             member("milliseconds", static_cast<double>(setup.schedule.length.count())) +
             "\"contestants\": " + object(contestants));
  std::ofstream file(setup.json, std::ios::app);
  if (!(file << line << std::endl)) throw std::runtime_error("cannot write " + setup.json);
}

}  // namespace bench

#include "bench/comparison.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <utility>

namespace bench {
namespace {

std::vector<double> sorted(const std::vector<Round>& rounds, double Round::* field) {
  std::vector<double> values;
  for (const Round& round : rounds) values.push_back(round.*field);
  std::ranges::sort(values);
  return values;
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
  return schedule.take(name, value) || bed.take(name, value);
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
  }
  for (const Contestant& peer : peers) peer.round(schedule.length / 4);  // warm-up
  for (int round = 0; round < schedule.rounds; ++round) {
    for (std::size_t i = 0; i < peers.size(); ++i) {
      const std::size_t turn = (i + static_cast<std::size_t>(round)) % peers.size();
      rows_[turn].rounds.push_back(peers[turn].round(schedule.length));
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
  std::printf("%-18s %9s %9s %9s %10s %9s %9s %9s %9s %9s %9s", "", "ops/s", "low", "high",
              "keys/s", "p50 us", "p99 us", "cpu us/op", "servers", "waits/op", "lost/op");
  for (const Column& column : columns) std::printf(" %9s", column.title.c_str());
  std::printf("\n");
  for (const Row& row : rows_) {
    const std::vector<double> rates = sorted(row.rounds, &Round::per_second);
    const double rate = median(rates);
    std::printf(
        "%-18s %9.0f %9.0f %9.0f %10.0f %9.1f %9.1f %9.2f %9.2f %9.2f %9.2f", row.name.c_str(),
        rate, rates.front(), rates.back(), rate * keys, median(sorted(row.rounds, &Round::p50_us)),
        median(sorted(row.rounds, &Round::p99_us)), median(sorted(row.rounds, &Round::cpu_us)),
        median(sorted(row.rounds, &Round::servers_us)), median(sorted(row.rounds, &Round::waits)),
        median(sorted(row.rounds, &Round::losses)));
    for (const Column& column : columns) std::printf(" %9.2f", ratio(row.name, column.other));
    std::printf("\n");
  }
  std::fflush(stdout);
}

}  // namespace bench

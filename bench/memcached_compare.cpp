// memcached_compare [OPTIONS]: sheaf beside libmemcached on real memcached servers, which it starts
// itself; raw sockets beside them as the limits. See docs/performance.md.
//
//   --servers 1,4,8            fleets
//   --threads 1,8
//   --work get,set,10,100,1000 a number: a get of that many keys at once
//   --peers raw,lib-binary,... which contestants: raw, raw-pipelined, lib-binary, lib-text,
//                              lib-text-cas (its text protocol with versions, as sheaf's gets),
//                              lib-noreply (sets that nobody acknowledges), sheaf-meta,
//                              sheaf-binary; sheaf-meta-each (a client for each thread);
//                              sheaf-meta-sleep, sheaf-binary-sleep (spin=false)
//   --rounds N --milliseconds M  of one contestant, after each opening
//   --openings N               how often all contestants are opened anew: which of its threads a
//                              server gives to a connection, and where that runs, is luck
//   --quick                    two short rounds on one fleet: does it still work?
//
// Every contestant runs once a round, in turn; medians over all rounds, ratios as medians of the
// ratios within a round. Exit status 0; 2: bad option; 3: an operation failed or gave a wrong
// value.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

#include "bench/memcached_peers.h"
#include "tests/support/memcached_process.h"

namespace {

using bench::Contestant;
using bench::Data;
using bench::Job;
using bench::LibKind;
using bench::Round;
using bench::SheafKind;
using bench::Work;
using sheaf::MemcachedProtocol;
using sheaf::test::MemcachedProcess;
using Rounds = std::vector<Round>;

struct Options {
  std::vector<std::string> servers{"1", "4", "8"};
  std::vector<std::string> threads{"1", "8"};
  std::vector<std::string> work{"get", "set", "10", "100", "1000"};
  std::vector<std::string> peers{"raw",      "raw-pipelined", "lib-binary",
                                 "lib-text", "sheaf-meta",    "sheaf-binary"};
  int rounds = 5;
  int openings = 3;
  std::chrono::milliseconds length{200};
};

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

unsigned number(const std::string& text, unsigned most) {
  char* end = nullptr;
  const unsigned long value = std::strtoul(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < 1 || value > most) {
    throw std::invalid_argument("'" + text + "' is no number from 1 to " + std::to_string(most));
  }
  return static_cast<unsigned>(value);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--quick") {
      options.servers = {"3"};
      options.peers.push_back("lib-noreply");
      options.rounds = 2;
      options.openings = 1;
      options.length = std::chrono::milliseconds(5);
      continue;
    }
    const std::string value = i + 1 < argc ? argv[++i] : "";
    if (name == "--servers") {
      options.servers = split(value);
    } else if (name == "--threads") {
      options.threads = split(value);
    } else if (name == "--work") {
      options.work = split(value);
    } else if (name == "--peers") {
      options.peers = split(value);
    } else if (name == "--rounds") {
      options.rounds = static_cast<int>(number(value, 10'000));
    } else if (name == "--openings") {
      options.openings = static_cast<int>(number(value, 1'000));
    } else if (name == "--milliseconds") {
      options.length = std::chrono::milliseconds(number(value, 60'000));
    } else {
      throw std::invalid_argument("unknown option " + name);
    }
  }
  return options;
}

Job job_of(const std::string& work, const std::string& threads) {
  Job job;
  job.threads = number(threads, 8);
  if (work == "set") {
    job.work = Work::set;
  } else if (work != "get") {
    job.work = Work::get_many;
    job.keys = number(work, 1'000);
    if (Data::count % job.keys != 0) throw std::invalid_argument(work + " does not divide 4000");
  }
  return job;
}

Contestant open_peer(const std::string& name, const Data& data, const Job& job) {
  if (name == "raw" || name == "raw-pipelined") return memcached_raw(data, job, name != "raw");
  if (name == "lib-binary") return memcached_lib(data, job, LibKind::binary);
  if (name == "lib-text-cas") return memcached_lib(data, job, LibKind::text_versions);
  if (name == "lib-text") return memcached_lib(data, job, LibKind::text);
  if (name == "lib-noreply") return memcached_lib(data, job, LibKind::unacknowledged);
  const std::pair<const char*, SheafKind> kinds[] = {
      {"sheaf-meta", {}},
      {"sheaf-binary", {.protocol = MemcachedProtocol::binary}},
      {"sheaf-meta-each", {.each = true}},
      {"sheaf-meta-each-sleep", {.spin = false, .each = true}},
      {"sheaf-meta-sleep", {.spin = false}},
      {"sheaf-binary-sleep", {.protocol = MemcachedProtocol::binary, .spin = false}},
  };
  for (const auto& [known, kind] : kinds) {
    if (name == known) return memcached_sheaf(data, job, kind);
  }
  throw std::invalid_argument("unknown peer " + name);
}

// The contestants of one cell and what they did.
struct Cell {
  std::vector<Contestant> peers;
  std::vector<Rounds> results;

  const Rounds* find(const std::string& name) const {
    for (std::size_t i = 0; i < peers.size(); ++i) {
      if (peers[i].name == name) return &results[i];
    }
    return nullptr;
  }
};

std::vector<double> column(const Rounds& rounds, double Round::* field) {
  std::vector<double> values;
  for (const Round& round : rounds) values.push_back(round.*field);
  std::ranges::sort(values);
  return values;
}

// The median of the ratios within a round; 0 without the other.
double ratio(const Rounds& mine, const Rounds* other) {
  std::vector<double> values;
  for (std::size_t i = 0; other != nullptr && i < mine.size(); ++i) {
    values.push_back(mine[i].per_second / (*other)[i].per_second);
  }
  return bench::median(std::move(values));
}

void print(const Cell& cell, const Job& job) {
  std::printf("%-18s %9s %9s %9s %10s %9s %9s %9s %7s %7s %7s\n", "", "ops/s", "low", "high",
              "keys/s", "p50 us", "p99 us", "cpu us/op", "/binary", "/text", "/raw");
  const char* const limit = job.work == Work::get_many ? "raw-pipelined" : "raw";
  for (std::size_t i = 0; i < cell.peers.size(); ++i) {
    const Rounds& rounds = cell.results[i];
    const std::vector<double> rates = column(rounds, &Round::per_second);
    const double rate = bench::median(rates);
    std::printf("%-18s %9.0f %9.0f %9.0f %10.0f %9.1f %9.1f %9.2f %7.2f %7.2f %7.2f\n",
                cell.peers[i].name.c_str(), rate, rates.front(), rates.back(), rate * job.keys,
                bench::median(column(rounds, &Round::p50_us)),
                bench::median(column(rounds, &Round::p99_us)),
                bench::median(column(rounds, &Round::cpu_us)),
                ratio(rounds, cell.find("lib-binary")), ratio(rounds, cell.find("lib-text")),
                ratio(rounds, cell.find(limit)));
  }
}

// What sheaf's meta is beside the better of libmemcached's protocols, its binary beside its binary;
// 0 if nothing is there to compare with.
double verdict(const Cell& cell, const std::string& sheaf) {
  const Rounds* const mine = cell.find(sheaf);
  if (mine == nullptr) return 0;
  const double binary = ratio(*mine, cell.find("lib-binary"));
  const double text = ratio(*mine, cell.find("lib-text"));
  if (sheaf == "sheaf-binary") return binary;
  return binary == 0 || text == 0 ? std::max(binary, text) : std::min(binary, text);
}

// The rounds of one opening.
void run_rounds(const Options& options, const Data& data, const Job& job, Cell& cell) {
  cell.peers.clear();
  for (const std::string& name : options.peers) {
    if (name == "lib-noreply" && job.work != Work::set) continue;
    cell.peers.push_back(open_peer(name, data, job));
  }
  cell.results.resize(cell.peers.size());
  for (const Contestant& peer : cell.peers) peer.round(options.length / 4);  // warm-up
  for (int round = 0; round < options.rounds; ++round) {
    for (std::size_t i = 0; i < cell.peers.size(); ++i) {
      const std::size_t turn = (i + static_cast<std::size_t>(round)) % cell.peers.size();
      cell.results[turn].push_back(cell.peers[turn].round(options.length));
    }
  }
}

Cell run_cell(const Options& options, const Data& data, const Job& job) {
  Cell cell;
  for (int opening = 0; opening < options.openings; ++opening) {
    run_rounds(options, data, job, cell);
  }
  return cell;
}

std::string run_fleet(const Options& options, unsigned servers) {
  std::vector<std::unique_ptr<MemcachedProcess>> processes;
  std::vector<bench::Target> targets;
  for (unsigned i = 0; i < servers; ++i) {
    processes.push_back(std::make_unique<MemcachedProcess>());
    targets.push_back({"127.0.0.1", processes.back()->port()});
  }
  const Data data(targets);
  std::string summary;
  for (const std::string& work : options.work) {
    for (const std::string& threads : options.threads) {
      const Job job = job_of(work, threads);
      const std::string what = job.work == Work::get_many ? "get of " + work + " keys" : work;
      std::printf("\n%s, %u server(s), %u thread(s)\n", what.c_str(), servers, job.threads);
      const Cell cell = run_cell(options, data, job);
      print(cell, job);
      std::fflush(stdout);
      char line[160];
      std::snprintf(line, sizeof line,
                    "%-16s %2u server(s) %u thread(s)   meta %5.2f  binary %5.2f\n", what.c_str(),
                    servers, job.threads, verdict(cell, "sheaf-meta"),
                    verdict(cell, "sheaf-binary"));
      summary += line;
    }
  }
  return summary;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse(argc, argv);
    std::string summary;
    for (const std::string& servers : options.servers) {
      summary += run_fleet(options, number(servers, 64));
    }
    std::printf(
        "\nops/s: sheaf's meta / the better of libmemcached's protocols, binary / binary\n%s",
        summary.c_str());
    return 0;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "memcached_compare: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "memcached_compare: %s\n", error.what());
    return 3;
  }
}

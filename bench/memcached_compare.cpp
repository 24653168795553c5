// memcached_compare [OPTIONS]: compares sheaf with libmemcached on real memcached servers, which it
// starts itself, and with raw sockets as the limits. See docs/performance.md.
//
//   --servers 1,4,8            fleets
//   --threads 1,8
//   --work get,set,10,100,1000 a number: a get of that many keys at once
//   --peers raw,lib-binary,... which contestants: raw, raw-pipelined, lib-binary, lib-text,
//                              lib-text-cas (its text protocol with versions, as sheaf's gets),
//                              lib-noreply (sets without acknowledgement), sheaf-meta,
//                              sheaf-binary; sheaf-meta-each (a client for each thread);
//                              sheaf-meta-sleep, sheaf-binary-sleep (spin=false);
//                              sheaf-meta-shared (extra_connections=0), sheaf-meta-pool (the same
//                              with pool_max=8)
//   --rounds N --milliseconds M  for one contestant, after each opening
//   --openings N               how often all contestants are opened; it is luck which of its
//                              threads a server gives to a connection, and where that runs
//   --busy N                   processes that only compute meanwhile
//   --placement free|same|split  same: the servers and this process on one processor; split: on one
//                              half of the processors each
//   --json FILE                adds a line for each cell to this file
//   --quick                    two short rounds on one fleet: does it still work?
//
// Each round runs every contestant once, in an order of its own. Prints medians over all rounds; a
// ratio is the median of the ratios within a round. Exit status 0; 2: bad option; 3: an operation
// failed or gave a wrong value.

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "bench/comparison.h"
#include "bench/memcached_peers.h"
#include "tests/support/memcached_process.h"

namespace {

using bench::Comparison;
using bench::Contestant;
using bench::Data;
using bench::Job;
using bench::LibKind;
using bench::number;
using bench::Work;
using sheaf::MemcachedProtocol;
using sheaf::test::MemcachedProcess;

struct Options {
  std::vector<std::string> servers{"1", "4", "8"};
  std::vector<std::string> threads{"1", "8"};
  std::vector<std::string> work{"get", "set", "10", "100", "1000"};
  std::vector<std::string> peers{"raw",      "raw-pipelined", "lib-binary",
                                 "lib-text", "sheaf-meta",    "sheaf-binary"};
  bench::Setup setup;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--quick") {
      options.servers = {"3"};
      options.peers.push_back("lib-noreply");
      options.setup.schedule = bench::Schedule::quick();
      continue;
    }
    const std::string value = i + 1 < argc ? argv[++i] : "";
    if (name == "--servers") {
      options.servers = bench::split(value);
    } else if (name == "--threads") {
      options.threads = bench::split(value);
    } else if (name == "--work") {
      options.work = bench::split(value);
    } else if (name == "--peers") {
      options.peers = bench::split(value);
    } else if (!options.setup.take(name, value)) {
      throw std::invalid_argument("unknown option " + name);
    }
  }
  return options;
}

Job job_of(const std::string& work, const std::string& threads) {
  Job job;
  job.threads = number("--threads", threads, 32);
  if (work == "set") {
    job.work = Work::set;
  } else if (work != "get") {
    job.work = Work::get_many;
    job.keys = number("--work", work, 1'000);
    if (Data::count % job.keys != 0) {
      throw std::invalid_argument("--work: " + work + " does not divide 4000");
    }
  }
  return job;
}

struct SheafKind {
  MemcachedProtocol protocol = MemcachedProtocol::meta;
  bool spin = true;
  bool each = false;
  std::optional<unsigned> pool = std::nullopt;  // pool_max, without extra connections
};

Contestant open_sheaf(const std::string& name, const Data& data, const Job& job,
                      const SheafKind& kind) {
  sheaf::ClusterConfig config = config_of(data);
  config.protocol = kind.protocol;
  config.spin = kind.spin;
  if (kind.pool) {
    config.extra_connections = 0;
    config.pool_max = *kind.pool;
  }
  return fleet_sheaf(data, job, name, config, kind.each);
}

Contestant open_peer(const std::string& name, const Data& data, const Job& job) {
  if (name == "raw" || name == "raw-pipelined") return fleet_raw(data, job, name != "raw");
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
      {"sheaf-meta-shared", {.pool = 1}},
      {"sheaf-meta-pool", {.pool = 8}},
      {"sheaf-binary-sleep", {.protocol = MemcachedProtocol::binary, .spin = false}},
  };
  for (const auto& [known, kind] : kinds) {
    if (name == known) return open_sheaf(name, data, job, kind);
  }
  throw std::invalid_argument("unknown peer " + name);
}

Comparison compare(const Options& options, const Data& data, const Job& job) {
  return Comparison(options.setup.schedule, [&] {
    std::vector<Contestant> peers;
    for (const std::string& name : options.peers) {
      if (name == "lib-noreply" && job.work != Work::set) continue;
      peers.push_back(open_peer(name, data, job));
    }
    return peers;
  });
}

// The ratio of sheaf-meta to the better of libmemcached's protocols, or of sheaf-binary to the
// binary one; 0 if there is nothing to compare with.
double verdict(const Comparison& cell, const std::string& sheaf) {
  const double binary = cell.ratio(sheaf, "lib-binary");
  const double text = cell.ratio(sheaf, "lib-text");
  if (sheaf == "sheaf-binary") return binary;
  return binary == 0 || text == 0 ? std::max(binary, text) : std::min(binary, text);
}

std::string run_fleet(const Options& options, const bench::TestBed& bed, unsigned servers) {
  std::vector<std::unique_ptr<MemcachedProcess>> processes;
  std::vector<bench::Target> targets;
  bed.start_servers([&] {
    for (unsigned i = 0; i < servers; ++i) {
      processes.push_back(std::make_unique<MemcachedProcess>());
      targets.push_back({"127.0.0.1", processes.back()->port()});
    }
  });
  const std::string uri = "memcached://" + list_of(targets) + "?ring=libmemcached-weighted";
  const Data data(targets, uri, bench::memcached_wire);
  std::string summary;
  for (const std::string& work : options.work) {
    for (const std::string& threads : options.threads) {
      const Job job = job_of(work, threads);
      const std::string what = job.work == Work::get_many ? "get of " + work + " keys" : work;
      std::printf("\n%s, %u server(s), %u thread(s)\n", what.c_str(), servers, job.threads);
      const Comparison cell = compare(options, data, job);
      const Comparison::Column columns[] = {
          {"/binary", "lib-binary"},
          {"/text", "lib-text"},
          {"/raw", job.work == Work::get_many ? "raw-pipelined" : "raw"}};
      cell.print(job.keys, columns);
      cell.append(options.setup, bed, {"memcached_compare", work, servers, job.threads}, columns);
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
  return bench::run_program("memcached_compare", [&] {
    const Options options = parse(argc, argv);
    const bench::TestBed bed(options.setup.bed);
    std::string summary;
    for (const std::string& servers : options.servers) {
      summary += run_fleet(options, bed, number("--servers", servers, 64));
    }
    std::printf(
        "\nops/s: sheaf's meta / the better of libmemcached's protocols, binary / binary\n%s",
        summary.c_str());
  });
}

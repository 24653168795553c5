// redis_compare [OPTIONS]: compares sheaf with hiredis on real Redis servers, which it starts
// itself, and with raw sockets as the limits. See docs/performance.md.
//
//   --cells get/1,1000/8,...  work and threads (at most 32): get, set, or a number: a get of that
//                             many keys at once, from a single server; exec-100: as many GETs as
//                             commands of the user;
//                             cluster-get, cluster-set, cluster-100: on a cluster
//   --primaries 3             of the cluster
//   --peers raw,hiredis,...   which contestants: raw, raw-pipelined, hiredis (a connection for each
//                             thread), hiredis-mget (the same, with one MGET), sheaf (one
//                             client for all threads), sheaf-each (a client for each thread);
//                             sheaf-sleep, sheaf-each-sleep (spin=false)
//   --rounds N --milliseconds M  for one contestant, after each opening
//   --openings N              how often all contestants are opened
//   --busy N                  processes that only compute meanwhile
//   --placement free|same|split  same: the servers and this process on one processor; split: on one
//                             half of the processors each
//   --json FILE               adds a line for each cell to this file
//   --quick                   two short rounds of every cell: does it still work?
//
// Each round runs every contestant once, in an order of its own. Prints medians over all rounds; a
// ratio is the median of the ratios within a round. Exit status 0; 2: bad option; 3: an operation
// failed or gave a wrong value.

#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "bench/comparison.h"
#include "bench/redis_peers.h"
#include "tests/support/redis_process.h"
#include "tests/support/resp_cluster.h"

namespace {

using bench::Comparison;
using bench::Contestant;
using bench::Data;
using bench::Job;
using bench::Target;
using bench::Work;
using sheaf::test::RedisProcess;
using sheaf::test::RespCluster;
using sheaf::test::RespClusterOptions;

struct Options {
  std::vector<std::string> cells{"get/1",  "get/8",  "get/32", "set/1",         "set/8",
                                 "set/32", "1000/1", "1000/8", "cluster-100/1", "cluster-100/8"};
  std::vector<std::string> peers{"raw", "raw-pipelined", "hiredis", "sheaf", "sheaf-each"};
  unsigned primaries = 3;
  bench::Setup setup;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--quick") {
      options.setup.schedule = bench::Schedule::quick();
      continue;
    }
    const std::string value = i + 1 < argc ? argv[++i] : "";
    if (name == "--cells") {
      options.cells = bench::split(value);
    } else if (name == "--peers") {
      options.peers = bench::split(value);
    } else if (name == "--primaries") {
      options.primaries = bench::number(name, value, 64);
    } else if (!options.setup.take(name, value)) {
      throw std::invalid_argument("unknown option " + name);
    }
  }
  return options;
}

struct Cell {
  Job job;
  unsigned servers = 1;
  bool cluster = false;
  std::string work;
  std::string title;
};

Cell cell_of(const std::string& text, unsigned primaries) {
  constexpr std::string_view on_cluster = "cluster-";
  Cell cell;
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos)
    throw std::invalid_argument("--cells: '" + text + "' does not name a number of threads");
  cell.job.threads = bench::number("--cells", text.substr(slash + 1), 32);
  std::string work = text.substr(0, slash);
  if (work.starts_with(on_cluster)) {
    cell.cluster = true;
    cell.servers = primaries;
    work.erase(0, on_cluster.size());
  }
  cell.work = work;
  if (work == "set") {
    cell.job.work = Work::set;
  } else if (work != "get") {
    const bool commands = work.starts_with("exec-");
    if (commands) work.erase(0, 5);
    cell.job.work = commands ? Work::execute : Work::get_many;
    cell.job.keys = bench::number("--cells", work, 1'000);
    if (Data::count % cell.job.keys != 0)
      throw std::invalid_argument("--cells: " + work + " does not divide 4000");
    work = commands ? work + " commands" : "get of " + work + " keys";
  }
  cell.title = work + (cell.cluster ? ", cluster of " + std::to_string(primaries) : ", 1 server") +
               ", " + std::to_string(cell.job.threads) + " thread(s)";
  return cell;
}

// The servers and their data. Each kind is started when a cell first needs it.
class Servers {
 public:
  Servers(const bench::TestBed& bed, unsigned primaries) : bed_(bed), primaries_(primaries) {}

  const Data& data(bool cluster) {
    if (cluster && !cluster_data_) start_cluster();
    if (!cluster && !alone_data_) start_alone();
    return cluster ? *cluster_data_ : *alone_data_;
  }

 private:
  void start_alone() {
    bed_.start_servers([&] { alone_ = std::make_unique<RedisProcess>(); });
    const std::vector<Target> targets{{"127.0.0.1", alone_->port()}};
    alone_data_.emplace(targets, "redis://" + list_of(targets) + "?routing=ring",
                        bench::redis_wire);
  }
  void start_cluster() {
    bed_.start_servers([&] {
      cluster_ = std::make_unique<RespCluster>(RespClusterOptions{.primaries = primaries_});
    });
    std::vector<Target> targets;
    for (std::size_t i = 0; i < cluster_->size(); ++i) {
      targets.push_back({"127.0.0.1", cluster_->server(i).port()});
    }
    cluster_data_.emplace(targets, "redis://" + list_of(targets), bench::redis_wire);
  }

  const bench::TestBed& bed_;
  const unsigned primaries_;
  std::unique_ptr<RedisProcess> alone_;
  std::unique_ptr<RespCluster> cluster_;
  std::optional<Data> alone_data_;
  std::optional<Data> cluster_data_;
};

Contestant open_peer(const std::string& name, const Data& data, const Cell& cell) {
  if (name == "raw" || name == "raw-pipelined") return fleet_raw(data, cell.job, name != "raw");
  if (name == "hiredis" || name == "hiredis-mget") {
    return redis_hiredis(data, cell.job, cell.cluster, name == "hiredis-mget" && !cell.cluster);
  }
  const bool sleep = name == "sheaf-sleep" || name == "sheaf-each-sleep";
  const bool each = name == "sheaf-each" || name == "sheaf-each-sleep";
  if (!sleep && !each && name != "sheaf") throw std::invalid_argument("unknown peer " + name);
  sheaf::ClusterConfig config = config_of(data);
  config.spin = !sleep;
  return fleet_sheaf(data, cell.job, name, config, each);
}

// Returns the cell's line of the summary.
std::string run_cell(const Options& options, const bench::TestBed& bed, const Cell& cell,
                     const Data& data) {
  std::printf("\n%s\n", cell.title.c_str());
  const Comparison comparison(options.setup.schedule, [&] {
    std::vector<Contestant> peers;
    for (const std::string& name : options.peers) peers.push_back(open_peer(name, data, cell));
    return peers;
  });
  const bool many = cell.job.keys > 1;
  const std::string limit = many ? "raw-pipelined" : "raw";
  const Comparison::Column columns[] = {{"/hiredis", "hiredis"},
                                        {"/mget", "hiredis-mget"},
                                        {"/raw", "raw"},
                                        {"/pipelined", "raw-pipelined"}};
  comparison.print(cell.job.keys, columns);
  comparison.append(options.setup, bed,
                    {"redis_compare", cell.work, cell.servers, cell.job.threads}, columns);
  char line[160];
  std::snprintf(line, sizeof line, "%-44s %8.2f %8.2f %8.2f\n", cell.title.c_str(),
                comparison.ratio("sheaf", "hiredis"), comparison.ratio("sheaf-each", "hiredis"),
                comparison.ratio("sheaf", limit));
  return line;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_program("redis_compare", [&] {
    const Options options = parse(argc, argv);
    std::vector<Cell> cells;
    for (const std::string& text : options.cells) {
      cells.push_back(cell_of(text, options.primaries));
    }
    const bench::TestBed bed(options.setup.bed);
    Servers servers(bed, options.primaries);
    std::string summary;
    for (const Cell& cell : cells) {
      summary += run_cell(options, bed, cell, servers.data(cell.cluster));
    }
    std::printf(
        "\nops/s: one client / hiredis, a client for each thread / hiredis, one client / "
        "raw sockets (pipelined for many keys)\n%s",
        summary.c_str());
  });
}

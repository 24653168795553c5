#include "cli/dev/broker_group.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <sheaf/client.h>

#include "base/text.h"
#include "cli/system/output.h"

namespace sheaf::cli {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr auto start_time = std::chrono::seconds(60);
constexpr auto end_time = std::chrono::seconds(3);
constexpr milliseconds poll_step{20};
constexpr milliseconds answer_time{500};
constexpr milliseconds cluster_answer_time{5'000};  // Garnet makes a replica while we wait
constexpr std::uint32_t most_restarts = 10;

// Garnet uses the second wording.
bool says_port_taken(std::string_view log) {
  return log.find("Address already in use") != log.npos ||
         log.find("AddressAlreadyInUse") != log.npos;
}

}  // namespace

std::expected<TemporaryFolder, std::string> TemporaryFolder::make() {
  std::error_code failed;
  const fs::path parent = fs::temp_directory_path(failed);
  std::string name = failed ? "" : (fs::absolute(parent) / "sheaf-dev-XXXXXX").string();
  if (failed || mkdtemp(name.data()) == nullptr) {
    const std::string why = failed ? failed.message() : std::generic_category().message(errno);
    const char* const given = std::getenv("TMPDIR");
    const std::string place = given == nullptr ? "/tmp" : "TMPDIR, " + printable(given, 256);
    return std::unexpected("cannot make a temporary folder in " + place + ": " + why + ".");
  }
  return TemporaryFolder(fs::path(name));
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

BrokerGroup::~BrokerGroup() {
  for (const Broker& broker : brokers_) broker.ask_to_end();
  const auto deadline = Clock::now() + end_time;
  while (any_running() && Clock::now() < deadline) {
    (void)signals_.wait(poll_step);
    for (Broker& broker : brokers_) broker.reap();
  }
  for (const Broker& broker : brokers_) broker.kill();
  for (Broker& broker : brokers_) broker.wait();
}

std::expected<BrokerGroup::Start, std::string> BrokerGroup::start(std::uint32_t count,
                                                                  std::uint32_t replicas) {
  seeds_ = count;
  if (auto done = launch(count * (1 + replicas)); !done) {
    return std::unexpected(std::move(done.error()));
  }
  const bool forms_cluster = plan_.traits().forms_clusters;
  const auto deadline = Clock::now() + start_time;
  while (Clock::now() < deadline) {
    if (signals_.wait(poll_step) == Signals::Event::end) return Start::interrupted;
    if (auto done = replace_ended(); !done) return std::unexpected(std::move(done.error()));
    if (forms_cluster ? cluster_formed() : all_answer()) return Start::ready;
  }
  return std::unexpected(delay());
}

std::expected<void, std::string> BrokerGroup::launch(std::uint32_t count) {
  brokers_.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const fs::path folder =
        folder_.path() / (std::string(plan_.traits().noun) + "-" + std::to_string(i + 1));
    std::error_code failed;
    if (!fs::create_directory(folder, failed)) {
      return std::unexpected("cannot make " + folder.string() + ".");
    }
    const std::uint32_t port = plan_.port == 0 ? 0 : plan_.port + i;
    Broker& broker = brokers_.emplace_back(plan_, folder, static_cast<std::uint16_t>(port));
    if (auto done = broker.start(); !done) return done;
  }
  return {};
}

// A port may be lost between choosing and taking it; any other end is an error.
std::expected<void, std::string> BrokerGroup::replace_ended() {
  for (Broker& broker : brokers_) {
    if (!broker.reap()) continue;
    const bool port_taken = says_port_taken(broker.log());
    if (!port_taken || plan_.port != 0 || ++restarts_ > most_restarts) {
      return std::unexpected(std::string(plan_.traits().noun) + " " + broker.node() + " " +
                             broker.ending() + ".");
    }
    forming_.reset();
    if (auto done = broker.start(); !done) return done;
  }
  return {};
}

// Each try has its own client: one that has met a closed port backs off before the next try.
bool BrokerGroup::all_answer() const {
  auto client = Client::open(uri());
  if (!client) return false;
  const auto reports = client->check_nodes({.timeout = answer_time});
  return std::ranges::all_of(reports, [](const NodeReport& report) { return !report.error; });
}

// One round. After a failure it starts over: a server may not listen yet, or have another port now.
bool BrokerGroup::cluster_formed() {
  if (!forming_) {
    ClusterPlan cluster{.servers = {}, .primaries = seeds_};
    std::vector<BlockingConnection> connections;
    for (const Broker& broker : brokers_) {
      auto connection = BlockingConnection::open(broker.port(), cluster_answer_time);
      if (!connection) return false;
      cluster.servers.push_back({broker.port(), broker.bus_port()});
      connections.push_back(*std::move(connection));
    }
    forming_.emplace(std::move(cluster), std::move(connections));
  }
  const auto formed = forming_->turn(Clock::now());
  if (!formed) forming_.reset();
  return formed.value_or(false);
}

std::string BrokerGroup::delay() const {
  const std::string limit = " within " + std::to_string(start_time.count()) + " s";
  if (!plan_.traits().forms_clusters) {
    return "the " + std::string(plan_.traits().noun) + "s did not answer" + limit + ".";
  }
  const std::string text = "the servers did not form a cluster" + limit;
  const std::string refusal = forming_ ? forming_->refusal() : std::string();
  return refusal.empty() ? text + "." : text + " (" + printable(refusal, 200) + ").";
}

bool BrokerGroup::any_running() const {
  return std::ranges::any_of(brokers_, [](const Broker& broker) { return broker.running(); });
}

bool BrokerGroup::watch(const std::function<milliseconds()>& turn) {
  while (any_running()) {
    if (signals_.wait(turn()) == Signals::Event::end) return true;
    report_ended();
  }
  return false;
}

void BrokerGroup::reload() const {
  for (const Broker& broker : brokers_) broker.reload();
}

void BrokerGroup::report_ended() {
  for (Broker& broker : brokers_) {
    if (!broker.reap()) continue;
    complain(std::string(plan_.traits().noun) + " " + broker.node() + " " + broker.ending() + ".");
  }
}

std::string BrokerGroup::uri() const {
  std::string text = plan_.login.certificate.empty() ? plan_.traits().scheme : "mqtts://";
  for (std::size_t i = 0; i < seeds_; ++i) {
    if (i > 0) text += ",";
    text += brokers_[i].node();
  }
  return text + plan_.uri_options;
}

std::vector<BrokerAddress> BrokerGroup::addresses() const {
  std::vector<BrokerAddress> all;
  for (const Broker& broker : brokers_) all.push_back({broker.node(), broker.pid()});
  return all;
}

}  // namespace sheaf::cli

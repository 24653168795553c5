#pragma once

// The servers of one `dev`, with their temporary folder.
//
// Thread rule: the main thread.

#include <chrono>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/dev/broker.h"
#include "cli/dev/cluster_forming.h"
#include "cli/show/json_lines.h"
#include "cli/system/signals.h"

namespace sheaf::cli {

// A folder that is removed with the object.
class TemporaryFolder {
 public:
  static std::expected<TemporaryFolder, std::string> make();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

class BrokerGroup {
 public:
  BrokerGroup(BrokerPlan plan, TemporaryFolder folder, const Signals& signals)
      : plan_(std::move(plan)), folder_(std::move(folder)), signals_(signals) {}
  // Ends every broker.
  ~BrokerGroup();
  BrokerGroup(const BrokerGroup&) = delete;
  BrokerGroup& operator=(const BrokerGroup&) = delete;

  enum class Start { ready, interrupted };
  // Starts `count` servers and waits until each answers a request to its store. Servers that form
  // clusters get `replicas` more each; then it waits for one cluster of all.
  std::expected<Start, std::string> start(std::uint32_t count, std::uint32_t replicas);
  // Waits until a signal asks to end (true) or no broker is left (false). Reports each broker that
  // ends. Calls `turn` before each wait; it says how long that may last, negative: for ever.
  bool watch(const std::function<std::chrono::milliseconds()>& turn);
  // The brokers read their files again.
  void reload() const;
  // Reports each broker that has ended since the last call.
  void report_ended();

  const BrokerPlan& plan() const noexcept { return plan_; }
  // mqtt://127.0.0.1:P1,127.0.0.1:P2,... or memcached://... or redis://..., with the options of the
  // plan. For a cluster it names the primaries.
  std::string uri() const;
  // The port of the first server.
  std::uint16_t port() const { return brokers_.front().port(); }
  // Replicas come last.
  std::vector<BrokerAddress> addresses() const;
  const std::filesystem::path& folder() const noexcept { return folder_.path(); }

 private:
  std::expected<void, std::string> launch(std::uint32_t count);
  std::expected<void, std::string> replace_ended();
  bool all_answer() const;
  bool cluster_formed();
  // Why the servers were not ready in time.
  std::string delay() const;
  bool any_running() const;

  BrokerPlan plan_;
  TemporaryFolder folder_;
  const Signals& signals_;
  std::vector<Broker> brokers_;
  std::size_t seeds_ = 0;  // how many of them the URI names
  std::optional<ClusterForming> forming_;
  std::uint32_t restarts_ = 0;
};

}  // namespace sheaf::cli

#pragma once

// The brokers of one `dev`, with their temporary folder.
//
// Thread rule: the main thread.

#include <cstdint>
#include <expected>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/dev/broker.h"
#include "cli/dev/signals.h"
#include "cli/json_lines.h"

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
  // Starts `count` brokers and waits until each answers a request to its store.
  std::expected<Start, std::string> start(std::uint32_t count);
  // Until a signal asks to end (true) or no broker is left (false). Reports each that ends.
  bool watch();

  const BrokerPlan& plan() const noexcept { return plan_; }
  // mqtt://127.0.0.1:P1,127.0.0.1:P2,... or memcached://...
  std::string uri() const;
  std::vector<BrokerAddress> addresses() const;
  const std::filesystem::path& folder() const noexcept { return folder_.path(); }

 private:
  std::expected<void, std::string> launch(std::uint32_t count);
  std::expected<void, std::string> replace_ended();
  bool all_answer() const;
  bool any_running() const;

  BrokerPlan plan_;
  TemporaryFolder folder_;
  const Signals& signals_;
  std::vector<Broker> brokers_;
  std::uint32_t restarts_ = 0;
};

}  // namespace sheaf::cli

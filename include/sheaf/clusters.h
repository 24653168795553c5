#pragma once

/// @file
/// Clusters: the clients of all clusters of one configuration file.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sheaf/client.h>
#include <sheaf/move_only_function.h>

namespace sheaf {
inline namespace v0 {

/// How one cluster came out of Clusters::reload.
struct Reloaded {
  std::string name;                ///< The cluster's name.
  Result<ServersChanged> servers;  ///< What has changed, or why nothing has.
};

/// A client for each cluster of a configuration, by name:
///
///     auto clusters = sheaf::Clusters::open("/etc/app/sheaf.json");
///     (*clusters)["sessions"].get("user/17");
///
/// Each client has connections, threads and counters of its own. They share what they are given:
/// an executor and a log sink, if these are the same; and a server that two clusters name.
///
/// Thread rule: any thread may call any member at any time, except that the destructor and moves
/// need that no other thread calls the object.
///
/// Lifetime: the destructor closes the clients one after another, the last of the file first, each
/// as Client's destructor does. Until then a client keeps its address, also when this is moved.
class SHEAF_API Clusters {
 public:
  /// Names and configurations, as ClusterConfig::load_file and parse_json return them.
  using Configs = std::vector<std::pair<std::string, ClusterConfig>>;
  /// Makes the options of the client of one cluster; called once for each, in order, inside open().
  using OptionsOf = std::function<ClientOptions(std::string_view name)>;

  /// Reads a configuration file and opens all of its clusters or none; connects to nothing, as
  /// Client::open. A cluster of `embedded://` without a `name` gets the name of the cluster, so
  /// that two clusters do not share engines by accident. Errors: as ClusterConfig::load_file and
  /// Client::open, with the cluster's name; bad_configuration for a file without a cluster.
  static Result<Clusters> open(const std::string& path, const ClientOptions& options = {});
  static Result<Clusters> open(const std::string& path, const OptionsOf& options);
  /// The same from memory. Also refused: a name that is empty or given twice.
  static Result<Clusters> open(Configs configs, const ClientOptions& options = {});
  static Result<Clusters> open(Configs configs, const OptionsOf& options);
  /// The same from ClusterConfig::from_environment, as cluster "environment". Its file is the one
  /// that is mounted in a connector's pod; without it reload() and follow() find nothing changed.
  static Result<Clusters> open_environment(const ClientOptions& options = {});

  /// Reads the file again and gives each client its servers of now, as Client::reconfigure. Returns
  /// one entry for each cluster, in order. Errors, which change nothing: as open(), and
  /// Reason::bad_configuration if names differ, or if these clusters were opened from memory.
  Result<std::vector<Reloaded>> reload();

  /// What came of a reload that follow() made.
  using Report = MoveOnlyFunction<void(const Result<std::vector<Reloaded>>&)>;
  /// Checks the file once a second, by its path, on a thread of its own; so it may be replaced, or
  /// a folder that a symbolic link leads to. When it may have changed, and at the first check, it
  /// is read as by reload(), and `report`, if there is one, gets the result there. It may call
  /// anything of these clusters but follow() and the destructor; what it throws ends the process. A
  /// second call replaces the first. Errors: as reload() for clusters from memory;
  /// Outcome::overloaded if no thread can be started: the first call continues.
  Result<void> follow(Report report = {});

  /// What was moved from has no cluster; `[]` then returns a client that answers as closed.
  Clusters(Clusters&&) noexcept;
  /// The clients that were here end as by the destructor.
  Clusters& operator=(Clusters&&) noexcept;
  /// Ends following, then every client as by the destructor of Client.
  ~Clusters();

  /// The client of a cluster. For an unknown name, a client whose calls all end with
  /// Outcome::invalid, Reason::bad_argument; the text has the known names.
  Client& operator[](std::string_view name) const;
  /// The client of a cluster; null if the configuration has no such name.
  Client* find(std::string_view name) const noexcept;
  /// The names, in the order of the configuration.
  std::vector<std::string> names() const;
  /// How many clusters there are; at least one, unless this was moved from.
  std::size_t size() const noexcept;

  class Impl;  ///< Internal.

 private:
  explicit Clusters(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace v0
}  // namespace sheaf

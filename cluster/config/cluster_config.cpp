// The public functions that make a ClusterConfig from a URI, a JSON document, a file or the
// environment.

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include <sheaf/cluster_config.h>

#include "base/descriptor.h"
#include "base/secret.h"
#include "base/text.h"
#include "cluster/config/config_environment.h"
#include "cluster/config/config_json.h"
#include "cluster/config/config_uri.h"

namespace sheaf {
namespace {

using cluster::Problem;

std::expected<std::string, Problem> read_file(const std::string& path) {
  const OwnedFile file(std::fopen(path.c_str(), "rbe"));
  const auto system_problem = [] {
    return std::unexpected(Problem{std::generic_category().message(errno)});
  };
  if (!file) return system_problem();
  std::string text(cluster::max_config_bytes + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) return system_problem();
  return text;
}

Failure failure(Problem bad) {
  return Failure({bad.outcome, Reason::bad_configuration, "", {}, std::move(bad.text)});
}

}  // namespace

cluster::Variables cluster::environment_variables() {
  Variables variables;
  for (const std::string_view name : environment_names()) {
    const char* const value = std::getenv(std::string(name).c_str());
    if (value != nullptr) variables.emplace(name, value);
  }
  return variables;
}

Result<ClusterConfig> cluster::load_environment(const Variables& variables) {
  std::string mounted;
  if (const std::string path = mounted_path(variables); !path.empty()) {
    auto text = read_file(path);
    if (!text) {
      return failure(
          {std::string(mount_variable) + ": " + printable(path, 256) + ": " + text.error().text});
    }
    mounted = std::move(*text);
  }
  auto config = read_environment(variables, mounted);
  if (!config) return failure(std::move(config.error()));
  return std::move(*config);
}

inline namespace v0 {

Result<ClusterConfig> ClusterConfig::parse_uri(std::string_view uri) {
  cluster::ConfigBuilder builder;
  if (auto read = cluster::read_uri(uri, builder); !read) return failure(std::move(read.error()));
  auto config = builder.finish();
  if (!config) return failure(std::move(config.error()));
  return std::move(*config);
}

Result<std::vector<std::pair<std::string, ClusterConfig>>> ClusterConfig::parse_json(
    std::string_view text) {
  auto clusters = cluster::read_json(text);
  if (!clusters) return failure(std::move(clusters.error()));
  return std::move(*clusters);
}

Result<std::vector<std::pair<std::string, ClusterConfig>>> ClusterConfig::load_file(
    const std::string& path) {
  const auto in_file = [&](Problem bad) {
    bad.text = printable(path, 256) + ": " + bad.text;
    return failure(std::move(bad));
  };
  auto text = read_file(path);
  if (!text) return in_file(text.error());
  auto clusters = cluster::read_json(*text);
  wipe(*text);  // it may hold a password
  if (!clusters) return in_file(std::move(clusters.error()));
  return std::move(*clusters);
}

Result<ClusterConfig> ClusterConfig::from_environment() {
  return cluster::load_environment(cluster::environment_variables());
}

}  // namespace v0
}  // namespace sheaf

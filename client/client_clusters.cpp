// Clusters: opens the clients of a configuration one after another, and closes them in reverse.

#include <algorithm>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <system_error>

#include <sheaf/clusters.h>

#include "base/mutex.h"
#include "client/client_impl.h"
#include "client/runtime/config_follower.h"
#include "client/runtime/outcomes.h"
#include "cluster/config/config_environment.h"
#include "protocol/endpoint_kinds.h"

namespace sheaf {
inline namespace v0 {

using client::runtime::local_error;

class Clusters::Impl {
 public:
  struct Named {
    std::string name;
    Client client;
  };
  // Where the configurations come from, if they can be read again.
  struct Source {
    std::function<Result<Configs>()> read;  // null: they were given by the program
    std::string file;                       // what read() reads; empty: nothing that can change
  };

  // Reserves room for all: addresses of clients must not change.
  explicit Impl(std::size_t count) { clients_.reserve(count); }
  ~Impl() {
    {
      const sync::MutexLock lock(follow_mutex_);
      follower_.reset();
    }
    while (!clients_.empty()) clients_.pop_back();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  static Result<Clusters> open_from(Source source, const OptionsOf& options) {
    auto configs = source.read();
    if (!configs) return Failure(std::move(configs.error()));
    auto opened = Clusters::open(std::move(*configs), options);
    if (opened) opened->impl_->source_ = std::move(source);
    return opened;
  }

  void add(std::string name, Client client) {
    clients_.push_back({std::move(name), std::move(client)});
  }
  std::vector<Named>& clients() noexcept { return clients_; }

  Result<std::vector<Reloaded>> reload() {
    const sync::MutexLock lock(reload_mutex_);
    if (!source_.read) return Failure(opened_from_memory());
    auto configs = source_.read();
    if (!configs) return Failure(std::move(configs.error()));
    if (auto wrong = check_same_names(*configs)) return Failure(std::move(*wrong));
    std::vector<Reloaded> all;
    for (Named& named : clients_) {
      ClusterConfig& config =
          std::ranges::find(*configs, named.name, &Configs::value_type::first)->second;
      give_name(named.name, config);
      all.push_back({named.name, named.client.reconfigure(config)});
    }
    return all;
  }

  Result<void> follow(Report report) {
    const sync::MutexLock lock(follow_mutex_);
    if (!source_.read) return Failure(opened_from_memory());
    if (source_.file.empty()) return {};
    auto tell = [this, report = std::move(report)] {
      const auto reloaded = reload();
      if (report) report(reloaded);
    };
    try {
      follower_ = std::make_unique<client::runtime::ConfigFollower>(source_.file, std::move(tell));
    } catch (const std::system_error& error) {
      return Failure(client::runtime::no_thread(error));
    }
    return {};
  }

  // Keeps two clusters from sharing engines by accident.
  static void give_name(const std::string& name, ClusterConfig& config) {
    const auto transport = protocol::traits_of(config.kind).transport;
    if (transport == protocol::Transport::engines && config.embedded_name.empty())
      config.embedded_name = name;
  }

  Client* find(std::string_view name) noexcept {
    const auto found = std::ranges::find(clients_, name, &Named::name);
    return found == clients_.end() ? nullptr : &found->client;
  }

  // For every unknown name.
  Client& missing() {
    const sync::MutexLock lock(mutex_);
    if (!missing_) missing_.emplace(Client(Client::Impl::make_closed(no_such_name())));
    return *missing_;
  }

 private:
  static Error opened_from_memory() {
    return local_error(Outcome::invalid, Reason::bad_configuration,
                       "these clusters were opened from memory and have no file");
  }
  std::optional<Error> check_same_names(const Configs& configs) const {
    for (const auto& [name, config] : configs) {
      if (std::ranges::find(clients_, name, &Named::name) == clients_.end()) {
        return local_error(
            Outcome::invalid, Reason::bad_configuration,
            source_.file + ": clusters." + name + " was added after the clusters were opened");
      }
    }
    for (const Named& named : clients_) {
      if (std::ranges::find(configs, named.name, &Configs::value_type::first) == configs.end()) {
        return local_error(Outcome::invalid, Reason::bad_configuration,
                           source_.file + ": clusters." + named.name + " is missing");
      }
    }
    return std::nullopt;
  }
  Error no_such_name() const {
    std::string text = "there is no cluster of this name; the configuration has ";
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      text.append(i == 0 ? "\"" : ", \"").append(clients_[i].name).append("\"");
    }
    return local_error(Outcome::invalid, Reason::bad_argument, std::move(text));
  }

  std::vector<Named> clients_;
  Source source_;
  sync::Mutex reload_mutex_;
  sync::Mutex follow_mutex_;
  std::unique_ptr<client::runtime::ConfigFollower> follower_ SHEAF_GUARDED_BY(follow_mutex_);
  sync::Mutex mutex_;
  std::optional<Client> missing_ SHEAF_GUARDED_BY(mutex_);
};

namespace {

Error bad(std::string text) {
  return local_error(Outcome::invalid, Reason::bad_configuration, std::move(text));
}

std::optional<Error> check_names(const Clusters::Configs& configs) {
  if (configs.empty()) return bad("the configuration has no cluster");
  for (auto at = configs.begin(); at != configs.end(); ++at) {
    if (at->first.empty()) return bad("the name of a cluster is empty");
    if (std::ranges::find(configs.begin(), at, at->first, &Clusters::Configs::value_type::first) !=
        at) {
      return bad("clusters." + at->first + " is given twice");
    }
  }
  return std::nullopt;
}

Clusters::OptionsOf same_for_all(const ClientOptions& options) {
  return [&options](std::string_view) { return options; };
}

}  // namespace

Result<Clusters> Clusters::open(const std::string& path, const ClientOptions& options) {
  return open(path, same_for_all(options));
}

Result<Clusters> Clusters::open(const std::string& path, const OptionsOf& options) {
  return Impl::open_from({[path] { return ClusterConfig::load_file(path); }, path}, options);
}

Result<Clusters> Clusters::open_environment(const ClientOptions& options) {
  const cluster::Variables variables = cluster::environment_variables();
  const auto read = [variables]() -> Result<Configs> {
    return cluster::load_environment(variables).transform(
        [](ClusterConfig&& config) { return Configs{{"environment", std::move(config)}}; });
  };
  return Impl::open_from({read, cluster::mounted_path(variables)}, same_for_all(options));
}

Result<Clusters> Clusters::open(Configs configs, const ClientOptions& options) {
  return open(std::move(configs), same_for_all(options));
}

Result<Clusters> Clusters::open(Configs configs, const OptionsOf& options) {
  if (auto wrong = check_names(configs)) return Failure(std::move(*wrong));
  auto impl = std::make_unique<Impl>(configs.size());
  for (auto& [name, config] : configs) {
    Impl::give_name(name, config);
    auto client = Client::open(std::move(config), options(name));
    if (!client) {
      client.error().text.insert(0, "clusters." + name + ": ");
      return Failure(std::move(client.error()));
    }
    impl->add(std::move(name), std::move(*client));
  }
  return Clusters(std::move(impl));
}

Clusters::Clusters(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Clusters::Clusters(Clusters&&) noexcept = default;
Clusters& Clusters::operator=(Clusters&&) noexcept = default;
Clusters::~Clusters() = default;

Client& Clusters::operator[](std::string_view name) const {
  static auto* const none = new Client(nullptr);  // for Clusters that were moved from
  if (impl_ == nullptr) return *none;
  Client* const found = impl_->find(name);
  return found != nullptr ? *found : impl_->missing();
}

namespace {

Error moved_from() {
  return local_error(Outcome::shutdown, Reason::closed, "these clusters were moved from");
}

}  // namespace

Result<std::vector<Reloaded>> Clusters::reload() {
  return impl_ == nullptr ? Failure(moved_from()) : impl_->reload();
}

Result<void> Clusters::follow(Report report) {
  return impl_ == nullptr ? Failure(moved_from()) : impl_->follow(std::move(report));
}

Client* Clusters::find(std::string_view name) const noexcept {
  return impl_ == nullptr ? nullptr : impl_->find(name);
}

std::vector<std::string> Clusters::names() const {
  std::vector<std::string> names;
  if (impl_ == nullptr) return names;
  for (const Impl::Named& named : impl_->clients()) names.push_back(named.name);
  return names;
}

std::size_t Clusters::size() const noexcept {
  return impl_ == nullptr ? 0 : impl_->clients().size();
}

}  // namespace v0
}  // namespace sheaf

// Clusters: opens the clients of a configuration one after another, and closes them in reverse.

#include <algorithm>
#include <new>
#include <optional>

#include <sheaf/clusters.h>

#include "base/mutex.h"
#include "client/client_impl.h"
#include "client/runtime/outcomes.h"
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

  // Room for all at once: addresses of clients do not change.
  explicit Impl(std::size_t count) { clients_.reserve(count); }
  ~Impl() {
    while (!clients_.empty()) clients_.pop_back();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void add(std::string name, Client client) {
    clients_.push_back({std::move(name), std::move(client)});
  }
  std::vector<Named>& clients() noexcept { return clients_; }

  Client* find(std::string_view name) noexcept {
    const auto found = std::ranges::find(clients_, name, &Named::name);
    return found == clients_.end() ? nullptr : &found->client;
  }

  // For every name that there is not.
  Client& missing() {
    const sync::MutexLock lock(mutex_);
    if (!missing_) missing_.emplace(Client(Client::Impl::make_closed(no_such_name())));
    return *missing_;
  }

 private:
  Error no_such_name() const {
    std::string text = "there is no cluster of this name; the configuration has ";
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      text.append(i == 0 ? "\"" : ", \"").append(clients_[i].name).append("\"");
    }
    return local_error(Outcome::invalid, Reason::bad_argument, std::move(text));
  }

  std::vector<Named> clients_;
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
  auto configs = ClusterConfig::load_file(path);
  if (!configs) return Failure(std::move(configs.error()));
  return open(std::move(*configs), options);
}

Result<Clusters> Clusters::open(Configs configs, const ClientOptions& options) {
  return open(std::move(configs), same_for_all(options));
}

Result<Clusters> Clusters::open(Configs configs, const OptionsOf& options) {
  if (auto wrong = check_names(configs)) return Failure(std::move(*wrong));
  auto impl = std::make_unique<Impl>(configs.size());
  for (auto& [name, config] : configs) {
    const auto transport = protocol::traits_of(config.kind).transport;
    if (transport == protocol::Transport::engines && config.embedded_name.empty()) {
      config.embedded_name = name;
    }
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
  static auto* const none = new Client(nullptr);  // of Clusters that were moved from
  if (impl_ == nullptr) return *none;
  Client* const found = impl_->find(name);
  return found != nullptr ? *found : impl_->missing();
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

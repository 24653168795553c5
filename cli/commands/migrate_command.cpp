// migrate: moves a cache from one fleet of memcached servers to another while programs use it.

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/descriptor.h"
#include "base/local_error.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/line/password.h"
#include "cli/line/servers.h"
#include "cli/migrate/migration_run.h"
#include "client/migration/stage_file.h"

namespace sheaf::cli {
namespace {

// One run at a time for a file. The lock is on a file beside it, which is never replaced.
class RunLock {
 public:
  explicit RunLock(const std::string& state)
      : descriptor_(::open((state + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)),
        error_(errno) {
    if (!descriptor_.valid()) return;
    held_ = ::flock(descriptor_.get(), LOCK_EX | LOCK_NB) == 0;
    error_ = errno;
  }
  // Empty: it is held.
  std::string failure() const {
    if (held_) return {};
    if (error_ == EWOULDBLOCK) return "another run works with it";
    return std::strerror(error_);
  }

 private:
  Descriptor descriptor_;
  int error_;
  bool held_ = false;
};

Error configuration_error(std::string text) {
  return local_error(Outcome::invalid, Reason::bad_configuration, std::move(text));
}

Result<Fleet> open_fleet(const char* option, const std::string& uri, const Arguments& arguments,
                         const Environment& environment) {
  auto config = servers_of_uri(uri, arguments.global.timeout).and_then([&](ClusterConfig&& parsed) {
    return give_password(std::move(parsed), arguments.global.password_file, environment.password);
  });
  if (!config) {
    Error error = std::move(config.error());
    error.text.insert(0, std::string(option) + ": ");
    return Failure(std::move(error));
  }
  const bool guarded = config->tls || !config->user.empty();
  if (guarded && arguments.migrate.keys.empty()) {
    return Failure(configuration_error(
        std::string(option) +
        ": keys cannot be listed over TLS or with a password; --keys names a file that has them"));
  }
  if (config->failover == FailoverMode::rehash) {
    return Failure(configuration_error(std::string(option) + ": " +
                                       std::string(client::migration::no_rehash)));
  }
  config->timeout = arguments.global.timeout;
  config->pool_min = 0;
  auto client = Client::open(std::move(*config));
  if (client && !client->supports(Feature::ttl_left)) {
    return Failure(configuration_error(std::string(option) +
                                       ": a cache can move between servers of memcached only"));
  }
  return std::move(client).transform([](Client&& opened) { return Fleet(std::move(opened)); });
}

// What the file says, if it is of these servers.
Result<Migration> read_state(const MigrateArguments& arguments, const Fleet& from,
                             const Fleet& to) {
  auto state = read_migration(arguments.state);
  if (!state) return state;
  const auto other = client::migration::other_servers(*state, migration_servers(from.config()),
                                                      migration_servers(to.config()));
  if (other.empty()) return state;
  return Failure(configuration_error("the file " + printable(arguments.state, 256) +
                                     " is of a migration with other servers in --" +
                                     std::string(other)));
}

}  // namespace

ExitCode run_migrate(const Arguments& arguments, Output& out) {
  const MigrateArguments& migrate = arguments.migrate;
  const auto refuse = [&](const Error& error) {
    return complain_about(error, arguments.global.json, out);
  };
  Environment environment = Environment::read();
  if (arguments.global.ask_password) {
    auto password = ask_password();
    if (!password) return refuse(password.error());
    environment.password = std::move(*password);
  }
  auto from = open_fleet("--from", migrate.from, arguments, environment);
  if (!from) return refuse(from.error());
  auto to = open_fleet("--to", migrate.to, arguments, environment);
  if (!to) return refuse(to.error());
  const auto shared = client::migration::shared_server(from->config(), to->config());
  if (!shared.empty()) {
    return refuse(configuration_error(printable(shared, 256) +
                                      " is a server of --from and of --to: no cache moves to where "
                                      "it is"));
  }
  const RunLock lock(migrate.state);
  if (const std::string failure = lock.failure(); !failure.empty()) {
    return refuse(
        configuration_error("the file " + printable(migrate.state, 256) + ": " + failure));
  }
  const auto state = read_state(migrate, *from, *to);
  if (!state) return refuse(state.error());
  return MigrationRun(migrate, std::move(*from), std::move(*to), out, arguments.global.json)
      .run(*state);
}

}  // namespace sheaf::cli

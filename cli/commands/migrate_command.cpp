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
#include "cli/commands/command.h"
#include "cli/line/migrate_words.h"
#include "cli/line/password.h"
#include "cli/line/servers.h"
#include "cli/migrate/migration_run.h"
#include "extras/migration/stage_file.h"

namespace sheaf::cli {
namespace {

// Allows one run at a time for a file. The lock is on a second file, which is never replaced.
class RunLock {
 public:
  explicit RunLock(const std::string& state)
      : descriptor_(::open((state + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)),
        error_(errno) {
    if (!descriptor_.valid()) return;
    held_ = ::flock(descriptor_.get(), LOCK_EX | LOCK_NB) == 0;
    error_ = errno;
  }
  // Empty: the lock is held.
  std::string failure() const {
    if (held_) return {};
    if (error_ == EWOULDBLOCK) return "another run is using it";
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

Result<Fleet> open_fleet(const char* option, const std::string& uri, const GlobalArguments& global,
                         bool keys_given, const Environment& environment) {
  auto config = servers_of_uri(uri, global.timeout).and_then([&](ClusterConfig&& parsed) {
    return give_password(std::move(parsed), global.password_file, environment.password);
  });
  if (!config) {
    Error error = std::move(config.error());
    error.text.insert(0, std::string(option) + ": ");
    return Failure(std::move(error));
  }
  const bool guarded = config->tls || !config->user.empty();
  if (guarded && !keys_given) {
    return Failure(configuration_error(
        std::string(option) +
        ": keys cannot be listed over TLS or with a password; name a file of keys with --keys"));
  }
  if (config->failover == FailoverMode::rehash) {
    return Failure(
        configuration_error(std::string(option) + ": " + std::string(migration::no_rehash)));
  }
  config->timeout = global.timeout;
  config->pool_min = 0;
  auto client = Client::open(std::move(*config));
  if (client && !client->supports(Feature::ttl_left)) {
    return Failure(configuration_error(std::string(option) +
                                       ": a cache can move between servers of memcached only"));
  }
  return std::move(client).transform([](Client&& opened) { return Fleet(std::move(opened)); });
}

// The contents of the file, if they are about these servers.
Result<Migration> read_state(const MigrateWords& arguments, const Fleet& from, const Fleet& to) {
  auto state = read_migration(arguments.state);
  if (!state) return state;
  const auto other = migration::other_servers(*state, migration_servers(from.config()),
                                              migration_servers(to.config()));
  if (other.empty()) return state;
  return Failure(configuration_error("the file " + printable(arguments.state, 256) +
                                     " belongs to a migration with other servers in --" +
                                     std::string(other)));
}

ExitCode run_migrate(const Call& call, const MigrateWords& migrate) {
  const auto refuse = [&](const Error& error) { return complain_about(call, error); };
  Environment environment = Environment::read();
  if (call.global.ask_password) {
    auto password = ask_password();
    if (!password) return refuse(password.error());
    environment.password = std::move(*password);
  }
  auto from = open_fleet("--from", migrate.from, call.global, !migrate.keys.empty(), environment);
  if (!from) return refuse(from.error());
  auto to = open_fleet("--to", migrate.to, call.global, !migrate.keys.empty(), environment);
  if (!to) return refuse(to.error());
  const auto shared = migration::shared_server(from->config(), to->config());
  if (!shared.empty()) {
    return refuse(configuration_error(
        printable(shared, 256) +
        " is a server of both --from and --to: a cache cannot move to where it is"));
  }
  const RunLock lock(migrate.state);
  if (const std::string failure = lock.failure(); !failure.empty()) {
    return refuse(configuration_error("the file of --state, " + printable(migrate.state, 256) +
                                      ": " + failure));
  }
  const auto state = read_state(migrate, *from, *to);
  if (!state) return refuse(state.error());
  return MigrationRun(migrate, std::move(*from), std::move(*to), call.out, call.json()).run(*state);
}

constexpr OptionRow migrate_options[] = {
    {"--from", "URI", "the servers that have the cache now"},
    {"--to", "URI", "the servers that take over the cache"},
    {"--state", "FILE", "the file from which all programs read the stage", completes_files},
    {"--settle", "DURATION", "how long programs may take to follow (default 10s)"},
    {"--until", "STAGE", "stop in this stage",
     completes_words("before mirror switched drain closing after restore")},
    {"--back", "", "go back to the old servers"},
    {"--keys", "FILE", "the keys, one a line, instead of asking the servers for them",
     completes_files},
    {"--stale", "FILE", "append the keys of copies that did not hold the current value",
     completes_files},
    {"--empty-to", "", "remove all keys of the new servers first"},
    {"--callers", "N", "copying threads, 1 to 256 (default 8)"}};
constexpr std::string_view refused_by_migrate[] = {"--servers", "--config", "--cluster"};

}  // namespace

CommandRow migrate_command() {
  return command<read_migrate_words, run_migrate>(
      {.name = "migrate",
       .group = group::servers,
       .purpose = "move a cache to other memcached servers while programs use it",
       .text = "Each program uses a MigratingCache, which reads the stage from --state: before, "
               "mirror, switched, drain, closing, after; and restore on the way back. In mirror "
               "the values are copied, in drain the rest is moved. Whatever ends a run, the same "
               "command continues the migration; --back goes back, unless the stage is after. "
               "docs/migration.md describes all steps.",
       .examples = {"sheaf migrate --from memcached://c1 --to memcached://d1,d2 --state m.json",
                    "sheaf migrate --from memcached://c1 --to memcached://d1 --state m --back"},
       .options = migrate_options,
       .completion = completes_nothing,
       .refused = {refused_by_migrate, "its servers are given with --from and --to"}});
}

}  // namespace sheaf::cli

#include "tests/support/redis_process.h"

#include <fstream>
#include <stdexcept>

namespace sheaf::test {

RedisProcess::RedisProcess(RedisOptions options)
    : RespProcess(traits_of(options.software).program, options),
      software_(options.software),
      replica_of_(options.replica_of),
      lines_(options.lines),
      tls_(options.tls),
      tls_beside_(options.tls_beside) {
  start_anywhere();
}

void RedisProcess::change_ports() {
  RespProcess::change_ports();
  bus_port_ = ReservedPort();
  tls_port_ = ReservedPort();
}

bool RedisProcess::launch() {
  const auto program = server_program(software_);
  if (!program) fail(not_installed(software_));
  write_configuration();
  Program redis{{*program, (folder() / "redis.conf").string()}};
  const auto& more = options().arguments;
  redis.command.insert(redis.command.end(), more.begin(), more.end());
  spawn(std::move(redis));
  return wait_for_start([this] { return has_logged("Ready to accept connections"); });
}

// Full synchronisation starts at once instead of waiting for other replicas. Servers fail over when
// a test says so, not because the machine is slow.
void RedisProcess::write_configuration() const {
  std::ofstream out(folder() / "redis.conf");
  out << "bind " << options().address << '\n';
  if (!tls_.empty()) out << "port 0\ntls-";
  out << "port " << port() << "\nprotected-mode no\nenable-debug-command yes\n"
      << "save \"\"\nappendonly " << (options().persistent ? "yes" : "no")
      << "\nappendfsync no\nrepl-diskless-sync-delay 0\n";
  if (options().cluster) {
    out << "cluster-enabled yes\ncluster-port " << bus_port() << "\ncluster-node-timeout 2000\n"
        << "cluster-replica-no-failover yes\ncluster-allow-replica-migration no\n";
  }
  if (replica_of_ != 0) out << "replicaof 127.0.0.1 " << replica_of_ << '\n';
  if (!options().user.empty()) {
    out << "user default off\nuser " << options().user << " on >" << options().password
        << " ~* &* +@all\nmasteruser " << options().user << '\n';
  } else if (!options().password.empty()) {
    out << "requirepass " << options().password << '\n';
  }
  if (!options().password.empty()) out << "masterauth " << options().password << '\n';
  for (const std::string& line : tls_) out << line << '\n';
  if (!tls_beside_.empty()) out << "tls-port " << tls_port() << '\n';
  for (const std::string& line : tls_beside_) out << line << '\n';
  for (const std::string& line : lines_) out << line << '\n';
  if (!out.flush()) fail("its redis.conf cannot be written");
}

bool RedisProcess::forget(Wire& wire) {
  std::string commands;
  if (!options().password.empty()) {
    const std::string name = options().user.empty() ? "default" : options().user;
    commands = "AUTH " + name + ' ' + options().password + "\r\n";
  }
  commands +=
      "CLIENT UNPAUSE\r\nFLUSHALL\r\nSCRIPT FLUSH\r\nFUNCTION FLUSH\r\nACL LOG RESET\r\n"
      "SLOWLOG RESET\r\nCONFIG RESETSTAT\r\n";
  std::string done;
  for (const char c : commands) done += c == '\n' ? "+OK\r\n" : "";
  wire.send(commands + "ACL LIST\r\nCONFIG GET *\r\nECHO the-end\r\n");
  std::string answers;
  while (!answers.ends_with("the-end\r\n")) {
    const auto more = wire.receive(std::chrono::minutes(1));
    if (!more || more->empty()) return false;
    answers += *more;
    if (!answers.starts_with(std::string_view(done).substr(0, answers.size()))) return false;
  }
  const std::string settings = answers.substr(done.size());
  if (settings_.empty()) settings_ = settings;
  begin_log();
  return settings == settings_;
}

}  // namespace sheaf::test

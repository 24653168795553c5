#include "tests/support/memcached_process.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

// Set by CMake: SHEAF_TEST_MEMCACHED, SHEAF_TEST_SASLPASSWD.

namespace sheaf::test {

MemcachedProcess::MemcachedProcess(MemcachedOptions options)
    : ServerProcess("memcached"), options_(std::move(options)), port_(options_.port) {
  write_users();
  if (!launch()) fail("did not start");
}

// SASL_CONF_PATH must be a folder: a file is silently ignored.
void MemcachedProcess::write_users() const {
  if (options_.log_in == MemcachedOptions::LogIn::text) {
    std::ofstream out(folder() / "users");
    for (const auto& [name, password] : options_.users) out << name << ':' << password << '\n';
  }
  if (options_.log_in != MemcachedOptions::LogIn::sasl) return;
  const std::string file = (folder() / "sasldb").string();
  std::ofstream(folder() / "memcached.conf") << "mech_list: plain\nsasldb_path: " << file << '\n';
  for (const auto& [name, password] : options_.users) {
    std::string command = "printf %s '" + password + "' | " SHEAF_TEST_SASLPASSWD " -p -c -f '";
    command.append(file).append("' -a memcached '").append(name).append("' 2>/dev/null");
    if (std::system(command.c_str()) != 0) throw std::runtime_error("failed: " + command);
  }
}

bool MemcachedProcess::launch() {
  std::filesystem::remove(folder() / "port");
  Program program;
  const char* const named = std::getenv("MEMCACHED_SERVER");
  program.command = {named == nullptr ? SHEAF_TEST_MEMCACHED : named};
  const auto add = [&](const std::vector<std::string>& words) {
    program.command.insert(program.command.end(), words.begin(), words.end());
  };
  const std::string port = port_ == 0 ? "-1" : std::to_string(port_);  // -1: any free port
  if (options_.on_a_path) {
    std::filesystem::remove(path());
    add({"-s", path()});
  } else {
    add({"-l", options_.address, "-U", "0", "-p", port});
  }
  if (::geteuid() == 0) add({"-u", "root"});
  if (options_.log_in == MemcachedOptions::LogIn::sasl) add({"-S"});
  if (options_.log_in == MemcachedOptions::LogIn::text) add({"-Y", (folder() / "users").string()});
  add(options_.arguments);
  program.environment.push_back("MEMCACHED_PORT_FILENAME=" + (folder() / "port").string());
  program.environment.push_back("SASL_CONF_PATH=" + folder().string());
  spawn(std::move(program));
  return wait_for_start([this] { return options_.on_a_path ? accepts() : read_port(); });
}

bool MemcachedProcess::accepts() const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path().copy(address.sun_path, sizeof address.sun_path - 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool accepted =
      ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(fd);
  return accepted;
}

// The server writes its port into a file, which gets its name once the server listens: "TCP INET:
// 40123".
bool MemcachedProcess::read_port() {
  const std::ifstream in(folder() / "port", std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  constexpr std::string_view label = "TCP INET: ";
  const std::string all = text.str();
  const std::size_t at = all.find(label);
  if (at == std::string::npos) return false;
  port_ = static_cast<std::uint16_t>(std::strtoul(all.c_str() + at + label.size(), nullptr, 10));
  return true;
}

void MemcachedProcess::restart() {
  expect_ended();
  // An outgoing connection of another process may hold the port for a moment.
  start([this] { return launch(); }, [] {});
}

}  // namespace sheaf::test

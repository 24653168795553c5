#include "tests/support/memcached_process.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/support/wait_for_condition.h"

// Set by CMake: SHEAF_TEST_MEMCACHED, SHEAF_TEST_SASLPASSWD.

namespace sheaf::test {
namespace {

// The answer to a command in text, which ends with `end`.
std::string ask(Wire& wire, const std::string& command, std::string_view end = "\r\n") {
  wire.send(command);
  std::string answer;
  while (!answer.ends_with(end)) {
    const auto more = wire.receive(std::chrono::minutes(1));
    if (!more || more->empty()) throw std::runtime_error("no answer to " + command);
    answer += *more;
  }
  return answer;
}

void expect(Wire& wire, const std::string& command, const std::string& wanted) {
  const std::string answer = ask(wire, command + "\r\n");
  if (answer != wanted + "\r\n") throw std::runtime_error(command + ": " + answer);
}

// Sends a request of the binary protocol, which must succeed.
void expect_done(Wire& wire, char opcode, const std::string& key = {},
                 const std::string& value = {}) {
  constexpr std::size_t header = 24;
  std::string request(header, '\0');
  request[0] = '\x80';
  request[1] = opcode;
  request[3] = static_cast<char>(key.size());
  request[11] = static_cast<char>(key.size() + value.size());
  wire.send(request + key + value);
  std::string answer;
  while (answer.size() < header ||
         answer.size() < header + static_cast<unsigned char>(answer[11])) {
    const auto more = wire.receive(std::chrono::minutes(1));
    if (!more || more->empty()) throw std::runtime_error("no answer to a binary request");
    answer += *more;
  }
  if (answer[6] != 0 || answer[7] != 0) throw std::runtime_error(answer.substr(header));
}

constexpr char flush_request = 0x08;
constexpr char stat_request = 0x10;
constexpr char login_request = 0x21;

}  // namespace

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
  // What was flushed is freed late, and memory does not move to items of another size at once.
  add({"-m", "1024"});
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

bool MemcachedProcess::only_binary() const {
  return options_.log_in == MemcachedOptions::LogIn::sasl || options_.has("binary");
}

// Flushed items are counted until a crawler has been there, which may be busy.
bool MemcachedProcess::forget(Wire& wire) const {
  const std::string name = options_.users.empty() ? "" : options_.users.front().first;
  const std::string password = options_.users.empty() ? "" : options_.users.front().second;
  if (only_binary()) {
    if (!name.empty()) {
      expect_done(wire, login_request, "PLAIN", '\0' + name + '\0' + password);
    }
    expect_done(wire, flush_request);
    expect_done(wire, stat_request, "reset");
    return true;
  }
  if (options_.log_in == MemcachedOptions::LogIn::text) {
    const std::string login = name + ' ' + password;
    expect(wire, "set auth 0 0 " + std::to_string(login.size()) + "\r\n" + login, "STORED");
  }
  wait_for_condition("the server is empty", [&] {
    expect(wire, "flush_all", "OK");
    ask(wire, "lru_crawler crawl all\r\n");
    return ask(wire, "stats\r\n", "END\r\n").contains("STAT curr_items 0\r\n");
  });
  expect(wire, "stats reset", "RESET");
  return true;
}

}  // namespace sheaf::test

#include "tests/support/memcached_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

// Set by CMake: SHEAF_TEST_MEMCACHED, SHEAF_TEST_SASLPASSWD.

namespace sheaf::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto start_time = std::chrono::seconds(30);

std::string read_file(const std::filesystem::path& path) {
  const std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

MemcachedProcess::MemcachedProcess(MemcachedOptions options)
    : MemcachedProcess(std::move(options), Deferred{}) {
  write_users();
  if (!launch()) throw std::runtime_error("memcached did not start:\n" + log());
}

// The object is whole behind this: what throws later finds its folder removed.
MemcachedProcess::MemcachedProcess(MemcachedOptions options, Deferred)
    : options_(std::move(options)), port_(options_.port) {
  std::string name = (std::filesystem::temp_directory_path() / "sheaf-memcached-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
  folder_ = name;
}

MemcachedProcess::~MemcachedProcess() {
  kill();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

// SASL_CONF_PATH must be a folder: a file is silently ignored.
void MemcachedProcess::write_users() const {
  if (options_.log_in == MemcachedOptions::LogIn::text) {
    std::ofstream out(folder_ / "users");
    for (const auto& [name, password] : options_.users) out << name << ':' << password << '\n';
  }
  if (options_.log_in != MemcachedOptions::LogIn::sasl) return;
  const std::string file = (folder_ / "sasldb").string();
  std::ofstream(folder_ / "memcached.conf") << "mech_list: plain\nsasldb_path: " << file << '\n';
  for (const auto& [name, password] : options_.users) {
    std::string command = "printf %s '" + password + "' | " SHEAF_TEST_SASLPASSWD " -p -c -f '";
    command.append(file).append("' -a memcached '").append(name).append("' 2>/dev/null");
    if (std::system(command.c_str()) != 0) throw std::runtime_error("failed: " + command);
  }
}

bool MemcachedProcess::launch() {
  std::filesystem::remove(folder_ / "port");
  spawn();
  return wait_for_start();
}

void MemcachedProcess::spawn() {
  // Everything is prepared before fork(): the child of a threaded program may only make system
  // calls.
  std::vector<std::string> arguments = {
      SHEAF_TEST_MEMCACHED, "-l", options_.address, "-U", "0", "-p"};
  arguments.push_back(port_ == 0 ? "-1" : std::to_string(port_));  // -1: any free one
  if (::geteuid() == 0) arguments.insert(arguments.end(), {"-u", "root"});
  if (options_.log_in == MemcachedOptions::LogIn::sasl) arguments.emplace_back("-S");
  if (options_.log_in == MemcachedOptions::LogIn::text) {
    arguments.insert(arguments.end(), {"-Y", (folder_ / "users").string()});
  }
  arguments.insert(arguments.end(), options_.arguments.begin(), options_.arguments.end());
  std::vector<std::string> environment;
  environment.push_back("MEMCACHED_PORT_FILENAME=" + (folder_ / "port").string());
  environment.push_back("SASL_CONF_PATH=" + folder_.string());
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  const std::vector<char*> argument_pointers = pointers(arguments);
  const std::vector<char*> environment_pointers = pointers(environment);
  const std::string log_file = (folder_ / "log").string();
  const int out =
      ::open(log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR);
  const pid_t parent = ::getpid();

  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(125);  // the parent died before the line above
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    ::execve(SHEAF_TEST_MEMCACHED, argument_pointers.data(), environment_pointers.data());
    ::_exit(126);
  }
  ::close(out);
  if (pid_ < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
}

// The server writes its port into a file, which gets its name when it listens: "TCP INET: 40123".
bool MemcachedProcess::wait_for_start() {
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  const auto end = Clock::now() + start_time;
  bool up = false;
  while (!up && running() && Clock::now() < end) {
    const std::string text = read_file(folder_ / "port");
    const std::size_t colon = text.find("TCP INET: ");
    if (colon != std::string::npos) {
      port_ = static_cast<std::uint16_t>(std::strtoul(text.c_str() + colon + 10, nullptr, 10));
      up = true;
    } else {
      pollfd wait{process, POLLIN, 0};
      if (::poll(&wait, 1, 5) == 1) reap();
    }
  }
  ::close(process);
  if (!up && running()) {
    kill();
    throw std::runtime_error("memcached does not come up:\n" + log());
  }
  return up;
}

void MemcachedProcess::reap() {
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

std::string MemcachedProcess::log() const { return read_file(folder_ / "log"); }

void MemcachedProcess::kill() {
  if (!running()) return;
  ::kill(pid_, SIGKILL);
  reap();
}

void MemcachedProcess::stop() {
  if (!running()) throw std::logic_error("memcached is not running");
  ::kill(pid_, SIGSTOP);
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED) != 0 && errno == EINTR) {
  }
}

void MemcachedProcess::resume() {
  if (!running()) throw std::logic_error("memcached is not running");
  ::kill(pid_, SIGCONT);
}

void MemcachedProcess::restart() {
  if (running()) throw std::logic_error("memcached is still running");
  // Somebody's outgoing connection may hold the port for a moment.
  const auto end = Clock::now() + start_time;
  while (!launch()) {
    if (Clock::now() > end) throw std::runtime_error("the port stays taken:\n" + log());
  }
}

}  // namespace sheaf::test

#include "tests/support/broker_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "store/plugin/sink.h"

// Set by CMake: SHEAF_TEST_MOSQUITTO, SHEAF_TEST_PASSWD, SHEAF_TEST_PLUGIN and, when the plugin is
// built with a sanitizer, SHEAF_TEST_PRELOAD (its runtime must be the first library in the broker).

namespace sheaf::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto start_time = std::chrono::seconds(30);  // sanitizer builds on a loaded machine

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// A port that was free a moment ago; launch() tries others if it is taken meanwhile.
std::uint16_t free_port() {
  const Descriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error(std::string("no free port: ") + std::strerror(errno));
  }
  return ntohs(address.sin_port);
}

// One MQTT 5 CONNECT; true if any CONNACK comes back, a refusal for missing credentials included.
bool answers_connect(std::uint16_t port) {
  static constexpr char connect_packet[] = "\x10\x0d\x00\x04MQTT\x05\x02\x00\x3c\x00\x00\x00";
  const Descriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopback(port);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return false;
  }
  if (::send(fd.get(), connect_packet, sizeof connect_packet - 1, MSG_NOSIGNAL) !=
      sizeof connect_packet - 1) {
    return false;
  }
  pollfd wait{fd.get(), POLLIN, 0};
  char first = 0;
  return ::poll(&wait, 1, 5000) == 1 && ::recv(fd.get(), &first, 1, 0) == 1 && first == 0x20;
}

std::string read_file(const std::filesystem::path& path) {
  const std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

#ifdef SHEAF_TEST_PRELOAD
// mosquitto 2.0.11 itself leaks the configuration of plugins and a bridge's resolved address. Only
// their call stacks distinguish these leaks from others, and the fast unwinder does not see through
// the broker.
constexpr std::string_view leaks_of_the_broker = "leak:config__read\nleak:getaddrinfo\n";

void add_sanitizer(std::vector<std::string>& environment, const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "leaks";
  std::ofstream(file) << leaks_of_the_broker;
  for (std::string& entry : environment) {
    if (entry.starts_with("ASAN_OPTIONS=")) entry += ":fast_unwind_on_malloc=0";
  }
  environment.emplace_back("ASAN_OPTIONS=fast_unwind_on_malloc=0");  // the first one counts
  environment.emplace_back("LSAN_OPTIONS=print_suppressions=0:suppressions=" + file.string());
  environment.emplace_back("LD_PRELOAD=" SHEAF_TEST_PRELOAD);
}
#endif

std::vector<std::string> broker_environment([[maybe_unused]] const std::filesystem::path& folder) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
#ifdef SHEAF_TEST_PRELOAD
  add_sanitizer(all, folder);
#endif
  return all;
}

}  // namespace

BrokerProcess::BrokerProcess(BrokerOptions options)
    : BrokerProcess(std::move(options), Deferred{}) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    ports_.clear();
    while (ports_.size() < options_.listeners) ports_.push_back(free_port());
    if (launch()) return;
  }
  throw std::runtime_error("mosquitto found no free port:\n" + log());
}

BrokerProcess::BrokerProcess(BrokerOptions options, Deferred) : options_(std::move(options)) {
  std::string name = (std::filesystem::temp_directory_path() / "sheaf-broker-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
  folder_ = name;
  if (!options_.users.empty()) write_users();
}

BrokerProcess::~BrokerProcess() {
  kill();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string BrokerProcess::failing_start(const BrokerOptions& options) {
  BrokerProcess broker(options, Deferred{});
  while (broker.ports_.size() < options.listeners) broker.ports_.push_back(free_port());
  broker.write_configuration();
  broker.spawn();
  if (broker.wait_for_start()) throw std::runtime_error("mosquitto started:\n" + broker.log());
  return broker.log();
}

void BrokerProcess::write_users() const {
  const std::filesystem::path file = folder_ / "passwords";
  std::ofstream(file).close();
  for (const auto& [name, password] : options_.users) {
    std::string command = SHEAF_TEST_PASSWD " -b '";
    command.append(file.string()).append("' '").append(name).append("' '").append(password);
    command += "' 2>/dev/null";
    if (std::system(command.c_str()) != 0) throw std::runtime_error("failed: " + command);
  }
}

void BrokerProcess::write_configuration() const {
  std::ostringstream plugin;
  if (options_.plugin) {
    plugin << "plugin " << SHEAF_TEST_PLUGIN << '\n';
    for (const auto& [name, value] : options_.plugin_options) {
      plugin << "plugin_opt_" << name << ' ' << value << '\n';
    }
  }
  std::ostringstream access;
  if (options_.users.empty()) {
    access << "allow_anonymous true\n";
  } else {
    access << "allow_anonymous false\npassword_file " << (folder_ / "passwords").string() << '\n';
  }

  if (!options_.acl.empty()) {
    std::ofstream(folder_ / "acl") << options_.acl;
    access << "acl_file " << (folder_ / "acl").string() << '\n';
  }

  std::ofstream out(folder_ / "mosquitto.conf");
  if (::geteuid() == 0) out << "user root\n";  // plugins are loaded after the change of user
  if (options_.per_listener_settings) out << "per_listener_settings true\n";
  out << "log_dest stderr\nlog_type error\nlog_type warning\nlog_type notice\nlog_type "
         "information\n"
      << "max_inflight_messages 0\n";
  if (options_.nodelay) out << "set_tcp_nodelay true\n";
  if (!options_.per_listener_settings) out << access.str() << plugin.str();
  for (const std::uint16_t port : ports_) {
    out << "listener " << port << " 127.0.0.1\n";
    if (options_.per_listener_settings) out << access.str() << plugin.str();
  }
  if (options_.sink) {
    out << store::plugin::sink_bridge;
  }
  out << options_.extra;
  if (!out.flush()) throw std::runtime_error("cannot write " + folder_.string());
}

bool BrokerProcess::launch() {
  write_configuration();
  spawn();
  if (!wait_for_start()) {
    if (log().find("Address already in use", log_start_) == std::string::npos) {
      throw std::runtime_error("mosquitto did not start:\n" + log());
    }
    return false;
  }
  for (const std::uint16_t port : ports_) {
    if (!answers_connect(port)) throw std::runtime_error("no CONNACK from mosquitto:\n" + log());
  }
  return true;
}

void BrokerProcess::spawn() {
  // Everything is prepared before fork(): the child of a threaded program may only make system
  // calls.
  const std::string configuration = (folder_ / "mosquitto.conf").string();
  const std::string log_file = (folder_ / "log").string();
  std::vector<std::string> environment = broker_environment(folder_);
  std::vector<char*> environment_pointers;
  for (std::string& entry : environment) environment_pointers.push_back(entry.data());
  environment_pointers.push_back(nullptr);
  const char* const arguments[] = {SHEAF_TEST_MOSQUITTO, "-c", configuration.c_str(), nullptr};
  log_start_ = log().size();
  const Descriptor out(
      ::open(log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR));
  const pid_t parent = ::getpid();

  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  if (pid_ > 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(125);  // the parent died before the line above
  ::dup2(out.get(), STDOUT_FILENO);
  ::dup2(out.get(), STDERR_FILENO);
  ::execve(SHEAF_TEST_MOSQUITTO, const_cast<char* const*>(arguments), environment_pointers.data());
  ::_exit(126);
}

bool BrokerProcess::wait_for_start() {
  // Ours is up when our log says so: an answer on the port could be another test's broker.
  const Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  const auto end = Clock::now() + start_time;
  while (Clock::now() < end) {
    if (log().find(" running\n", log_start_) != std::string::npos) return true;
    pollfd wait{process.get(), POLLIN, 0};
    if (::poll(&wait, 1, 5) == 1) {
      reap();
      return false;
    }
  }
  kill();
  throw std::runtime_error("mosquitto does not come up:\n" + log());
}

int BrokerProcess::reap() {
  int status = 0;
  pid_t done = -1;
  do {
    done = ::waitpid(pid_, &status, 0);
  } while (done < 0 && errno == EINTR);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string BrokerProcess::log() const { return read_file(folder_ / "log"); }

void BrokerProcess::kill() {
  if (!running()) return;
  ::kill(pid_, SIGKILL);
  reap();
}

// Mosquitto looks up the address of its bridge on a thread of glibc's, which a broker that ends in
// its first moments frees the memory of: seen once, as a crash at the end of a test on a busy
// machine.
void BrokerProcess::wait_for_lookup() const {
  const std::filesystem::path tasks = "/proc/" + std::to_string(pid_) + "/task";
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  while (std::chrono::steady_clock::now() < end) {
    std::error_code error;
    const auto first = std::filesystem::directory_iterator(tasks, error);
    if (error || std::distance(first, {}) <= 1) return;
    ::poll(nullptr, 0, 10);
  }
}

int BrokerProcess::terminate() {
  if (!running()) throw std::logic_error("the broker is not running");
  wait_for_lookup();
  ::kill(pid_, SIGTERM);
  return reap();
}

void BrokerProcess::hang_up() {
  if (running()) ::kill(pid_, SIGHUP);
}

void BrokerProcess::stop() {
  if (!running()) throw std::logic_error("the broker is not running");
  ::kill(pid_, SIGSTOP);
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED) != 0 && errno == EINTR) {
  }
}

void BrokerProcess::resume() {
  if (!running()) throw std::logic_error("the broker is not running");
  ::kill(pid_, SIGCONT);
}

void BrokerProcess::restart() {
  if (running()) throw std::logic_error("the broker is still running");
  // Somebody's outgoing connection may hold the port for a moment.
  const auto end = Clock::now() + start_time;
  while (!launch()) {
    if (Clock::now() > end) throw std::runtime_error("the port stays taken:\n" + log());
  }
}

}  // namespace sheaf::test

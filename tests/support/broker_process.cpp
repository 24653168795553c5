#include "tests/support/broker_process.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "store/plugin/sink.h"
#include "tests/support/wait_for_condition.h"
#include "tests/support/wire.h"

// Set by CMake: SHEAF_TEST_MOSQUITTO, SHEAF_TEST_PASSWD, SHEAF_TEST_PLUGIN and, if the plugin is
// built with a sanitizer, SHEAF_TEST_PRELOAD (its runtime must be the broker's first library).

namespace sheaf::test {
namespace {

class OwnedDescriptor {
 public:
  explicit OwnedDescriptor(int fd) : fd_(fd) {}
  ~OwnedDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  OwnedDescriptor(const OwnedDescriptor&) = delete;
  OwnedDescriptor& operator=(const OwnedDescriptor&) = delete;
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

// Sends one MQTT 5 CONNECT. True if any CONNACK comes back, even a refusal for missing credentials.
bool answers_connect(std::uint16_t port) {
  static constexpr char connect_packet[] = "\x10\x0d\x00\x04MQTT\x05\x02\x00\x3c\x00\x00\x00";
  const OwnedDescriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
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
  return ::poll(&wait, 1, 60'000) == 1 && ::recv(fd.get(), &first, 1, 0) == 1 && first == 0x20;
}

#ifdef SHEAF_TEST_PRELOAD
// mosquitto 2.0.11 itself leaks the configuration of plugins and a bridge's resolved address. Only
// call stacks distinguish these leaks from others, and the fast unwinder cannot see through the
// broker.
constexpr std::string_view leaks_of_the_broker = "leak:config__read\nleak:getaddrinfo\n";

// The environment of a broker with such a plugin. Settings for each listener leak more of the
// configuration, and 2.0.21 has no names that distinguish this from other leaks.
std::vector<std::string> sanitizer_environment(const std::filesystem::path& folder,
                                               bool per_listener_settings) {
  const std::filesystem::path file = folder / "leaks";
  std::ofstream(file) << leaks_of_the_broker;
  const char* const options = std::getenv("ASAN_OPTIONS");
  return {"ASAN_OPTIONS=" + (options == nullptr ? std::string() : options + std::string(":")) +
              "fast_unwind_on_malloc=0" + (per_listener_settings ? ":detect_leaks=0" : ""),
          "LSAN_OPTIONS=print_suppressions=0:suppressions=" + file.string(),
          "ASAN_SYMBOLIZER_PATH=" SHEAF_TEST_SYMBOLIZER, "LD_PRELOAD=" SHEAF_TEST_PRELOAD};
}
#endif

}  // namespace

BrokerProcess::BrokerProcess(BrokerOptions options)
    : BrokerProcess(std::move(options), Deferred{}) {
  start([this] { return launch(); },
        [this] { ports_ = std::vector<ReservedPort>(options_.listeners); });
  wait_for_connack();
}

BrokerProcess::BrokerProcess(BrokerOptions options, Deferred)
    : ServerProcess("mosquitto"), options_(std::move(options)), ports_(options_.listeners) {
  if (!options_.users.empty()) write_users();
}

std::string BrokerProcess::failing_start(const BrokerOptions& options) {
  BrokerProcess broker(options, Deferred{});
  if (broker.launch()) broker.fail("started");
  return broker.log();
}

void BrokerProcess::write_users() const {
  const std::filesystem::path file = folder() / "passwords";
  std::ofstream(file).close();
  for (const auto& [name, password] : options_.users) {
    std::string command = SHEAF_TEST_PASSWD " -b '";
    command.append(file.string()).append("' '").append(name).append("' '").append(password);
    command += "' 2>/dev/null";
    if (std::system(command.c_str()) != 0) throw std::runtime_error("failed: " + command);
  }
}

void BrokerProcess::write_configuration() const {
  if (options_.whole) {
    std::ofstream(folder() / "mosquitto.conf") << options_.whole(port());
    return;
  }
  std::ostringstream plugin;
  if (options_.plugin) {
    plugin << "plugin " << (options_.forgets ? SHEAF_TEST_FORGETTING_PLUGIN : SHEAF_TEST_PLUGIN)
           << '\n';
    for (const auto& [name, value] : options_.plugin_options) {
      plugin << "plugin_opt_" << name << ' ' << value << '\n';
    }
  }
  if (!options_.tokens.empty()) {
    plugin << "plugin " << SHEAF_TEST_TOKEN_PLUGIN << "\nplugin_opt_tokens " << options_.tokens
           << "\nplugin_opt_continue " << (options_.tokens_twice ? "true" : "false") << '\n';
  }
  std::ostringstream access;
  if (options_.users.empty()) {
    access << "allow_anonymous true\n";
  } else {
    access << "allow_anonymous " << (options_.anonymous_too ? "true" : "false")
           << "\npassword_file " << (folder() / "passwords").string() << '\n';
  }

  if (!options_.acl.empty()) {
    std::ofstream(folder() / "acl") << options_.acl;
    access << "acl_file " << (folder() / "acl").string() << '\n';
  }

  std::ofstream out(folder() / "mosquitto.conf");
  if (::geteuid() == 0) out << "user root\n";  // plugins are loaded after the change of user
  if (options_.per_listener_settings) out << "per_listener_settings true\n";
  out << "log_dest stderr\nlog_type error\nlog_type warning\nlog_type notice\nlog_type "
         "information\n"
      << "max_inflight_messages 65534\n"
         "max_packet_size 17825792\n";
  if (options_.nodelay) out << "set_tcp_nodelay true\n";
  if (!options_.per_listener_settings) out << access.str() << plugin.str();
  for (const ReservedPort& port : ports_) {
    out << "listener " << port.number() << " 127.0.0.1\n";
    out << options_.tls;
    if (options_.per_listener_settings) out << access.str() << plugin.str();
  }
  if (options_.sink) {
    out << store::plugin::sink_bridge;
  }
  out << options_.extra;
  if (!out.flush()) throw std::runtime_error("cannot write " + folder().string());
}

void BrokerProcess::wait_for_connack() {
  if (options_.whole || !options_.tls.empty()) return;
  for (const ReservedPort& port : ports_) {
    if (!answers_connect(port.number())) fail("no CONNACK");
  }
}

bool BrokerProcess::launch() {
  write_configuration();
  Program program{{SHEAF_TEST_MOSQUITTO, "-c", (folder() / "mosquitto.conf").string()}};
#ifdef SHEAF_TEST_PRELOAD
  program.environment = sanitizer_environment(folder(), options_.per_listener_settings);
#endif
  spawn(std::move(program));
  return wait_for_start([this] { return has_logged(" running\n"); });
}

// Mosquitto looks up the address of its bridge on a glibc thread. A broker that ends in its first
// moments frees that thread's memory, which crashed it once at the end of a test on a busy machine.
void BrokerProcess::wait_for_lookup() const {
  const std::filesystem::path tasks = "/proc/" + std::to_string(pid()) + "/task";
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  while (std::chrono::steady_clock::now() < end) {
    std::error_code error;
    const auto first = std::filesystem::directory_iterator(tasks, error);
    if (error || std::distance(first, {}) <= 1) return;
    ::poll(nullptr, 0, 10);
  }
}

int BrokerProcess::terminate() {
  wait_for_lookup();
  return ServerProcess::terminate();
}

void BrokerProcess::hang_up() const { send(SIGHUP); }

// Mosquitto forgets a SIGHUP that comes before it is done with the last one, and it logs before
// that. It is done when it answers again.
void BrokerProcess::reload(std::string_view logged) const {
  const std::size_t before = count_of(log(), logged);
  hang_up();
  ::close(connected_socket(port()));  // wakes the broker, which else heeds signals every 100 ms
  wait_for_condition(logged, [&] { return count_of(log(), logged) > before; });
  wait_for_answer();
}

// A listener ends a connection that speaks neither TLS nor MQTT.
void BrokerProcess::wait_for_answer() const {
  const std::unique_ptr<Wire> wire = connect_tcp(port());
  wire->send("neither TLS nor MQTT\r\n");
  wait_for_condition("the broker has ended a connection without sense",
                     [&] { return !wire->receive(std::chrono::milliseconds(100)); });
}

std::string BrokerProcess::forget() {
  if (!options_.forgets) throw std::logic_error("this broker keeps its store");
  std::ofstream(folder() / "forget").close();
  reload("forgetting: empty\n");
  return begin_log_after("forgetting: the old store has ended\n");
}

void BrokerProcess::restart() {
  expect_ended();
  start([this] { return launch(); }, [] {});
  wait_for_connack();
}

}  // namespace sheaf::test

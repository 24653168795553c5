#include "cli/dev/broker.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/dev/resp_files.h"

// CMake sets SHEAF_BROKER_PRELOAD in builds with a sanitizer: the runtime that must be the first
// library of a program that loads such a plugin.

namespace sheaf::cli {

namespace {

std::unexpected<std::string> system_failure(const std::string& what) {
  return std::unexpected(what + ": " + std::generic_category().message(errno) + ".");
}

std::vector<std::string> environment_of(ServerKind kind) {
  std::vector<std::string> all;
  // Otherwise .NET leaves sockets for debuggers in the temporary folder.
  if (kind == ServerKind::garnet) all.emplace_back("DOTNET_EnableDiagnostics=0");
  for (char** entry = environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
#ifdef SHEAF_BROKER_PRELOAD
  if (kind != ServerKind::broker) return all;
  all.emplace_back("LD_PRELOAD=" SHEAF_BROKER_PRELOAD);
  // mosquitto 2.0.11 itself leaks a little at its end; tests/live/plugin finds the plugin's leaks.
  all.emplace_back("ASAN_OPTIONS=detect_leaks=0");
#endif
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Runs in the child, between fork and exec: makes only system calls.
[[noreturn]] void become(const char* folder, char** arguments, char** environment, int input,
                         int log, pid_t parent) {
  // A process group of its own: Ctrl-C reaches us alone, and we end the brokers.
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(125);  // The parent ended before the line above.
  if (chdir(folder) != 0) _exit(124);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  (void)signal(SIGPIPE, SIG_DFL);
  dup2(input, STDIN_FILENO);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  execve(arguments[0], arguments, environment);
  _exit(126);
}

}  // namespace

std::expected<void, std::string> Broker::start() {
  auto own = take_port(wanted_port_);
  if (!own) return std::unexpected(std::move(own.error()));
  reserved_ = *std::move(own);
  if (plan_.traits().has_bus) {
    auto bus = take_port(0);
    if (!bus) return std::unexpected(std::move(bus.error()));
    reserved_bus_ = *std::move(bus);
  }
  if (plan_.kind == ServerKind::broker) {
    if (auto done = write_configuration(); !done) return done;
  }
  return launch();
}

// A port that we have bound is not given to other programs, unless they ask for its number. Yet a
// server that sets SO_REUSEADDR, as all of these do, can listen on it as long as we do not listen
// ourselves.
std::expected<Broker::Port, std::string> Broker::take_port(std::uint16_t wanted) {
  Descriptor reserved(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(wanted);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (!reserved.valid() ||
      setsockopt(reserved.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(reserved.get(), generic, size) != 0 ||
      getsockname(reserved.get(), generic, &size) != 0) {
    if (wanted != 0) return system_failure("port " + std::to_string(wanted) + " of 127.0.0.1");
    return system_failure("no free port on 127.0.0.1");
  }
  return Port{std::move(reserved), ntohs(address.sin_port)};
}

std::expected<void, std::string> Broker::write_configuration() const {
  const std::filesystem::path path = folder_ / "mosquitto.conf";
  std::ofstream file(path, std::ios::binary);
  file << broker_configuration({.port = port(),
                                .plugin = plan_.plugin,
                                .spelling = plan_.spelling,
                                .login = plan_.login,
                                .root = geteuid() == 0});
  file.close();
  if (!file) return std::unexpected("cannot write " + path.string() + ".");
  return {};
}

std::vector<std::string> Broker::command_line() const {
  std::vector<std::string> words = {plan_.program.string()};
  const auto add = [&words](const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  switch (plan_.kind) {
    case ServerKind::broker:
      add({"-c", (folder_ / "mosquitto.conf").string()});
      break;
    case ServerKind::memcached:
      add({"-l", "127.0.0.1", "-p", std::to_string(port()), "-U", "0"});
      if (geteuid() == 0) add({"-u", "root"});
      if (plan_.verbose) add({"-v"});
      break;
    case ServerKind::redis:
    case ServerKind::valkey:
      add(redis_arguments({.port = port(), .bus = bus_port()}, folder_, plan_.verbose));
      break;
    case ServerKind::garnet:
      add(garnet_arguments(port(), folder_, plan_.verbose));
      break;
  }
  return words;
}

std::expected<void, std::string> Broker::launch() {
  const std::string log_path = (folder_ / "log").string();
  const Descriptor input(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Descriptor log_file(
      open(log_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!input.valid() || !log_file.valid()) return system_failure("cannot write " + log_path);
  std::vector<std::string> arguments = command_line();
  std::vector<std::string> environment = environment_of(plan_.kind);
  std::vector<char*> argument_pointers = pointers_to(arguments);
  std::vector<char*> environment_pointers = pointers_to(environment);
  const int log_to = plan_.verbose ? STDERR_FILENO : log_file.get();
  const pid_t parent = getpid();
  ended_.clear();
  const pid_t child = fork();
  if (child == 0) {
    become(folder_.c_str(), argument_pointers.data(), environment_pointers.data(), input.get(),
           log_to, parent);
  }
  if (child < 0) return system_failure("cannot start a process");
  pid_ = child;
  return {};
}

bool Broker::reap() {
  if (!running()) return false;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return false;
  note_end(status);
  return true;
}

void Broker::wait() {
  if (!running()) return;
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  note_end(status);
}

void Broker::note_end(int status) {
  pid_ = -1;
  ended_ = WIFSIGNALED(status) ? "was terminated by signal " + std::to_string(WTERMSIG(status))
                               : "ended with exit code " + std::to_string(WEXITSTATUS(status));
}

void Broker::reload() const {
  if (running()) ::kill(pid_, SIGHUP);
}

void Broker::ask_to_end() const {
  if (!running()) return;
  ::kill(pid_, SIGTERM);
  ::kill(pid_, SIGCONT);
}

void Broker::kill() const {
  if (running()) ::kill(pid_, SIGKILL);
}

std::string Broker::log() const {
  std::ifstream file(folder_ / "log", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string Broker::ending() const {
  std::string text = log();
  while (text.ends_with('\n')) text.pop_back();
  text.erase(0, text.rfind('\n') + 1);
  return text.empty() ? ended_ : ended_ + " (" + text + ")";
}

}  // namespace sheaf::cli

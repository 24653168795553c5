#include "tests/support/server_process.h"

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
#include <string_view>

namespace sheaf::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto start_time = std::chrono::seconds(60);  // for sanitizer builds on a loaded machine

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

// tests/run.sh counts the lines of the file.
void record_start(const std::string& name) {
  const char* const file = std::getenv("SHEAF_TEST_STARTS");
  if (file != nullptr) std::ofstream(file, std::ios::app) << name + '\n' << std::flush;
}

}  // namespace

ServerProcess::ServerProcess(std::string name) : name_(std::move(name)) {
  std::string folder =
      (std::filesystem::temp_directory_path() / ("sheaf-" + name_ + "-XXXXXX")).string();
  if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("cannot make " + folder);
  folder_ = folder;
}

ServerProcess::~ServerProcess() {
  kill();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void ServerProcess::spawn(Program program) {
  // Everything is prepared before fork(), since the child of a threaded program may only make
  // system calls.
  for (char** entry = environ; *entry != nullptr; ++entry) program.environment.emplace_back(*entry);
  const std::vector<char*> arguments = pointers(program.command);
  const std::vector<char*> environment = pointers(program.environment);
  const std::string log_file = (folder_ / "log").string();
  log_start_ = whole_log().size();
  const int out =
      ::open(log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR);
  const pid_t parent = ::getpid();

  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(125);  // the parent died before the line above
    if (::chdir(folder_.c_str()) != 0) ::_exit(124);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    ::execve(arguments.front(), arguments.data(), environment.data());
    ::_exit(126);
  }
  ::close(out);
  if (pid_ < 0) fail(std::string("fork: ") + std::strerror(errno));
  record_start(name_);
}

bool ServerProcess::wait_for_start(const std::function<bool()>& up) {
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  const auto end = Clock::now() + start_time;
  bool is_up = up();
  while (!is_up && running() && Clock::now() < end) {
    pollfd wait{process, POLLIN, 0};
    if (::poll(&wait, 1, 5) == 1) {
      reap();
    } else {
      is_up = up();
    }
  }
  ::close(process);
  if (!is_up && running()) {
    kill();
    fail("does not come up");
  }
  return is_up;
}

void ServerProcess::start(const std::function<bool()>& launch,
                          const std::function<void()>& before_retry) {
  const auto end = Clock::now() + start_time;
  while (!launch()) {
    // The second text is Garnet's.
    const bool taken = has_logged("Address already in use") || has_logged("AddressAlreadyInUse");
    if (!taken) fail("did not start");
    if (Clock::now() > end) fail("the port stays taken");
    before_retry();
  }
}

int ServerProcess::reap() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  stopped_ = false;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string ServerProcess::whole_log() const {
  const std::ifstream in(folder_ / "log", std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::size_t ServerProcess::sockets() const {
  std::size_t count = 0;
  const std::filesystem::path all = "/proc/" + std::to_string(pid_) + "/fd";
  for (const auto& descriptor : std::filesystem::directory_iterator(all)) {
    std::error_code closed;
    const std::filesystem::path target = std::filesystem::read_symlink(descriptor, closed);
    if (!closed && target.native().starts_with("socket:")) ++count;
  }
  return count;
}

bool ServerProcess::has_logged(std::string_view text) const {
  return whole_log().find(text, log_start_) != std::string::npos;
}

std::string ServerProcess::begin_log_after(std::string_view line) {
  const std::string before = log();
  const std::size_t at = before.rfind(line);
  if (at == std::string::npos) fail("has not logged " + std::string(line));
  log_begin_ += at + line.size();
  return before.substr(0, at);
}

bool ServerProcess::lives() const {
  if (!running()) return false;
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  pollfd ended{process, POLLIN, 0};
  const bool lives = process >= 0 && ::poll(&ended, 1, 0) == 0;
  ::close(process);
  return lives;
}

void ServerProcess::kill() {
  if (!running()) return;
  send(SIGKILL);
  reap();
}

int ServerProcess::terminate() {
  send(SIGTERM);
  return reap();
}

void ServerProcess::stop() {
  send(SIGSTOP);
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED) != 0 && errno == EINTR) {
  }
  stopped_ = true;
}

void ServerProcess::resume() {
  send(SIGCONT);
  stopped_ = false;
}

void ServerProcess::send(int signal) const {
  if (!running()) throw std::logic_error(name_ + " is not running");
  ::kill(pid_, signal);
}

void ServerProcess::expect_ended() const {
  if (running()) throw std::logic_error(name_ + " is still running");
}

void ServerProcess::fail(const std::string& what) const {
  throw std::runtime_error(name_ + ": " + what + "\n" + log());
}

}  // namespace sheaf::test

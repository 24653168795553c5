#include "cli/lock_command.h"

#include <errno.h>
#include <poll.h>
#include <spawn.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <sheaf/async_lock.h>

#include "base/mutex.h"
#include "base/text.h"

namespace sheaf::cli {

namespace {

constexpr std::array passed_signals = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
constexpr int not_found = 127;
constexpr int not_executable = 126;

bool is_ignored(int number) {
  struct sigaction now{};
  return sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

ExitCode code_of(int number) { return static_cast<ExitCode>(number); }

// Filled in by callbacks of the client; wakes the thread that polls its descriptor.
class Mailbox {
 public:
  Mailbox() : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  void put_lock(LockResult got) {
    const sync::MutexLock lock(mutex_);
    got_.emplace(std::move(got));
    wake();
  }
  void put_loss(const Error& why) {
    const sync::MutexLock lock(mutex_);
    loss_ = why;
    wake();
  }
  std::optional<LockResult> take_lock() {
    const sync::MutexLock lock(mutex_);
    return std::exchange(got_, std::nullopt);
  }
  std::optional<Error> take_loss() {
    const sync::MutexLock lock(mutex_);
    return std::exchange(loss_, std::nullopt);
  }
  int descriptor() const noexcept { return descriptor_.get(); }
  void clear() const {
    eventfd_t count = 0;
    static_cast<void>(eventfd_read(descriptor_.get(), &count));
  }

 private:
  void wake() const { static_cast<void>(eventfd_write(descriptor_.get(), 1)); }
  sync::Mutex mutex_;
  std::optional<LockResult> got_ SHEAF_GUARDED_BY(mutex_);
  std::optional<Error> loss_ SHEAF_GUARDED_BY(mutex_);
  Descriptor descriptor_;
};

// Until a signal or a letter comes.
void wait_for_either(const PassedSignals& signals, const Mailbox& mailbox) {
  std::array<pollfd, 2> wanted = {
      {{signals.descriptor(), POLLIN, 0}, {mailbox.descriptor(), POLLIN, 0}}};
  static_cast<void>(poll(wanted.data(), wanted.size(), -1));
  mailbox.clear();
}

// The program that runs under the lock.
class Program {
 public:
  // An error number if it cannot be started.
  int start(const std::vector<std::string>& words, const FencingToken& token,
            const PassedSignals& signals);
  void pass_on(int signal) const { kill(pid_, signal); }
  // Its exit code, once it has ended.
  std::optional<int> take_end();

 private:
  pid_t pid_ = -1;
};

int Program::start(const std::vector<std::string>& words, const FencingToken& token,
                   const PassedSignals& signals) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  constexpr std::string_view name = "SHEAF_FENCING_TOKEN=";
  std::string ours = std::string(name) + token.text;
  std::vector<char*> variables = {ours.data()};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with(name)) variables.push_back(*variable);
  }
  variables.push_back(nullptr);

  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  sigset_t usual;  // this program ignores SIGPIPE
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  posix_spawnattr_setsigdefault(&how, &usual);
  posix_spawnattr_setsigmask(&how, &signals.before());
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  const int error =
      posix_spawnp(&pid_, arguments.front(), nullptr, &how, arguments.data(), variables.data());
  posix_spawnattr_destroy(&how);
  return error;
}

std::optional<int> Program::take_end() {
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Runs the program to its end, or until it has ended because the lock was lost.
ExitCode run_program_under(LockGuard& guard, const std::vector<std::string>& words,
                           const PassedSignals& signals, const std::shared_ptr<Mailbox>& mailbox) {
  Program program;
  if (const int error = program.start(words, guard.token(), signals); error != 0) {
    complain(printable(words.front()) +
             " could not be started: " + std::generic_category().message(error) + ".");
    return code_of(error == ENOENT ? not_found : not_executable);
  }
  guard.on_loss([mailbox](const Error& why) { mailbox->put_loss(why); });
  bool lost = false;
  for (;;) {
    if (const auto code = program.take_end()) {
      guard.on_loss(nullptr);
      return code_of(lost ? lock_lost : *code);
    }
    if (const auto why = mailbox->take_loss()) {
      lost = true;
      complain("the lock " + printable(guard.name()) + " is lost, " + printable(words.front()) +
               " gets SIGTERM: " + why->message());
      program.pass_on(SIGTERM);
    }
    wait_for_either(signals, *mailbox);
    const PassedSignals::Signal signal = signals.take();
    if (signal.number == 0 || signal.number == SIGCHLD || signal.from_terminal) continue;
    program.pass_on(signal.number);
  }
}

}  // namespace

PassedSignals::PassedSignals() {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGCHLD);
  // Linux queues a blocked signal even when it is ignored, so an ignored one is not asked for.
  for (const int number : passed_signals) {
    if (!is_ignored(number)) sigaddset(&wanted, number);
  }
  sigprocmask(SIG_BLOCK, &wanted, &before_);
  descriptor_ = Descriptor(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
}

PassedSignals::~PassedSignals() {
  while (take().number != 0) {
  }
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

PassedSignals::Signal PassedSignals::take() const {
  signalfd_siginfo info{};
  if (read(descriptor_.get(), &info, sizeof info) != sizeof info) return {};
  return {static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL};
}

ExitCode run_lock(Context& context, const PassedSignals& signals) {
  const LockArguments& wanted = context.arguments.lock;
  Locker locker(context.client, {.lease = wanted.lease});
  const auto mailbox = std::make_shared<Mailbox>();  // callbacks may come until the client closes
  locker.async().lock(wanted.name, {.wait = wanted.wait},
                      [mailbox](LockResult got) { mailbox->put_lock(std::move(got)); });
  std::optional<LockResult> got;
  while (!(got = mailbox->take_lock())) {
    wait_for_either(signals, *mailbox);
    const int number = signals.take().number;
    if (number != 0 && number != SIGCHLD) return code_of(128 + number);
  }
  if (got->failed()) {
    complain(about_key(wanted.name, got->error().message()));
    return exit_code(got->error());
  }
  if (got->busy()) {
    complain("the lock " + printable(wanted.name) + " is held by another; waited " +
             format_duration(wanted.wait) + ".");
    return code_of(lock_not_acquired);
  }
  const ExitCode code = run_program_under(got->guard(), wanted.words, signals, mailbox);
  static_cast<void>(got->guard().release());
  return code;
}

}  // namespace sheaf::cli

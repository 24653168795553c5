// lock: runs a program while a lock is held, and returns the program's exit code.

#include <poll.h>
#include <sys/eventfd.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sheaf/async.h>

#include "base/mutex.h"
#include "base/text.h"
#include "cli/commands/child_program.h"
#include "cli/commands/command.h"
#include "cli/line/lock_words.h"
#include "cli/show/json_lines.h"

namespace sheaf::cli {

namespace {

// Exit codes besides those of ExitCode: the program's own, 128 + n if signal n ended it, and these.
constexpr int lock_not_acquired = 75;
constexpr int lock_lost = 76;

ExitCode code_of(int number) { return static_cast<ExitCode>(number); }

// Filled by callbacks of the client; wakes the thread that polls its descriptor.
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

// Waits for a signal or a letter.
void wait_for_either(const PassedSignals& signals, const Mailbox& mailbox) {
  std::array<pollfd, 2> wanted = {
      {{signals.descriptor(), POLLIN, 0}, {mailbox.descriptor(), POLLIN, 0}}};
  static_cast<void>(poll(wanted.data(), wanted.size(), -1));
  mailbox.clear();
}

// Runs the program until it ends, by itself or because the lock was lost.
ExitCode run_program_under(LockGuard& guard, Context& context,
                           const std::vector<std::string>& words, const PassedSignals& signals,
                           const std::shared_ptr<Mailbox>& mailbox) {
  ChildProgram program;
  const std::string token = "SHEAF_FENCING_TOKEN=" + guard.token().text;
  if (const int error = program.start(words, {token}, signals.before()); error != 0) {
    return ChildProgram::not_started(context, words.front(), error);
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
      complain_of(context, *why,
                  "the lock " + printable(guard.name()) + " is lost, " + printable(words.front()) +
                      " gets SIGTERM: " + why->message());
      program.pass_on(SIGTERM);
    }
    wait_for_either(signals, *mailbox);
    const PassedSignals::Signal signal = signals.take();
    if (signal.number == 0 || signal.number == SIGCHLD || signal.from_terminal) continue;
    program.pass_on(signal.number);
  }
}

ExitCode lock_and_run(Context& context, const LockWords& wanted, const PassedSignals& signals) {
  Locker locker(context.client, {.lease = wanted.lease});
  const auto mailbox = std::make_shared<Mailbox>();  // callbacks may arrive until the client closes
  locker.async().lock(wanted.name, {.wait = wanted.wait}).then([mailbox](LockResult got) {
    mailbox->put_lock(std::move(got));
  });
  std::optional<LockResult> got;
  while (!(got = mailbox->take_lock())) {
    wait_for_either(signals, *mailbox);
    const int number = signals.take().number;
    if (number != 0 && number != SIGCHLD) return ended_by(number);
  }
  if (got->failed()) return complain_about_key(context, wanted.name, got->error());
  if (got->busy()) {
    if (context.json()) context.out.line(json_done(wanted.name, "locked", false));
    complain("the lock " + printable(wanted.name) + " is held by another holder; waited " +
             format_duration(wanted.wait) + ".");
    return code_of(lock_not_acquired);
  }
  const ExitCode code = run_program_under(got->guard(), context, wanted.words, signals, mailbox);
  static_cast<void>(got->guard().release());
  return code;
}

ExitCode run_lock(const Call& call, const LockWords& words) {
  return on_servers_with<PassedSignals>(call, [&](Context& context, const PassedSignals& signals) {
    return lock_and_run(context, words, signals);
  });
}

constexpr OptionRow lock_options[] = {
    {"--lease", "DURATION", "how long a dead holder keeps the lock (default 10s)"},
    {"--wait", "DURATION", "how long to wait for the lock (default 5s; 0ms asks once)"}};

}  // namespace

CommandRow lock_command() {
  return command<read_lock_words, run_lock>(
      {.name = "lock",
       .group = group::keys,
       .arguments = "NAME -- CMD...",
       .purpose = "run a program while a lock is held",
       .text = "CMD has the fencing token in SHEAF_FENCING_TOKEN. The lock is renewed while CMD "
               "runs. The exit code is that of CMD, or 75 if another holder kept the lock for all "
               "of --wait, or 76 if the lock was lost; CMD then got SIGTERM.",
       .examples = {"sheaf lock nightly -- ./backup.sh",
                    "sheaf lock press7 --lease 30s --wait 0ms -- make deploy"},
       .options = lock_options,
       .completion = completes_nothing});
}

}  // namespace sheaf::cli

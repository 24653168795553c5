#include "cli/migrate/migration_run.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "cli/system/input.h"
#include "cli/system/progress.h"

namespace sheaf::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Stage = MigrationStage;

constexpr int signal_check_ms = 100;  // how soon Ctrl-C ends a wait
constexpr int most_drains = 20;       // passes until the old servers are empty
constexpr std::size_t longest_key_line = 1'024;

KeyEnd end_of(Copied copied) noexcept {
  switch (copied) {
    case Copied::copied:
      return KeyEnd::copied;
    case Copied::kept:
      return KeyEnd::kept;
    case Copied::absent:
      return KeyEnd::absent;
    case Copied::overtaken:
      break;
  }
  return KeyEnd::overtaken;
}

// The next stage; nothing: the way ends.
std::optional<Stage> next_stage(Stage stage, bool back) noexcept {
  switch (stage) {
    case Stage::before:
      return back ? std::nullopt : std::optional(Stage::mirror);
    case Stage::mirror:
      return back ? Stage::before : Stage::switched;
    case Stage::switched:
      return back ? Stage::restore : Stage::drain;
    case Stage::drain:
      return back ? Stage::switched : Stage::closing;
    case Stage::closing:
      return back ? Stage::drain : Stage::after;
    case Stage::restore:
      return back ? Stage::mirror : Stage::switched;
    case Stage::after:
      break;
  }
  return std::nullopt;
}

bool leads_to(Stage stage, Stage end, bool back) noexcept {
  for (std::optional<Stage> at = stage; at; at = next_stage(*at, back)) {
    if (*at == end) return true;
  }
  return false;
}

Result<KeyEnd> checked(const Result<bool>& dropped) {
  if (!dropped) return Failure(dropped.error());
  return *dropped ? KeyEnd::stale : KeyEnd::right;
}

// The end of a key whose copy failed. A value that a server of the new fleet refuses as too large
// can never be held there. A limit of our own, for sending or reading, proves nothing: programs may
// have a higher one.
Result<KeyEnd> end_of_failure(Client& from, const std::string& key, const Error& error) {
  if (error.outcome != Outcome::refused || error.reason != Reason::too_large) return Failure(error);
  const auto value = from.get(key);
  if (!value) return Failure(value.error());
  return *value ? KeyEnd::too_large : KeyEnd::absent;
}

Carrier::Act copying(Client& source, Client& target) {
  return [&source, &target](const std::string& key) -> Result<KeyEnd> {
    const auto done = copy_for_migration(source, target, key);
    return done ? end_of(*done) : end_of_failure(source, key, done.error());
  };
}

}  // namespace

MigrationRun::MigrationRun(const MigrateWords& arguments, Fleet from, Fleet to, Output& out,
                           bool json)
    : arguments_(arguments),
      from_(std::move(from)),
      to_(std::move(to)),
      report_(out, json),
      carrier_(arguments.callers) {}

ExitCode MigrationRun::run(const Migration& now) {
  const Interrupts interrupts;
  if (arguments_.back && now.stage == Stage::after) {
    return stopped({ExitCode::usage,
                    "the cache has moved: to bring it back, migrate from the new servers to the "
                    "old ones, with a new file"});
  }
  if (arguments_.until && !leads_to(now.stage, *arguments_.until, arguments_.back)) {
    return stopped({ExitCode::usage, "--until " + std::string(to_string(*arguments_.until)) +
                                         ": no way " + (arguments_.back ? "back" : "forward") +
                                         " leads there from the current stage, which is " +
                                         std::string(to_string(now.stage))});
  }
  if (!arguments_.keys.empty()) {
    if (auto keys = require_keys(); !keys) return stopped(keys.error());
  }
  if (!arguments_.stale.empty()) {
    stale_.reset(std::fopen(arguments_.stale.c_str(), "ae"));
    if (stale_ == nullptr) {
      return stopped(
          {ExitCode::usage, printable(arguments_.stale, 256) + ": " + std::strerror(errno)});
    }
  }
  migration_ = now;
  // Programs may still act within the time that the file named.
  migration_.settle = std::max(arguments_.settle, now.settle.value_or(arguments_.settle));
  migration_.from = migration_servers(from_.config());
  migration_.to = migration_servers(to_.config());
  // Also at the end of the way: the run before may have ended right after it wrote the file.
  const bool resumed = now.stage != Stage::before || now.settle;
  take_counts();
  if (resumed) {
    report_.stage(now.stage, true, *migration_.settle);
    if (auto settled = settle(); !settled) return stopped(settled.error());
  }
  while (!at_end()) {
    if (auto done = finish_stage(); !done) return stopped(done.error());
    auto entered = enter(*next_stage(migration_.stage, arguments_.back));
    if (!entered) return stopped(entered.error());
  }
  report_reads();
  report_.end(migration_.stage,
              migration_.stage == Stage::after || migration_.stage == Stage::before);
  return ExitCode::done;
}

bool MigrationRun::at_end() const noexcept {
  if (arguments_.until && migration_.stage == *arguments_.until) return true;
  return !next_stage(migration_.stage, arguments_.back);
}

ExitCode MigrationRun::stopped(const Stop& stop) {
  if (const int signal = Interrupts::signal(); signal != 0 && stop.sentence.empty()) {
    report_reads();
    report_.end(migration_.stage, false);
    return ended_by(signal);
  }
  complain(stop.sentence);
  return stop.code;
}

// ---- the way

// Does the work of the stage, before the next one begins.
MigrationRun::Step MigrationRun::finish_stage() {
  Client& from = from_.client();
  Client& to = to_.client();
  if (arguments_.back) {
    if (migration_.stage != Stage::restore) return {};
    if (auto listed = list(to_); !listed) return listed;
    if (auto copied = pass("copy back", copying(to, from)); !copied) return copied;
    return pass("check back", [&](const std::string& key) {
      return checked(drop_stale_copy(to, from, key, false, {}));
    });
  }
  if (migration_.stage == Stage::before) return require_empty_target();
  if (migration_.stage == Stage::drain) return empty_source();
  if (migration_.stage != Stage::mirror) return {};
  if (auto listed = list(from_); !listed) return listed;
  if (auto copied = pass("copy", copying(from, to)); !copied) return copied;
  if (auto listed = list(to_); !listed) return listed;
  return pass("check", [&](const std::string& key) {
    return checked(drop_stale_copy(from, to, key, true, {}));
  });
}

MigrationRun::Step MigrationRun::enter(Stage stage) {
  report_reads();
  Migration next = migration_;
  next.stage = stage;
  if (auto written = write_migration(arguments_.state, next); !written) {
    return std::unexpected(Stop{ExitCode::failed, sentence_of(written.error())});
  }
  migration_ = next;
  report_.stage(stage, false, *migration_.settle);
  auto settled = settle();
  take_counts();
  return settled;
}

MigrationRun::Step MigrationRun::settle() {
  const auto end = Clock::now() + *migration_.settle;
  while (Clock::now() < end) {
    if (Interrupts::signal() != 0) return std::unexpected(Stop{ExitCode::failed, ""});
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    ::poll(nullptr, 0, static_cast<int>(std::clamp<std::int64_t>(left, 0, signal_check_ms)));
  }
  return {};
}

// ---- values

// Values already there may be older than those of the old servers.
MigrationRun::Step MigrationRun::require_empty_target() {
  if (arguments_.empty_to) {
    if (auto listed = list(to_); !listed) return listed;
    auto emptied = pass("empty", [&](const std::string& key) -> Result<KeyEnd> {
      const auto removed = to_.client().remove(key);
      if (!removed) return Failure(removed.error());
      return KeyEnd::absent;
    });
    if (!emptied) return emptied;
  }
  std::uint64_t left = 0;
  if (arguments_.keys.empty()) {
    if (auto listed = list(to_); !listed) return listed;
    left = keys_.size();
  } else {
    const auto size = to_.size();
    if (!size) return std::unexpected(Stop{ExitCode::failed, size.error()});
    left = *size;
  }
  if (left == 0) return {};
  std::string text =
      "the servers of --to have " + with_commas(left) + " keys, whose values may be old";
  if (!arguments_.empty_to) text += "; --empty-to removes them first";
  return std::unexpected(Stop{ExitCode::usage, std::move(text)});
}

MigrationRun::Step MigrationRun::list(Fleet& fleet) {
  keys_.clear();
  elsewhere_ = 0;
  if (arguments_.keys.empty()) {
    auto listed = fleet.list_keys(keys_);
    if (!listed) return std::unexpected(Stop{ExitCode::failed, listed.error()});
    elsewhere_ = *listed;
    return {};
  }
  auto read = read_keys([&](std::string_view key) {
    keys_.add(key);
    return keys_.good();
  });
  if (read && !keys_.good()) return std::unexpected(Stop{ExitCode::failed, keys_.failure()});
  return read;
}

MigrationRun::Step MigrationRun::read_keys(
    const std::function<bool(std::string_view key)>& take) const {
  const Descriptor file(::open(arguments_.keys.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) {
    return std::unexpected(
        Stop{ExitCode::usage, printable(arguments_.keys, 256) + ": " + std::strerror(errno)});
  }
  LineReader lines(file.get(), longest_key_line);
  while (const auto key = lines.next()) {
    if (!key->empty() && !take(*key)) return {};
  }
  if (lines.error().empty()) return {};
  return std::unexpected(
      Stop{ExitCode::usage, printable(arguments_.keys, 256) + ": " + lines.error()});
}

MigrationRun::Step MigrationRun::require_keys() const {
  bool any = false;
  auto read = read_keys([&](std::string_view) {
    any = true;
    return false;
  });
  if (!read || any) return read;
  return std::unexpected(
      Stop{ExitCode::usage, printable(arguments_.keys, 256) + ": there is no key in it"});
}

MigrationRun::Step MigrationRun::pass(const char* name, const Carrier::Act& act) {
  PassCounts counts = carrier_.run(keys_, act, [&](const std::string& key) {
    report_.stale(key);
    if (stale_ != nullptr) std::fprintf(stale_.get(), "%s\n", key.c_str());
  });
  if (stale_ != nullptr) std::fflush(stale_.get());
  counts.elsewhere = elsewhere_;
  report_.pass(migration_.stage, name, counts);
  if (!keys_.good()) return std::unexpected(Stop{ExitCode::failed, keys_.failure()});
  if (Interrupts::signal() != 0) return std::unexpected(Stop{ExitCode::failed, ""});
  if (counts.whole()) return {};
  if (counts.refused != 0) {
    return std::unexpected(Stop{
        ExitCode::failed, with_commas(counts.refused) + " keys were refused, the first because: " +
                              counts.first_refusal + "; it stops in the stage " +
                              std::string(to_string(migration_.stage))});
  }
  return std::unexpected(
      Stop{ExitCode::failed, with_commas(counts.failed) + " keys could not be reached (" +
                                 counts.first_error + "); the same command tries again"});
}

// Repeats until the servers list no more keys: a list may lack keys that are read while it is made.
// Any value that is left after that is lost, but never reappears: in the next stage no program
// reads the old servers, and writes still remove it.
MigrationRun::Step MigrationRun::empty_source() {
  Client& from = from_.client();
  Client& to = to_.client();
  for (int number = 0; number < most_drains; ++number) {
    if (auto listed = list(from_); !listed) return listed;
    if (keys_.size() == 0) return {};
    auto moved = pass("move", [&](const std::string& key) -> Result<KeyEnd> {
      const auto done = move_for_migration(from, to, key, {});
      if (done) return end_of(*done);
      auto end = end_of_failure(from, key, done.error());
      // A key too large for the new servers must not be found in the old ones later, either.
      if (end && *end == KeyEnd::too_large) {
        if (const auto removed = from.remove(key); !removed) return Failure(removed.error());
      }
      return end;
    });
    if (!moved) return moved;
    if (!arguments_.keys.empty()) return {};  // nothing lists the keys that are left
  }
  return std::unexpected(Stop{ExitCode::failed, "the old servers still have " +
                                                    with_commas(keys_.size()) + " keys after " +
                                                    std::to_string(most_drains) +
                                                    " passes: some program still writes there"});
}

// ---- hit rates

void MigrationRun::take_counts() {
  from_counts_ = from_.counts();
  to_counts_ = to_.counts();
}

void MigrationRun::report_reads() {
  const auto from = from_.counts();
  const auto to = to_.counts();
  std::optional<StageReads> reads;
  if (from && to && from_counts_ && to_counts_) {
    reads = reads_between(migration_.stage, *from_counts_, *from, *to_counts_, *to);
  }
  report_.reads(migration_.stage, reads);
}

}  // namespace sheaf::cli

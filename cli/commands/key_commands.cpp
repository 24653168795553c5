// get, set, exists, append, prepend, getset: commands for one key.

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/local_error.h"
#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/commands/common_options.h"
#include "cli/line/key_words.h"
#include "cli/show/json_lines.h"
#include "cli/system/input.h"

namespace sheaf::cli {

namespace {

// A fenced read, like LockGuard::read: writes the value back with the token if the key still holds
// it. From then on the store refuses older tokens.
Result<GetResult> claim(Client& client, const GetWords& words, std::chrono::nanoseconds timeout) {
  if (!client.supports(Feature::fencing)) {
    Error error;
    error.outcome = Outcome::unsupported;
    error.text = "servers of this kind do not support fencing tokens";
    return Failure(std::move(error));
  }
  const auto end = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    const auto left = std::max<std::chrono::nanoseconds>(end - std::chrono::steady_clock::now(),
                                                         std::chrono::milliseconds(1));
    auto got = client.get(words.key, {.timeout = left});
    if (!got || !*got) return got;
    const auto claimed = client.set(words.key, (*got)->data,
                                    {.ttl = words.ttl,
                                     .condition = SetCondition::if_absent_or_equal,
                                     .fence = words.fence,
                                     .persist = words.persist,
                                     .timeout = left});
    if (!claimed) return Failure(claimed.error());
    if (claimed->stored) {
      (*got)->version = claimed->version;
      return got;
    }
    if (std::chrono::steady_clock::now() < end) continue;
    Error error;
    error.outcome = Outcome::not_sent;
    error.reason = Reason::timed_out;
    error.text = "other clients kept writing the key";
    return Failure(std::move(error));
  }
}

ExitCode run_get(Context& context, const GetWords& words) {
  if (const auto wrong = check_fence(context.client, words.fence))
    return complain_about(context, *wrong);
  const std::chrono::nanoseconds timeout = context.global.timeout;
  const auto read = [&]() -> Result<GetResult> {
    if (!words.fence.empty()) return claim(context.client, words, timeout);
    if (!words.touch) return context.client.get(words.key, {.timeout = timeout});
    return context.client.get_and_touch(words.key, {.ttl = words.touch, .timeout = timeout});
  };
  const auto got = read();
  if (!got) return complain_about_key(context, words.key, got.error());
  if (context.json()) context.out.line(json_value_and_version(words.key, *got));
  if (!got->has_value()) return negative(context, words.key, "the key is absent");
  if (!context.json()) context.out.value((*got)->data, words.raw);
  return ExitCode::done;
}

constexpr OptionRow get_options[] = {
    options::fence,
    {"--ttl", "DURATION", "with --fence: time to live of that value"},
    {"--persist", "", "with --fence: keep that value on the store's disk"},
    {"--touch", "DURATION", "also give the key this time to live (memcached, redis)"},
    options::raw};

}  // namespace

CommandRow get_command() {
  return command<read_get_words, run_get>(
      {.name = "get",
       .group = group::keys,
       .arguments = "KEY",
       .purpose = "write a key's value to standard output",
       .text = "A file or a pipe gets the exact value. On a terminal, bytes that could control it "
               "are shown as \\xNN and a line end follows; --raw writes them as they are.\n"
               "With --fence the same value is written back with the token if the key still holds "
               "it. From then on the store refuses older tokens.",
       .examples = {"sheaf get press7/speed", "sheaf get session:17 --touch 30m"},
       .options = get_options,
       .completion = completes_nothing});
}

namespace {

ExitCode run_exists(Context& context, const KeyWords& words) {
  const auto got = context.client.get(words.key, {.timeout = context.global.timeout});
  if (!got) return complain_about_key(context, words.key, got.error());
  if (context.json()) context.out.line(json_done(words.key, "exists", got->has_value()));
  return got->has_value() ? ExitCode::done : ExitCode::negative;
}

}  // namespace

CommandRow exists_command() {
  return command<read_key_words, run_exists>(
      {.name = "exists",
       .group = group::keys,
       .arguments = "KEY",
       .purpose = "report in the exit code whether a key exists",
       .text = "The exit code is 0 if it exists and 1 if not. Without --json nothing is printed.",
       .examples = {"sheaf exists press7/ready && ./start", "sheaf exists press7/ready --json"},
       .completion = completes_nothing});
}

namespace {

// The value from the command line, or all of standard input. Nothing: an error was printed.
std::optional<std::string> value_of(Context& context, const ValueWords& words) {
  if (!words.from_stdin) return words.value;
  auto piped = read_all(context.in, context.client.config().value_limit);
  if (piped) return std::move(*piped);
  (void)complain_about_key(
      context, words.key, local_error(Outcome::invalid, Reason::bad_argument, piped.error() + "."));
  return std::nullopt;
}

std::string_view unmet(SetCondition condition) {
  switch (condition) {
    case SetCondition::if_absent_or_equal:
      return "not stored, the key holds another value";
    case SetCondition::if_present:
      return "not stored, the key is absent";
    case SetCondition::if_version:
      return "not stored, the key does not have this version";
    case SetCondition::always:
    case SetCondition::if_absent:
      break;
  }
  return "not stored, the key already exists";
}

ExitCode run_set(Context& context, const SetWords& words) {
  if (const auto wrong = check_fence(context.client, words.fence))
    return complain_about(context, *wrong);
  const auto value = value_of(context, words);
  if (!value) return ExitCode::usage;
  const auto done = context.client.set(words.key, *value,
                                       {.ttl = words.ttl,
                                        .condition = words.condition,
                                        .fence = words.fence,
                                        .version = words.version,
                                        .flags = words.flags,
                                        .persist = words.persist,
                                        .timeout = context.global.timeout});
  if (!done) return complain_about_key(context, words.key, done.error());
  if (context.json()) context.out.line(json_stored(words.key, *done));
  if (!done->stored) return negative(context, words.key, unmet(words.condition));
  if (!context.json()) context.out.line(done->version.text);
  return ExitCode::done;
}

constexpr OptionRow set_options[] = {
    options::ttl,
    options::persist,
    {"--if-absent", "", "only if the key is absent"},
    {"--if-absent-or-equal", "",
     "only if the key is absent or holds exactly this value (not memcached)"},
    {"--if-present", "", "only if the key exists (memcached, redis)"},
    options::if_version,
    options::fence,
    {"--flags", "N", "32 bits stored with the value (memcached)"}};

}  // namespace

CommandRow set_command() {
  return command<read_set_words, run_set>(
      {.name = "set",
       .group = group::keys,
       .arguments = "KEY VALUE|-",
       .purpose = "write a key; prints the new version",
       .text = "The value - stands for all of standard input; after -- it is a literal -. Without "
               "--ttl "
               "the value never expires, unless the cluster has a default_ttl.",
       .examples = {"sheaf set press7/speed 120 --ttl 5m", "sheaf set logo - <logo.png"},
       .options = set_options,
       .completion = completes_nothing});
}

namespace {

// Reports the result of append and prepend; `what` happened to the value.
ExitCode edited(Context& context, const ValueWords& words, const Result<bool>& done,
                const char* what) {
  if (!done) return complain_about_key(context, words.key, done.error());
  if (context.json()) context.out.line(json_done(words.key, what, *done));
  return *done ? ExitCode::done : negative(context, words.key, "the key is absent");
}

ExitCode run_append(Context& context, const ValueWords& words) {
  const auto value = value_of(context, words);
  if (!value) return ExitCode::usage;
  const EditOptions options{.timeout = context.global.timeout};
  return edited(context, words, context.client.append(words.key, *value, options), "appended");
}

ExitCode run_prepend(Context& context, const ValueWords& words) {
  const auto value = value_of(context, words);
  if (!value) return ExitCode::usage;
  const EditOptions options{.timeout = context.global.timeout};
  return edited(context, words, context.client.prepend(words.key, *value, options), "prepended");
}

}  // namespace

CommandRow append_command() {
  return command<read_value_words, run_append>(
      {.name = "append",
       .group = group::keys,
       .arguments = "KEY VALUE|-",
       .purpose = "append bytes to a value (memcached, redis)",
       .text = "An absent key stays absent, and the exit code is 1.",
       .examples = {"sheaf append log:17 'started '", "date | sheaf append log:17 -"},
       .completion = completes_nothing});
}

CommandRow prepend_command() {
  return command<read_value_words, run_prepend>(
      {.name = "prepend",
       .group = group::keys,
       .arguments = "KEY VALUE|-",
       .purpose = "prepend bytes to a value (memcached, redis)",
       .text = "An absent key stays absent, and the exit code is 1.",
       .examples = {"sheaf prepend log:17 'v2 '", "date | sheaf prepend log:17 -"},
       .completion = completes_nothing});
}

namespace {

// True if the condition of getset held; the value before shows whether the key existed.
bool holds(SetCondition condition, bool was_there) {
  return condition == SetCondition::if_absent    ? !was_there
         : condition == SetCondition::if_present ? was_there
                                                 : true;
}

ExitCode run_getset(Context& context, const SetWords& words) {
  const auto value = value_of(context, words);
  if (!value) return ExitCode::usage;
  const auto before = context.client.get_and_set(
      words.key, *value,
      {.ttl = words.ttl, .condition = words.condition, .timeout = context.global.timeout});
  if (!before) return complain_about_key(context, words.key, before.error());
  if (context.json()) context.out.line(json_value(words.key, *before));
  if (!context.json() && *before) context.out.value((*before)->data, words.raw);
  return holds(words.condition, before->has_value())
             ? ExitCode::done
             : negative(context, words.key, unmet(words.condition));
}

constexpr OptionRow getset_options[] = {options::ttl,
                                        {"--if-absent", "", "only if the key is absent (Redis 7)"},
                                        {"--if-present", "", "only if the key exists"},
                                        options::raw};

}  // namespace

CommandRow getset_command() {
  return command<read_set_words, run_getset>(
      {.name = "getset",
       .group = group::keys,
       .arguments = "KEY VALUE|-",
       .purpose = "write a key and print its previous value (redis)",
       .text =
           "Both happen in one step. The exit code is 0 if the value was written, and 1 if the "
           "condition did not hold. Either way the previous value is printed, if there was one; "
           "--json distinguishes an absent key from an empty value.",
       .examples = {"sheaf getset press7/mode auto",
                    "sheaf getset leader n4 --if-absent --ttl 10s"},
       .options = getset_options,
       .completion = completes_nothing});
}

}  // namespace sheaf::cli

// Commands of one key.

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/local_error.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/show/json_lines.h"
#include "cli/system/input.h"

namespace sheaf::cli {

ExitCode complain_about(const Error& error) {
  complain(sentence_of(error));
  return exit_code(error);
}

ExitCode complain_about(const Error& error, bool json, Output& out) {
  if (json) out.line(json_failure(error));
  return complain_about(error);
}

ExitCode complain_about(Context& context, const Error& error) {
  return complain_about(error, context.json(), context.out);
}

namespace {

Error not_allowed(std::string sentence) {
  return local_error(Outcome::invalid, Reason::bad_argument, std::move(sentence));
}

}  // namespace

ExitCode refuse(Context& context, std::string sentence) {
  return complain_about(context, not_allowed(std::move(sentence)));
}

ExitCode fail(const std::string& sentence, bool json, Output& out) {
  if (json) out.line(json_failure(local_error(Outcome::not_sent, Reason::other, ""), sentence));
  complain(sentence);
  return ExitCode::failed;
}

ExitCode complain_about_key(Context& context, std::string_view key, const Error& error) {
  if (context.json()) context.out.line(json_error(key, error));
  complain(about_key(key, sentence_of(error)));
  return exit_code(error);
}

std::string about_key(std::string_view key, std::string_view sentence) {
  std::string about = printable(key);
  if (!about.empty()) about.append(": ");
  return about.append(sentence);
}

namespace {

// The owner for sentences about a key that exists on no node: pure, connects to nothing.
std::string owner_of(const Client& client, std::string_view key) {
  const auto location = client.locate(key);
  return location ? location->node : std::string();
}

}  // namespace

ExitCode negative(Context& context, std::string_view key, std::string_view what) {
  if (!context.json()) {
    complain(printable(key) + ": " + std::string(what) + " on " + owner_of(context.client, key) +
             ".");
  }
  return ExitCode::negative;
}

namespace {

// A fenced read, as LockGuard::read: writes back what it has read, with the token, if the key still
// holds that; from then on the store refuses older tokens.
Result<GetResult> claim(Client& client, const Arguments& arguments) {
  if (!client.supports(Feature::fencing)) {
    Error error;
    error.outcome = Outcome::unsupported;
    error.text = "servers of this kind know no fencing tokens";
    return Failure(std::move(error));
  }
  const std::string& key = arguments.keys.front();
  const auto end = std::chrono::steady_clock::now() + arguments.global.timeout;
  for (;;) {
    const auto left = std::max<std::chrono::nanoseconds>(end - std::chrono::steady_clock::now(),
                                                         std::chrono::milliseconds(1));
    auto got = client.get(key, {.timeout = left});
    if (!got || !*got) return got;
    const auto claimed = client.set(key, (*got)->data,
                                    {.ttl = arguments.ttl,
                                     .condition = SetCondition::if_absent_or_equal,
                                     .fence = arguments.fence,
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
    error.text = "others wrote the key again and again";
    return Failure(std::move(error));
  }
}

}  // namespace

ExitCode run_get(Context& context) {
  const Arguments& arguments = context.arguments;
  const std::string& key = arguments.keys.front();
  const auto read = [&]() -> Result<GetResult> {
    if (!arguments.fence.empty()) return claim(context.client, arguments);
    const Timeout timeout = arguments.global.timeout;
    if (!arguments.touch) return context.client.get(key, {.timeout = timeout});
    return context.client.get_and_touch(key, {.ttl = arguments.touch, .timeout = timeout});
  };
  const auto got = read();
  if (!got) return complain_about_key(context, key, got.error());
  if (context.json()) context.out.line(json_value_and_version(key, *got));
  if (!got->has_value()) return negative(context, key, "the key is absent");
  if (!context.json()) context.out.value((*got)->data, arguments.raw);
  return ExitCode::done;
}

ExitCode run_exists(Context& context) {
  const std::string& key = context.arguments.keys.front();
  const auto got = context.client.get(key, {.timeout = context.arguments.global.timeout});
  if (!got) return complain_about_key(context, key, got.error());
  if (context.json()) context.out.line(json_done(key, "exists", got->has_value()));
  return got->has_value() ? ExitCode::done : ExitCode::negative;
}

namespace {

// The value of the command line, or all of standard input. Nothing: a sentence was printed.
std::optional<std::string> value_of(Context& context) {
  const Arguments& arguments = context.arguments;
  if (!arguments.from_stdin) return arguments.value;
  auto piped = read_all(context.in, context.client.config().value_limit);
  if (piped) return std::move(*piped);
  (void)complain_about_key(context, arguments.keys.front(), not_allowed(piped.error() + "."));
  return std::nullopt;
}

std::string_view unmet(SetCondition condition) {
  switch (condition) {
    case SetCondition::if_absent_or_equal:
      return "not stored, the key holds another value";
    case SetCondition::if_present:
      return "not stored, the key is absent";
    case SetCondition::if_version:
      return "not stored, the key is not at this version";
    case SetCondition::always:
    case SetCondition::if_absent:
      break;
  }
  return "not stored, the key is there already";
}

// A condition of getset, for which the value before tells whether the key was there.
bool holds(SetCondition condition, bool was_there) {
  return condition == SetCondition::if_absent    ? !was_there
         : condition == SetCondition::if_present ? was_there
                                                 : true;
}

}  // namespace

ExitCode run_set(Context& context) {
  const Arguments& arguments = context.arguments;
  const std::string& key = arguments.keys.front();
  const auto value = value_of(context);
  if (!value) return ExitCode::usage;
  const auto done = context.client.set(key, *value,
                                       {.ttl = arguments.ttl,
                                        .condition = arguments.condition,
                                        .fence = arguments.fence,
                                        .version = arguments.version,
                                        .flags = arguments.flags,
                                        .timeout = arguments.global.timeout});
  if (!done) return complain_about_key(context, key, done.error());
  if (context.json()) context.out.line(json_stored(key, *done));
  if (!done->stored) return negative(context, key, unmet(arguments.condition));
  if (!context.json()) context.out.line(done->version.text);
  return ExitCode::done;
}

ExitCode run_edit(Context& context) {
  const Arguments& arguments = context.arguments;
  const std::string& key = arguments.keys.front();
  const auto value = value_of(context);
  if (!value) return ExitCode::usage;
  const EditOptions options{.timeout = arguments.global.timeout};
  const bool behind = arguments.command == Command::append;
  const auto done = behind ? context.client.append(key, *value, options)
                           : context.client.prepend(key, *value, options);
  if (!done) return complain_about_key(context, key, done.error());
  if (context.json()) context.out.line(json_done(key, behind ? "appended" : "prepended", *done));
  return *done ? ExitCode::done : negative(context, key, "the key is absent");
}

ExitCode run_getset(Context& context) {
  const Arguments& arguments = context.arguments;
  const std::string& key = arguments.keys.front();
  const auto value = value_of(context);
  if (!value) return ExitCode::usage;
  const auto before = context.client.get_and_set(key, *value,
                                                 {.ttl = arguments.ttl,
                                                  .condition = arguments.condition,
                                                  .timeout = arguments.global.timeout});
  if (!before) return complain_about_key(context, key, before.error());
  if (context.json()) context.out.line(json_value(key, *before));
  if (!context.json() && *before) context.out.value((*before)->data, arguments.raw);
  return holds(arguments.condition, before->has_value())
             ? ExitCode::done
             : negative(context, key, unmet(arguments.condition));
}

ExitCode run_del(Context& context) {
  const Arguments& arguments = context.arguments;
  if (arguments.keys.size() != 1) return run_del_many(context);
  const std::string& key = arguments.keys.front();
  RemoveOptions options;
  if (arguments.if_value) options.if_value = *arguments.if_value;
  options.if_version = arguments.if_version;
  options.fence = arguments.fence;
  options.timeout = arguments.global.timeout;
  const auto done = context.client.remove(key, options);
  if (!done) return complain_about_key(context, key, done.error());
  if (context.json()) context.out.line(json_removed(key, *done));
  switch (done->found) {
    case RemoveResult::removed:
      return ExitCode::done;
    case RemoveResult::absent:
      return negative(context, key, "the key is absent");
    case RemoveResult::value_differs:
      return negative(context, key,
                      arguments.if_version ? "not removed, the key is not at this version"
                                           : "not removed, the key holds another value");
  }
  return ExitCode::failed;
}

}  // namespace sheaf::cli

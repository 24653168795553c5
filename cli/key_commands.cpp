// get, set, del: one key each.

#include <algorithm>
#include <chrono>
#include <expected>
#include <string>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/input.h"
#include "cli/json_lines.h"

namespace sheaf::cli {

ExitCode complain_about(const Error& error) {
  complain(error.message());
  return exit_code(error);
}

ExitCode complain_about_key(Context& context, std::string_view key, const Error& error) {
  const std::string sentence = error.message();
  if (context.json()) context.out.line(json_error(key, sentence));
  complain(about_key(key, sentence));
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
  const std::string& key = context.arguments.keys.front();
  const auto got = context.arguments.fence.empty()
                       ? context.client.get(key, {.timeout = context.arguments.global.timeout})
                       : claim(context.client, context.arguments);
  if (!got) return complain_about_key(context, key, got.error());
  if (context.json()) context.out.line(json_value_and_version(key, *got));
  if (!got->has_value()) return negative(context, key, "the key is absent");
  if (!context.json()) context.out.write((*got)->data);
  return ExitCode::done;
}

ExitCode run_set(Context& context) {
  const Arguments& arguments = context.arguments;
  const std::string& key = arguments.keys.front();
  std::expected<std::string, std::string> piped;
  if (arguments.from_stdin) {
    piped = read_all(context.in, context.client.config().value_limit);
    if (!piped) {
      complain(printable(key) + ": " + piped.error() + ".");
      return ExitCode::usage;
    }
  }
  const auto done = context.client.set(key, arguments.from_stdin ? *piped : arguments.value,
                                       {.ttl = arguments.ttl,
                                        .condition = arguments.condition,
                                        .fence = arguments.fence,
                                        .timeout = arguments.global.timeout});
  if (!done) return complain_about_key(context, key, done.error());
  if (context.json()) context.out.line(json_stored(key, *done));
  if (!done->stored) {
    const bool compared = arguments.condition == SetCondition::if_absent_or_equal;
    return negative(context, key,
                    compared ? "not stored, the key holds another value"
                             : "not stored, the key is there already");
  }
  if (!context.json()) context.out.line(done->version.text);
  return ExitCode::done;
}

ExitCode run_del(Context& context) {
  const Arguments& arguments = context.arguments;
  const std::string& key = arguments.keys.front();
  RemoveOptions options;
  if (arguments.if_value) options.if_value = *arguments.if_value;
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
      return negative(context, key, "not removed, the key holds another value");
  }
  return ExitCode::failed;
}

}  // namespace sheaf::cli

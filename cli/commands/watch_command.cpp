// watch: prints one line of JSON for each event, until a signal ends it.

#include <algorithm>
#include <span>

#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/commands/keys.h"
#include "cli/line/key_words.h"
#include "cli/show/json_lines.h"
#include "cli/system/signals.h"

namespace sheaf::cli {

namespace {

// How long a signal may have to wait.
constexpr std::chrono::milliseconds signal_delay{100};
constexpr std::size_t most_queued = 65'536;

// True if the client no longer asks for the key.
bool is_final(const Error& error) {
  return error.outcome == Outcome::invalid || error.outcome == Outcome::unsupported ||
         error.reason == Reason::not_authorized;
}

// Prints events, and decides how the program ends, if it does.
class Follower {
 public:
  Follower(Context& context, std::size_t keys) : context_(context), keys_(keys) {}

  std::optional<ExitCode> take(const WatchEvent& event) {
    if (event.kind == WatchEvent::Kind::failed) return fail_for(event);
    reached_ = true;
    context_.out.line(json_event(event));
    return context_.out.flush() ? std::nullopt : std::optional(ExitCode::failed);
  }
  bool reached() const noexcept { return reached_; }

 private:
  std::optional<ExitCode> fail_for(const WatchEvent& event) {
    if (!is_final(*event.error)) {
      complain_of(context_, *event.error, about_key(event.key, sentence_of(*event.error)));
      return std::nullopt;
    }
    (void)complain_about_key(context_, event.key, *event.error);
    if (!context_.out.flush()) return ExitCode::failed;
    lost_.add_failure(*event.error);
    if (lost_.failures() < keys_) return std::nullopt;
    return lost_.exit_code();
  }

  Context& context_;
  std::size_t keys_;
  Tally lost_;
  bool reached_ = false;
};

// Runs until `signals` report the end.
ExitCode follow(Context& context, const KeysWords& words, const Signals& signals) {
  const auto list = read_keys(context, words);
  if (!list) return ExitCode::usage;
  auto watch = context.client.watch(std::span<const std::string_view>(list->keys),
                                    {.queue_limit = most_queued});
  if (!watch) return complain_about(context, watch.error());
  Follower follower(context, list->keys.size());
  const auto give_up = std::chrono::steady_clock::now() + context.global.timeout;
  while (signals.wait(std::chrono::milliseconds(0)) != Signals::Event::end) {
    const auto event = watch->next({.wait = signal_delay});
    if (!event) return complain_about(context, event.error());
    if (*event) {
      if (const auto code = follower.take(**event)) return *code;
    } else if (!follower.reached() && std::chrono::steady_clock::now() >= give_up) {
      return fail(context, "no node of these keys was reached within --timeout.");
    }
  }
  return ExitCode::done;
}

ExitCode run_watch(const Call& call, const KeysWords& words) {
  return on_servers_with<Signals>(call, [&](Context& context, const Signals& signals) {
    return follow(context, words, signals);
  });
}

}  // namespace

CommandRow watch_command() {
  return command<read_keys_words, run_watch>(
      {.name = "watch",
       .group = group::keys,
       .arguments = "KEY...|-",
       .purpose = "print the values of keys and every change, as lines of JSON",
       .text = "It ends at Ctrl-C, SIGTERM or SIGHUP. A line with the event gap says that changes "
               "may have been missed. With - there is one key on each line of standard input.",
       .examples = {"sheaf watch press7/speed press7/mode",
                    "sheaf watch - <keys.txt >changes.json"},
       .completion = completes_nothing});
}

}  // namespace sheaf::cli

// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/changes/command_rules.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"
#include "protocol/refusals.h"
#include "protocol/resp/wire/name_filter.h"

namespace sheaf::protocol::resp {
namespace {

enum class Why : std::uint8_t {
  login,        // it changes the connection's login or protocol
  transaction,  // it pulls other callers' requests into a transaction
  waits,        // later commands would wait, too
  pushes,       // messages after its reply answer no request
  mode,         // it changes how later requests are executed or answered
  ends          // it ends the connection
};

struct Rule {
  std::string_view name;
  std::string_view word;  // its first argument or an option; empty: the whole command
  Why why;
};

// By name.
constexpr std::array rules{
    Rule{"ASKING", "", Why::mode},           Rule{"AUTH", "", Why::login},
    Rule{"BLMOVE", "", Why::waits},          Rule{"BLMPOP", "", Why::waits},
    Rule{"BLPOP", "", Why::waits},           Rule{"BRPOP", "", Why::waits},
    Rule{"BRPOPLPUSH", "", Why::waits},      Rule{"BZMPOP", "", Why::waits},
    Rule{"BZPOPMAX", "", Why::waits},        Rule{"BZPOPMIN", "", Why::waits},
    Rule{"CLIENT", "CACHING", Why::mode},    Rule{"CLIENT", "CAPA", Why::mode},
    Rule{"CLIENT", "NO-TOUCH", Why::mode},   Rule{"CLIENT", "REPLY", Why::mode},
    Rule{"CLIENT", "TRACKING", Why::pushes}, Rule{"DISCARD", "", Why::transaction},
    Rule{"EXEC", "", Why::transaction},      Rule{"HELLO", "", Why::login},
    Rule{"MONITOR", "", Why::pushes},        Rule{"MULTI", "", Why::transaction},
    Rule{"PSUBSCRIBE", "", Why::pushes},     Rule{"PSYNC", "", Why::pushes},
    Rule{"PUNSUBSCRIBE", "", Why::pushes},   Rule{"QUIT", "", Why::ends},
    Rule{"READONLY", "", Why::mode},         Rule{"READWRITE", "", Why::mode},
    Rule{"REPLCONF", "", Why::pushes},       Rule{"RESET", "", Why::login},
    Rule{"SELECT", "", Why::mode},           Rule{"SSUBSCRIBE", "", Why::pushes},
    Rule{"SUBSCRIBE", "", Why::pushes},      Rule{"SUNSUBSCRIBE", "", Why::pushes},
    Rule{"SYNC", "", Why::pushes},           Rule{"UNSUBSCRIBE", "", Why::pushes},
    Rule{"UNWATCH", "", Why::transaction},   Rule{"WAIT", "", Why::waits},
    Rule{"WAITAOF", "", Why::waits},         Rule{"WATCH", "", Why::transaction},
    Rule{"XREAD", "BLOCK", Why::waits},      Rule{"XREADGROUP", "BLOCK", Why::waits},
};
static_assert(std::ranges::is_sorted(rules, {}, &Rule::name));
constexpr NameFilter ruled_names(rules, &Rule::name);

std::string_view reason_of(Why why) noexcept {
  switch (why) {
    case Why::login:
      return "it changes the login or the protocol of a connection that other requests share";
    case Why::transaction:
      return "a transaction would include other requests on the same connection";
    case Why::waits:
      return "it would block other requests on the same connection";
    case Why::pushes:
      return "the server would send more than one reply";
    case Why::mode:
      return "it changes how other requests on the same connection are carried out";
    case Why::ends:
      break;
  }
  return "it ends a connection that other requests share";
}

// The words that may be a subcommand or an option; keys follow STREAMS.
std::span<const std::string_view> options_of(std::span<const std::string_view> words) noexcept {
  if (equals_ignoring_case(words.front(), "CLIENT"))
    return words.subspan(1).first(words.size() > 1);
  const auto streams = std::ranges::find_if(
      words, [](std::string_view word) { return equals_ignoring_case(word, "STREAMS"); });
  return {words.begin() + 1, std::max(words.begin() + 1, streams)};
}

bool applies(const Rule& rule, std::span<const std::string_view> words) noexcept {
  if (!equals_ignoring_case(words.front(), rule.name)) return false;
  return rule.word.empty() || std::ranges::any_of(options_of(words), [&](std::string_view word) {
           return equals_ignoring_case(word, rule.word);
         });
}

}  // namespace

std::optional<LocalError> refusal_of_command(std::span<const std::string_view> words) {
  if (words.empty() || words.front().empty()) return invalid("the command is empty");
  if (words.size() > most_words) {
    return LocalError{Outcome::invalid, Reason::too_large,
                      "the command has " + std::to_string(words.size()) + " words, above the " +
                          std::to_string(most_words) + " that a server takes"};
  }
  if (!ruled_names.may_have(words.front())) return std::nullopt;
  const auto rule =
      std::ranges::find_if(rules, [&](const Rule& candidate) { return applies(candidate, words); });
  if (rule == rules.end()) return std::nullopt;
  std::string text(rule->name);
  if (!rule->word.empty()) text.append(" ").append(rule->word);
  return unsupported(text.append(" is not passed through: ").append(reason_of(rule->why)));
}

}  // namespace sheaf::protocol::resp

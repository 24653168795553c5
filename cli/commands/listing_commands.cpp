// keys, ttl: which keys there are, and how long they live.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/local_error.h"
#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/commands/common_options.h"
#include "cli/commands/keys.h"
#include "cli/line/key_words.h"
#include "cli/line/password.h"
#include "cli/listing/memcached_keys.h"
#include "cli/listing/redis_keys.h"
#include "cli/listing/store_keys.h"
#include "cli/show/json_lines.h"
#include "cli/show/key_lines.h"
#include "cli/system/progress.h"

namespace sheaf::cli {

namespace {

// Prints each key as it comes.
class PrintedKeys final : public KeyListener {
 public:
  PrintedKeys(Context& context, const ListingWords& words)
      : context_(context), words_(words), columns_{words.ttl, words.size} {}

  void take(const ListedKey& key) override {
    ++count_;
    context_.out.line(context_.json() ? json_listed(key, columns_)
                                      : key_line(key, columns_, words_.raw));
  }
  void fail(const std::string& node, const Error& error) override {
    if (context_.json()) context_.out.line(json_node_error(node, error));
    complain_of(context_, error, error.node.empty() ? error.text : sentence_of(error));
    tally_.add_failure(error);
  }
  void page() override { context_.out.flush(); }
  bool enough() const override {
    return count_ >= words_.limit || context_.out.failed() || Interrupts::signal() != 0;
  }

  ExitCode finish() const {
    if (const int signal = Interrupts::signal(); signal != 0) {
      complain("interrupted: " + with_commas(count_) + " keys were listed.");
      return ended_by(signal);
    }
    return tally_.exit_code();
  }

 private:
  Context& context_;
  const ListingWords& words_;
  KeyColumns columns_;
  std::uint64_t count_ = 0;
  Tally tally_;
};

// With the password that may be in a file.
Result<protocol::SharedLogin> full_login(const Context& context) {
  const std::string& file = context.client.config().password_file;
  if (file.empty()) return context.login;
  const auto password = read_password(file);
  if (password) return protocol::make_login(context.client.config().user, password->view());
  return Failure(
      local_error(Outcome::not_sent, Reason::authentication,
                  "the password_file " + printable(file, 256) + ": " + password.error()));
}

ExitCode run_keys(Context& context, const ListingWords& words) {
  const Interrupts interrupts;
  const KeyQuery query{words.pattern, {words.ttl, words.size}, context.global.timeout};
  PrintedKeys keys(context, words);
  if (context.client.supports(Feature::commands)) {
    list_redis_keys(context.client, query, keys);
  } else if (context.client.supports(Feature::flags)) {
    const auto login = full_login(context);
    if (!login) return complain_about(context, login.error());
    list_memcached_keys(context.client, login->get(), query, keys);
  } else {
    list_store_keys(context.client, query, keys);
  }
  return keys.finish();
}

constexpr OptionRow keys_options[] = {
    {"--ttl", "", "with the seconds that each still lives; -: it never expires"},
    {"--size", "", "with the bytes of each value (memcached: of its item)"},
    {"--limit", "N", "end after N keys"},
    options::raw};

}  // namespace

CommandRow keys_command() {
  return command<read_listing_words, run_keys>(
      {.name = "keys",
       .group = group::keys,
       .arguments = "[PATTERN]",
       .purpose = "list the keys of all servers, page by page",
       .text =
           "PATTERN has Redis' rules: * is any bytes, ? one byte, [a-z] one of these. A key that "
           "exists throughout is listed, perhaps twice; the list is no snapshot. If a server "
           "cannot be read, the others are listed, and the exit code is 3.\n"
           "Columns follow a tab. In keys, backslashes and all that is no text are \\xNN.",
       .examples = {"sheaf keys 'session:*' --ttl", "sheaf keys --raw 'tmp/*' | sheaf del -"},
       .options = keys_options,
       .completion = completes_nothing});
}

namespace {

// Nothing: the key is absent.
Result<std::optional<TimeToLive>> ttl_of(Context& context, std::string_view key) {
  if (context.client.supports(Feature::commands)) {
    Command command{"PTTL", key};
    return context.client
        .execute(std::move(command.keys({std::string(key)})), {.timeout = context.global.timeout})
        .transform([](const CommandReply& reply) { return time_left(reply); });
  }
  if (context.client.supports(Feature::persist)) {
    return store_time_left(context.client, key, context.global.timeout);
  }
  return context.client.get(key, {.timeout = context.global.timeout, .ttl_left = true})
      .transform([](const GetResult& value) {
        return value ? std::optional<TimeToLive>(value->ttl_left) : std::nullopt;
      });
}

ExitCode run_ttl(Context& context, const KeysWords& words) {
  const Interrupts interrupts;
  const auto list = read_keys(context, words);
  if (!list) return ExitCode::usage;
  const bool one = list->keys.size() == 1;
  Tally tally;
  bool all_there = true;
  for (const std::string_view key : list->keys) {
    if (Interrupts::signal() != 0) return ended_by(Interrupts::signal());
    if (context.out.failed()) break;
    const auto ttl = ttl_of(context, key);
    if (!ttl) {
      (void)complain_about_key(context, key, ttl.error());
      tally.add_failure(ttl.error());
      continue;
    }
    tally.add_success();
    if (context.json()) context.out.line(json_ttl(key, *ttl));
    if (!*ttl) {
      (void)negative(context, key, "the key is absent");
      all_there = false;
    } else if (!context.json()) {
      context.out.line(one ? ttl_text(**ttl)
                           : key_line({key, **ttl, {}}, {.ttl = true}, words.raw));
    }
  }
  return tally.failures() == 0 && !all_there ? ExitCode::negative : tally.exit_code();
}

constexpr OptionRow ttl_options[] = {options::raw};

}  // namespace

CommandRow ttl_command() {
  return command<read_keys_words, run_ttl>(
      {.name = "ttl",
       .group = group::keys,
       .arguments = "KEY...|-",
       .purpose = "print how many seconds keys still live",
       .text = "A key that never expires has a -. For several keys each line begins with the key "
               "and a tab. If a key is absent, the exit code is 1. With - there is one key on each "
               "line of standard input.",
       .examples = {"sheaf ttl session:17", "sheaf keys 'session:*' --raw | sheaf ttl -"},
       .options = ttl_options,
       .completion = completes_nothing});
}

}  // namespace sheaf::cli

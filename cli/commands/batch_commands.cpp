// mget, mset and del work on many keys. Input of any length is read and answered in parts, and each
// part gets the whole --timeout.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/commands/common_options.h"
#include "cli/commands/keys.h"
#include "cli/line/key_words.h"
#include "cli/show/json_lines.h"
#include "cli/show/tab_lines.h"
#include "cli/system/input.h"
#include "cli/system/progress.h"

namespace sheaf::cli {

namespace {

// One part is at most one batch of the client: `--timeout` bounds a request, and an unlimited batch
// could not meet it.
constexpr std::size_t part_keys = 4'096;
constexpr std::size_t part_bytes = 8u << 20;
constexpr std::size_t longest_key_line = 1u << 20;

// Counts how the keys of a batch end and reports it. Without --json it prints a sentence for each
// failed key; with --json a line for each, and one sentence at the end.
class Report {
 public:
  explicit Report(Context& context) : context_(context) {}

  void success() noexcept { tally_.add_success(); }
  void absent() noexcept {
    tally_.add_success();
    ++absent_;
  }
  // `line` of standard input; 0: not from standard input.
  void failure(std::string_view key, const Error& error, std::uint64_t line = 0) {
    tally_.add_failure(error);
    const std::string place = line == 0 ? "" : "line " + std::to_string(line) + ": ";
    const std::string sentence = place + about_key(key, sentence_of(error));
    if (!context_.json()) return complain_of(context_, error, sentence);
    context_.out.line(json_error(key, error));
    if (first_.empty()) first_ = sentence;
  }
  // Something that ends the command early, in one sentence.
  void stop(ExitCode code, std::string sentence) {
    code_ = code;
    why_ = std::move(sentence);
  }
  bool stopped() const noexcept { return code_ != ExitCode::done; }
  const Tally& tally() const noexcept { return tally_; }

  ExitCode finish(const char* done) const {
    const std::string of_all = " of " + with_commas(tally_.total()) + " keys ";
    if (absent_ > 0 && !context_.json()) complain(with_commas(absent_) + of_all + "are absent.");
    if (!first_.empty())
      complain(with_commas(tally_.failures()) + of_all + "failed, the first is " + first_);
    if (const int signal = Interrupts::signal(); signal != 0) {
      complain("interrupted: " + with_commas(tally_.answered()) + " keys were " + done + ".");
      return ended_by(signal);
    }
    if (!why_.empty()) (void)refuse(context_, why_);
    return stopped() ? code_ : tally_.exit_code();
  }

 private:
  Context& context_;
  Tally tally_;
  std::size_t absent_ = 0;
  std::string first_;
  ExitCode code_ = ExitCode::done;
  std::string why_;
};

// Passes on the keys of the command line or of standard input, in parts.
void for_each_part(Context& context, const KeysWords& words, Report& report,
                   const std::function<void(std::span<const std::string_view>)>& ask) {
  if (!words.from_stdin) {
    const auto list = read_keys(context, words);
    if (!list) return report.stop(ExitCode::usage, "");
    std::span<const std::string_view> rest = list->keys;
    while (!rest.empty() && !context.out.failed()) {
      const auto part = rest.first(std::min(rest.size(), part_keys));
      rest = rest.subspan(part.size());
      ask(part);
    }
    return;
  }
  LineReader lines(context.in, longest_key_line);
  Progress progress("keys", lines.total());
  std::vector<std::string> owned;
  std::vector<std::string_view> part;
  for (bool more = true; more && Interrupts::signal() == 0 && !context.out.failed();) {
    owned.clear();
    std::size_t bytes = 0;
    while (owned.size() < part_keys && bytes < part_bytes) {
      const auto line = lines.next();
      more = line.has_value();
      if (!more) break;
      const auto location = context.client.locate(*line);
      if (!location && location.error().outcome == Outcome::invalid) {
        report.failure(*line, location.error(), lines.lines());
        continue;
      }
      owned.emplace_back(*line);
      bytes += line->size();
    }
    part.assign(owned.begin(), owned.end());
    if (!part.empty() && Interrupts::signal() == 0) ask(part);
    progress.show(report.tally().total(), lines.bytes());
  }
  if (!lines.error().empty()) report.stop(ExitCode::usage, lines.error() + ".");
}

// Finds the result for each key as given: a key given twice has only one result.
template <class T, class Take>
void for_each_given(std::span<const std::string_view> keys,
                    const std::vector<KeyResult<T>>& results, Take take) {
  if (results.size() == keys.size()) {
    for (const auto& [key, result] : results) take(key, result);
    return;
  }
  std::unordered_map<std::string_view, const Result<T>*> by_key;
  for (const auto& [key, result] : results) by_key.emplace(key, &result);
  for (const std::string_view key : keys) take(key, *by_key.at(key));
}

void print_value(Context& context, std::string_view key, const GetResult& value, bool raw) {
  if (context.json()) {
    context.out.line(json_value(key, value));
  } else if (value) {
    context.out.value(key, true);
    context.out.write("\t");
    context.out.value_line(value->data, raw);
  }
}

// Why a line cannot be written, as far as known without asking a node; empty if it can.
std::string objection(const Client& client, const KeyValue& item) {
  const std::uint64_t limit = client.config().value_limit;
  if (item.value.size() > limit) {
    return "has a value of " + std::to_string(item.value.size()) + " bytes, above the limit of " +
           std::to_string(limit);
  }
  const auto location = client.locate(item.key);
  if (location || location.error().outcome != Outcome::invalid) return "";
  return "has a key that is not allowed: " + location.error().text;
}

// Lines of items, checked one by one. A file, or a pipe of up to `most_ahead` bytes, is checked as
// a whole before the first item is returned. --json or the first line decides the form of all
// lines.
class ItemReader {
 public:
  explicit ItemReader(Context& context)
      : context_(context),
        // JSON may write a byte as six; base64 writes three as four.
        lines_(context.in, 6 * (context.client.config().value_limit + longest_key_line)) {}

  // False: a line is not allowed; no item has been returned.
  bool check_first() {
    if (lines_.total() > most_ahead) {
      while (read()) {
      }
      if (error_.empty() && !lines_.rewind()) error_ = "standard input cannot be read twice";
      return error_.empty();
    }
    while (lines_.bytes() < most_ahead) {
      auto item = read();
      if (!item) return error_.empty();
      ahead_.push_back(std::move(*item));
    }
    return true;
  }
  // Nothing at the end, and at a line that is not allowed.
  std::optional<KeyValue> next() {
    if (ahead_.empty()) return error_.empty() ? read() : std::nullopt;
    KeyValue first = std::move(ahead_.front());
    ahead_.pop_front();
    return first;
  }
  LineReader& lines() noexcept { return lines_; }
  const std::string& error() const noexcept { return error_; }

 private:
  std::optional<KeyValue> read() {
    const auto line = lines_.next();
    if (!line) {
      error_ = lines_.error();
      return std::nullopt;
    }
    auto item = parse(*line);
    std::string why = item ? objection(context_.client, *item) : item.error();
    if (why.empty()) return std::move(*item);
    error_ = "line " + std::to_string(lines_.lines()) + " " + std::move(why);
    return std::nullopt;
  }

  std::expected<KeyValue, std::string> parse(std::string_view line) {
    if (!form_ && context_.json()) form_ = LineForm::json;
    if (!form_) {
      const auto form = form_of_line(line);
      if (!form) return std::unexpected(form.error());
      form_ = *form;
    }
    return *form_ == LineForm::json ? parse_json_line(line) : parse_tab_line(line);
  }

  static constexpr std::size_t most_ahead = 4u << 20;

  Context& context_;
  LineReader lines_;
  std::optional<LineForm> form_;
  std::deque<KeyValue> ahead_;
  std::string error_;
};

void write_part(Context& context, std::span<const KeyValue> items, const MsetWords& words,
                Report& report) {
  std::vector<SetItem> views;
  views.reserve(items.size());
  for (const KeyValue& item : items) views.push_back({item.key, item.value});
  const BatchSetOptions options{
      .ttl = words.ttl, .persist = words.persist, .timeout = context.global.timeout};
  for (const auto& [key, result] : context.client.set_many(views, options)) {
    if (!result) {
      report.failure(key, result.error());
      continue;
    }
    report.success();
    if (context.json()) context.out.line(json_stored(key, *result));
  }
}

void write_all_parts(Context& context, ItemReader& reader, const MsetWords& words, Report& report) {
  Progress progress("keys", reader.lines().total());
  std::vector<KeyValue> part;
  for (bool more = true; more && Interrupts::signal() == 0;) {
    part.clear();
    std::size_t bytes = 0;
    while (part.size() < part_keys && bytes < part_bytes) {
      auto item = reader.next();
      more = item.has_value();
      if (!more) break;
      bytes += item->key.size() + item->value.size();
      part.push_back(std::move(*item));
    }
    if (!part.empty() && Interrupts::signal() == 0) write_part(context, part, words, report);
    progress.show(report.tally().total(), reader.lines().bytes());
  }
}

ExitCode run_mget(Context& context, const KeysWords& words) {
  const Interrupts interrupts;
  Report report(context);
  std::vector<KeyResult<GetResult>> results;
  for_each_part(context, words, report, [&](std::span<const std::string_view> part) {
    const BatchOptions options{.timeout = context.global.timeout};
    results = context.client.get_many(part, options, std::move(results));
    for_each_given(part, results, [&](std::string_view key, const Result<GetResult>& result) {
      if (!result) return report.failure(key, result.error());
      if (*result) {
        report.success();
      } else {
        report.absent();
      }
      print_value(context, key, *result, words.raw);
    });
  });
  return report.finish("read");
}

constexpr OptionRow mget_options[] = {options::raw};

}  // namespace

CommandRow mget_command() {
  return command<read_keys_words, run_mget>(
      {.name = "mget",
       .group = group::keys,
       .arguments = "KEY...|-",
       .purpose = "read many keys, all nodes in parallel; prints KEY<TAB>VALUE",
       .text = "There is one line for each key that exists; standard error counts the others. "
               "With - there is one key on each line of standard input, which is read and answered "
               "in parts, so any number of keys fits. Use --json if keys may hold tabs, or keys or "
               "values line feeds. mset reads what mget prints.",
       .examples = {"sheaf mget press7/speed press7/mode", "sheaf mget - <keys.txt --json"},
       .options = mget_options,
       .completion = completes_nothing});
}

namespace {

ExitCode del_one(Context& context, const DelWords& words) {
  const std::string& key = words.keys.front();
  RemoveOptions options;
  if (words.if_value) options.if_value = *words.if_value;
  options.if_version = words.if_version;
  options.fence = words.fence;
  options.timeout = context.global.timeout;
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
                      words.if_version ? "not removed, the key does not have this version"
                                       : "not removed, the key holds another value");
  }
  return ExitCode::failed;
}

ExitCode run_del(Context& context, const DelWords& words) {
  if (const auto wrong = check_fence(context.client, words.fence))
    return complain_about(context, *wrong);
  if (words.keys.size() == 1) return del_one(context, words);
  const Interrupts interrupts;
  Report report(context);
  for_each_part(context, words, report, [&](std::span<const std::string_view> part) {
    const BatchOptions options{.timeout = context.global.timeout};
    for (const auto& [key, result] : context.client.remove_many(part, options)) {
      if (!result) {
        report.failure(key, result.error());
        continue;
      }
      if (*result == RemoveResult::removed) {
        report.success();
      } else {
        report.absent();
      }
      if (context.json()) context.out.line(json_removed(key, *result));
    }
  });
  return report.finish("removed or absent");
}

constexpr OptionRow del_options[] = {
    {"--if-value", "VALUE", "only if the key holds exactly this value (not memcached)"},
    options::if_version,
    options::fence};

}  // namespace

CommandRow del_command() {
  return command<read_del_words, run_del>(
      {.name = "del",
       .group = group::keys,
       .arguments = "KEY...|-",
       .purpose = "remove keys",
       .text = "With - there is one key on each line of standard input. Conditions and --fence "
               "work with one key only.",
       .examples = {"sheaf del press7/speed press7/mode", "sheaf del press7/mode --if-value auto"},
       .options = del_options,
       .completion = completes_nothing});
}

namespace {

ExitCode run_mset(Context& context, const MsetWords& words) {
  const Interrupts interrupts;
  Report report(context);
  ItemReader reader(context);
  if (!reader.check_first()) {
    return refuse(context, reader.error() + "; nothing was written.");
  }
  write_all_parts(context, reader, words, report);
  const std::string written = with_commas(report.tally().answered());
  if (!reader.error().empty()) {
    report.stop(ExitCode::failed,
                reader.error() + "; " + written + " keys of the lines before it were written.");
  }
  if (!context.json()) {
    context.out.line(std::to_string(report.tally().answered()) + " of " +
                     std::to_string(report.tally().total()) + " keys written");
  }
  return report.finish("written");
}

constexpr OptionRow mset_options[] = {options::ttl, options::persist};

}  // namespace

CommandRow mset_command() {
  return command<read_mset_words, run_mset>(
      {.name = "mset",
       .group = group::keys,
       .arguments = "-",
       .purpose = "write many keys, given as KEY<TAB>VALUE or as lines of JSON",
       .text =
           "It reads what mget prints. If the first line has a tab, every line is KEY<TAB>VALUE. "
           "If not, or with --json, every line is {\"key\":K,\"value\":V}.\n"
           "A file, or a pipe of up to 4 MiB, is checked as a whole before the first key is "
           "written. A longer pipe is checked and written in parts; if a line is not allowed, the "
           "message says how many keys before it were written.",
       .examples = {"sheaf mset - <pairs.txt --ttl 1h",
                    "sheaf mget --json - <keys.txt | sheaf mset -"},
       .options = mset_options,
       .completion = completes_nothing});
}

}  // namespace sheaf::cli

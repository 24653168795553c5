// mget and mset: many keys, in chunks that each get the whole --timeout.

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/input.h"
#include "cli/json_lines.h"
#include "cli/keys.h"

namespace sheaf::cli {

namespace {

// One batch of the client at most: `--timeout` bounds a request, and a batch of unlimited size
// could not be kept within it.
constexpr std::size_t chunk_keys = 4'096;
constexpr std::size_t chunk_bytes = 8u << 20;

// Counts how the keys of a batch end and says so: plain, a sentence for each failed key; with
// --json its line, and one sentence at the end.
class Report {
 public:
  explicit Report(Context& context) : context_(context) {}

  void success() noexcept { tally_.add_success(); }
  void failure(const std::string& key, const Error& error) {
    tally_.add_failure(error);
    const std::string sentence = error.message();
    if (!context_.json()) {
      complain(about_key(key, sentence));
      return;
    }
    context_.out.line(json_error(key, sentence));
    if (first_.empty()) first_ = about_key(key, sentence);
  }
  const Tally& tally() const noexcept { return tally_; }
  ExitCode finish() const {
    if (!first_.empty()) {
      complain(std::to_string(tally_.failures()) + " of " + std::to_string(tally_.total()) +
               " keys failed, the first is " + first_);
    }
    return tally_.exit_code();
  }

 private:
  Context& context_;
  Tally tally_;
  std::string first_;
};

void print_value(Context& context, const std::string& key, const GetResult& value) {
  if (context.json()) {
    context.out.line(json_value(key, value));
  } else if (value) {
    context.out.write(key);
    context.out.write("\t");
    context.out.line(value->data);
  }
}

// Writes every distinct key once; of a key given twice the last value counts.
class WriteList {
 public:
  void add(KeyValue item) {
    const auto [place, inserted] = places_.try_emplace(item.key, items_.size());
    if (inserted) {
      items_.push_back(std::move(item));
    } else {
      items_[place->second].value = std::move(item.value);
    }
  }
  const std::vector<KeyValue>& items() const noexcept { return items_; }

 private:
  std::vector<KeyValue> items_;
  std::unordered_map<std::string, std::size_t> places_;
};

ExitCode refuse_line(std::size_t number, const std::string& why) {
  complain("line " + std::to_string(number) + " " + why + "; nothing was written.");
  return ExitCode::usage;
}

// Why a line cannot be written, known without asking a node; empty if it can.
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

// All of standard input, or nothing and the reason on standard error.
ExitCode read_items(Context& context, WriteList& list) {
  const auto text = read_all(context.in, most_input);
  if (!text) {
    complain(text.error() + "; nothing was written.");
    return ExitCode::usage;
  }
  std::size_t number = 0;
  for (const std::string_view line : split_lines(*text)) {
    ++number;
    auto item = parse_json_line(line);
    if (!item) return refuse_line(number, item.error());
    const std::string why = objection(context.client, *item);
    if (!why.empty()) return refuse_line(number, why);
    list.add(std::move(*item));
  }
  return ExitCode::done;
}

// How many of `items` go into the next batch: at least one.
std::size_t chunk_size(std::span<const KeyValue> items) {
  std::size_t bytes = 0;
  std::size_t count = 0;
  while (count < items.size() && count < chunk_keys) {
    bytes += items[count].key.size() + items[count].value.size();
    if (count != 0 && bytes > chunk_bytes) break;
    ++count;
  }
  return count;
}

void write_chunk(Context& context, std::span<const KeyValue> items, Report& report) {
  std::vector<SetItem> views;
  views.reserve(items.size());
  for (const KeyValue& item : items) views.push_back({item.key, item.value});
  const BatchSetOptions options{.ttl = context.arguments.ttl,
                                .timeout = context.arguments.global.timeout};
  for (const auto& [key, result] : context.client.set_many(views, options)) {
    if (!result) {
      report.failure(key, result.error());
      continue;
    }
    report.success();
    if (context.json()) context.out.line(json_stored(key, *result));
  }
}

}  // namespace

ExitCode run_mget(Context& context) {
  const auto list = read_keys(context);
  if (!list) return ExitCode::usage;
  std::span<const std::string_view> rest = list->keys;
  Report report(context);
  while (!rest.empty() && !context.out.failed()) {
    const auto chunk = rest.first(std::min(rest.size(), chunk_keys));
    rest = rest.subspan(chunk.size());
    const BatchOptions options{.timeout = context.arguments.global.timeout};
    for (const auto& [key, result] : context.client.get_many(chunk, options)) {
      if (result) {
        report.success();
        print_value(context, key, *result);
      } else {
        report.failure(key, result.error());
      }
    }
  }
  return report.finish();
}

ExitCode run_mset(Context& context) {
  WriteList list;
  if (const ExitCode code = read_items(context, list); code != ExitCode::done) return code;
  std::span<const KeyValue> rest = list.items();
  Report report(context);
  while (!rest.empty()) {
    const std::size_t count = chunk_size(rest);
    write_chunk(context, rest.first(count), report);
    rest = rest.subspan(count);
  }
  if (!context.json()) {
    context.out.line(std::to_string(report.tally().answered()) + " of " +
                     std::to_string(report.tally().total()) + " keys written");
  }
  return report.finish();
}

}  // namespace sheaf::cli

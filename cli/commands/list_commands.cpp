// list: push, insert, update, remove, range, len, clear, drop-holes.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sheaf/list.h>

#include "base/local_error.h"
#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/commands/common_options.h"
#include "cli/line/list_words.h"
#include "cli/show/json_lines.h"
#include "cli/system/input.h"
#include "cli/system/progress.h"

namespace sheaf::cli {

namespace {

// The commands below work on the list named by their words.
template <class Words>
using Work = ExitCode (*)(Context& context, List& list, const Words& words);

template <class Words, Work<Words> Run>
ExitCode on_list(Context& context, const Words& words) {
  ListOptions options{.timeout = context.global.timeout};
  if constexpr (requires { words.persist; }) options.persist = words.persist;
  List list(context.client, words.name, options);
  return Run(context, list, words);
}

ExitCode failed(Context& context, const List& list, const Error& error) {
  return complain_about_key(context, list.name(), error);
}

ExitCode no_such_index(Context& context, const ListItemWords& words) {
  if (!context.json()) {
    complain(printable(words.name) + ": the list has no index " + std::to_string(words.index) +
             ".");
  }
  return ExitCode::negative;
}

void print_length(Context& context, const List& list, std::uint64_t length) {
  context.out.line(context.json() ? json_length(list.name(), length) : std::to_string(length));
}

ExitCode run_len(Context& context, List& list, const ListWords&) {
  const auto length = list.length();
  if (!length) return failed(context, list, length.error());
  print_length(context, list, *length);
  return ExitCode::done;
}

// Pushes items from standard input, in the parts that the list commits.
class ItemPusher {
 public:
  ItemPusher(Context& context, List& list)
      : context_(context), list_(list), lines_(context.in, context.client.config().value_limit) {}

  ExitCode run() {
    const Interrupts interrupts;
    Progress progress("items", lines_.total());
    for (bool more = true; more && Interrupts::signal() == 0;) {
      more = read_part();
      if (items_.empty()) continue;
      const std::vector<std::string_view> views(items_.begin(), items_.end());
      const PushManyResult done = list_.push_many(views);
      pushed_ += done.pushed;
      length_ = done.length;
      progress.show(pushed_, lines_.bytes());
      if (!done.error) continue;
      complain(about_key(list_.name(), with_commas(pushed_) + " items were added."));
      return failed(context_, list_, *done.error);
    }
    return finish();
  }

 private:
  bool read_part() {
    items_.clear();
    std::size_t bytes = 0;
    while (items_.size() < part_items && bytes < part_bytes) {
      const auto line = lines_.next();
      if (!line) return false;
      items_.emplace_back(*line);
      bytes += line->size();
    }
    return true;
  }
  ExitCode finish() {
    const std::string so_far = with_commas(pushed_) + " items were added.";
    if (!lines_.error().empty()) {
      return failed(
          context_, list_,
          local_error(Outcome::invalid, Reason::bad_argument, lines_.error() + "; " + so_far));
    }
    if (const int signal = Interrupts::signal(); signal != 0) {
      complain(about_key(list_.name(), "interrupted: " + so_far));
      return ended_by(signal);
    }
    if (pushed_ == 0) return run_len(context_, list_, {});
    print_length(context_, list_, length_);
    return ExitCode::done;
  }

  static constexpr std::size_t part_items = 2'000;
  static constexpr std::size_t part_bytes = 4u << 20;

  Context& context_;
  List& list_;
  LineReader lines_;
  std::vector<std::string> items_;
  std::uint64_t pushed_ = 0;
  std::uint64_t length_ = 0;
};

ExitCode run_push(Context& context, List& list, const ListPushWords& words) {
  if (words.from_stdin) return ItemPusher(context, list).run();
  const std::vector<std::string_view> values(words.values.begin(), words.values.end());
  const PushManyResult pushed = list.push_many(values);
  if (!pushed.error) return print_length(context, list, pushed.length), ExitCode::done;
  if (values.size() > 1) {
    complain(about_key(words.name, std::to_string(pushed.pushed) + " of " +
                                       std::to_string(values.size()) + " items were added."));
  }
  return failed(context, list, *pushed.error);
}

ExitCode run_insert(Context& context, List& list, const ListItemWords& words) {
  const auto length = list.insert(words.index, words.value);
  if (!length) return failed(context, list, length.error());
  if (*length) return print_length(context, list, **length), ExitCode::done;
  if (context.json()) context.out.line(json_list_done(words.name, "inserted", false));
  return no_such_index(context, words);
}

ExitCode run_update(Context& context, List& list, const ListItemWords& words) {
  const auto updated = list.update(words.index, words.value);
  if (!updated) return failed(context, list, updated.error());
  if (context.json()) context.out.line(json_list_done(words.name, "updated", *updated));
  return *updated ? ExitCode::done : no_such_index(context, words);
}

ExitCode run_remove(Context& context, List& list, const ListItemWords& words) {
  const auto removed = list.remove(words.index);
  if (!removed) return failed(context, list, removed.error());
  if (context.json()) context.out.line(json_item_removed(words.name, *removed));
  return *removed ? ExitCode::done : no_such_index(context, words);
}

ExitCode run_range(Context& context, List& list, const ListRangeWords& words) {
  const auto items = list.range(words.first, words.last);
  if (!items) return failed(context, list, items.error());
  for (const std::string& item : *items) {
    if (context.json()) {
      context.out.line(json_item(item));
    } else {
      context.out.value_line(item, words.raw);
    }
  }
  return ExitCode::done;
}

ExitCode run_clear(Context& context, List& list, const ListWords& words) {
  const auto cleared = list.clear();
  if (!cleared) return failed(context, list, cleared.error());
  if (context.json()) context.out.line(json_list_done(words.name, "cleared", true));
  return ExitCode::done;
}

ExitCode run_drop_holes(Context& context, List& list, const ListWords& words) {
  const auto dropped = list.drop_holes();
  if (!dropped) return failed(context, list, dropped.error());
  context.out.line(context.json() ? json_holes_dropped(words.name, *dropped)
                                  : std::to_string(*dropped));
  return ExitCode::done;
}

constexpr OptionRow range_options[] = {options::raw};
constexpr OptionRow push_options[] = {
    {"--persist", "", "keep a new list on the store's disk (mqtt, embedded)"}};

}  // namespace

CommandRow list_push_command() {
  return command<read_list_push_words, on_list<ListPushWords, run_push>>(
      {.name = "list push",
       .group = group::lists,
       .arguments = "NAME VALUE...|-",
       .purpose = "append items; prints the new length",
       .text = "With - there is one item on each line of standard input.",
       .examples = {"sheaf list push jobs paint dry", "sheaf list push jobs - <jobs.txt"},
       .options = push_options,
       .completion = completes_nothing});
}

CommandRow list_insert_command() {
  return command<read_list_item_words, on_list<ListItemWords, run_insert>>(
      {.name = "list insert",
       .group = group::lists,
       .arguments = "NAME INDEX VALUE",
       .purpose = "insert an item before the one at INDEX; prints the new length",
       .text = "Indexes begin at 0; negative ones count from the end. INDEX may be the length: the "
               "item "
               "then becomes the last one.",
       .examples = {"sheaf list insert jobs 0 wash", "sheaf list insert jobs -1 polish"},
       .completion = completes_nothing});
}

CommandRow list_update_command() {
  return command<read_list_item_words, on_list<ListItemWords, run_update>>(
      {.name = "list update",
       .group = group::lists,
       .arguments = "NAME INDEX VALUE",
       .purpose = "replace an item",
       .text = "Indexes begin at 0; negative ones count from the end. If there is no such item, "
               "the exit code is 1.",
       .examples = {"sheaf list update jobs 0 rinse", "sheaf list update jobs -1 pack"},
       .completion = completes_nothing});
}

CommandRow list_remove_command() {
  return command<read_list_item_words, on_list<ListItemWords, run_remove>>(
      {.name = "list remove",
       .group = group::lists,
       .arguments = "NAME INDEX",
       .purpose = "remove an item",
       .text =
           "Indexes begin at 0; negative ones count from the end. With --json the item is printed.",
       .examples = {"sheaf list remove jobs 0", "sheaf list remove jobs -1 --json"},
       .completion = completes_nothing});
}

CommandRow list_range_command() {
  return command<read_list_range_words, on_list<ListRangeWords, run_range>>(
      {.name = "list range",
       .group = group::lists,
       .arguments = "NAME FIRST LAST",
       .purpose = "print the items from FIRST to LAST, one a line",
       .text =
           "Both are included. Indexes beyond the ends are cut; negative ones count from the end.",
       .examples = {"sheaf list range jobs 0 -1", "sheaf list range jobs -10 -1 --json"},
       .options = range_options,
       .completion = completes_nothing});
}

CommandRow list_len_command() {
  return command<read_list_words, on_list<ListWords, run_len>>(
      {.name = "list len",
       .group = group::lists,
       .arguments = "NAME",
       .purpose = "print the number of items",
       .examples = {"sheaf list len jobs", "sheaf list len jobs --json"},
       .completion = completes_nothing});
}

CommandRow list_clear_command() {
  return command<read_list_words, on_list<ListWords, run_clear>>(
      {.name = "list clear",
       .group = group::lists,
       .arguments = "NAME",
       .purpose = "remove all items",
       .examples = {"sheaf list clear jobs", "sheaf list clear jobs --timeout 10s"},
       .completion = completes_nothing});
}

CommandRow list_drop_holes_command() {
  return command<read_list_words, on_list<ListWords, run_drop_holes>>(
      {.name = "list drop-holes",
       .group = group::lists,
       .arguments = "NAME",
       .purpose = "remove the entries of items that a server has dropped; prints how many",
       .text = "memcached and Redis may drop any value to make room.",
       .examples = {"sheaf list drop-holes jobs", "sheaf list drop-holes jobs --json"},
       .completion = completes_nothing});
}

}  // namespace sheaf::cli

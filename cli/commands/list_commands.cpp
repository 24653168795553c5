// list: push, insert, update, remove, range, len, clear.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sheaf/list.h>

#include "base/local_error.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/show/json_lines.h"
#include "cli/system/input.h"
#include "cli/system/progress.h"

namespace sheaf::cli {

namespace {

ExitCode failed(Context& context, const Error& error) {
  return complain_about_key(context, context.arguments.list.name, error);
}

ExitCode no_such_index(Context& context) {
  const ListArguments& list = context.arguments.list;
  if (!context.json()) {
    complain(printable(list.name) + ": the list has no index " + std::to_string(list.index) + ".");
  }
  return ExitCode::negative;
}

void print_length(Context& context, std::uint64_t length) {
  context.out.line(context.json() ? json_length(context.arguments.list.name, length)
                                  : std::to_string(length));
}

ExitCode length(Context& context, List& list) {
  const auto length = list.length();
  if (!length) return failed(context, length.error());
  print_length(context, *length);
  return ExitCode::done;
}

// Items of standard input, in the parts that the list commits.
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
      return failed(context_, *done.error);
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
      return failed(context_, local_error(Outcome::invalid, Reason::bad_argument,
                                          lines_.error() + "; " + so_far));
    }
    if (const int signal = Interrupts::signal(); signal != 0) {
      complain(about_key(list_.name(), "interrupted: " + so_far));
      return ended_by(signal);
    }
    if (pushed_ == 0) return length(context_, list_);
    print_length(context_, length_);
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

ExitCode push(Context& context, List& list) {
  const ListArguments& arguments = context.arguments.list;
  if (arguments.from_stdin) return ItemPusher(context, list).run();
  const std::vector<std::string_view> values(arguments.values.begin(), arguments.values.end());
  const PushManyResult pushed = list.push_many(values);
  if (!pushed.error) return print_length(context, pushed.length), ExitCode::done;
  if (values.size() > 1) {
    complain(about_key(arguments.name, std::to_string(pushed.pushed) + " of " +
                                           std::to_string(values.size()) + " items were added."));
  }
  return failed(context, *pushed.error);
}

ExitCode insert(Context& context, List& list) {
  const ListArguments& arguments = context.arguments.list;
  const auto length = list.insert(arguments.index, arguments.values.front());
  if (!length) return failed(context, length.error());
  if (*length) return print_length(context, **length), ExitCode::done;
  if (context.json()) context.out.line(json_list_done(arguments.name, "inserted", false));
  return no_such_index(context);
}

ExitCode update(Context& context, List& list) {
  const ListArguments& arguments = context.arguments.list;
  const auto updated = list.update(arguments.index, arguments.values.front());
  if (!updated) return failed(context, updated.error());
  if (context.json()) context.out.line(json_list_done(arguments.name, "updated", *updated));
  return *updated ? ExitCode::done : no_such_index(context);
}

ExitCode remove(Context& context, List& list) {
  const ListArguments& arguments = context.arguments.list;
  const auto removed = list.remove(arguments.index);
  if (!removed) return failed(context, removed.error());
  if (context.json()) context.out.line(json_item_removed(arguments.name, *removed));
  return *removed ? ExitCode::done : no_such_index(context);
}

ExitCode range(Context& context, List& list) {
  const ListArguments& arguments = context.arguments.list;
  const auto items = list.range(arguments.index, arguments.last);
  if (!items) return failed(context, items.error());
  for (const std::string& item : *items) {
    if (context.json()) {
      context.out.line(json_item(item));
    } else {
      context.out.value_line(item, context.arguments.raw);
    }
  }
  return ExitCode::done;
}

ExitCode clear(Context& context, List& list) {
  const auto cleared = list.clear();
  if (!cleared) return failed(context, cleared.error());
  if (context.json()) {
    context.out.line(json_list_done(context.arguments.list.name, "cleared", true));
  }
  return ExitCode::done;
}

ExitCode drop_holes(Context& context, List& list) {
  const auto dropped = list.drop_holes();
  if (!dropped) return failed(context, dropped.error());
  context.out.line(context.json() ? json_holes_dropped(context.arguments.list.name, *dropped)
                                  : std::to_string(*dropped));
  return ExitCode::done;
}

}  // namespace

ExitCode run_list(Context& context) {
  List list(context.client, context.arguments.list.name, {context.arguments.global.timeout});
  switch (context.arguments.list.action) {
    case ListAction::push:
      return push(context, list);
    case ListAction::insert:
      return insert(context, list);
    case ListAction::update:
      return update(context, list);
    case ListAction::remove:
      return remove(context, list);
    case ListAction::range:
      return range(context, list);
    case ListAction::length:
      return length(context, list);
    case ListAction::clear:
      return clear(context, list);
    case ListAction::drop_holes:
      return drop_holes(context, list);
  }
  return ExitCode::failed;
}

}  // namespace sheaf::cli

// list: push, insert, update, remove, range, len, clear.

#include <string>
#include <utility>

#include <sheaf/list.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/input.h"
#include "cli/json_lines.h"
#include "cli/keys.h"

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

ExitCode push(Context& context, List& list) {
  const ListArguments& arguments = context.arguments.list;
  std::string text;
  std::vector<std::string_view> values(arguments.values.begin(), arguments.values.end());
  if (arguments.from_stdin) {
    auto piped = read_all(context.in, most_input);
    if (!piped) {
      complain(printable(arguments.name) + ": " + piped.error() + ".");
      return ExitCode::usage;
    }
    text = std::move(*piped);
    values = split_lines(text);
  }
  if (values.empty()) {
    const auto length = list.length();
    if (!length) return failed(context, length.error());
    print_length(context, *length);
    return ExitCode::done;
  }
  const PushManyResult pushed = list.push_many(values);
  if (pushed.error) {
    if (values.size() > 1) {
      complain(printable(arguments.name) + ": " + std::to_string(pushed.pushed) + " of " +
               std::to_string(values.size()) + " items are in the list.");
    }
    return failed(context, *pushed.error);
  }
  print_length(context, pushed.length);
  return ExitCode::done;
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
    context.out.line(context.json() ? json_item(item) : item);
  }
  return ExitCode::done;
}

ExitCode length(Context& context, List& list) {
  const auto length = list.length();
  if (!length) return failed(context, length.error());
  print_length(context, *length);
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

// top: what the servers are doing, updated at an interval.

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/commands/command.h"
#include "cli/line/load_words.h"
#include "cli/show/json_lines.h"
#include "cli/show/top_frame.h"
#include "cli/system/progress.h"
#include "cli/system/terminal_screen.h"

namespace sheaf::cli {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct Sampled {
  Clock::time_point at;
  std::vector<TopSample> nodes;
};

// Asks all nodes. For those that do not answer only the health is known.
Sampled take_sample(Context& context) {
  const NodesOptions options{.timeout = context.global.timeout};
  Sampled sampled{Clock::now(), {}};
  for (const NodeReport& report : context.client.check_nodes(options)) {
    TopSample& sample = sampled.nodes.emplace_back();
    sample.node = report.stats.node;
    sample.health = report.stats.health;
    sample.round_trip = report.round_trip;
  }
  if (!context.client.supports(Feature::server_stats)) return sampled;
  sampled.at = Clock::now();
  for (const NodeText& text : context.client.server_stats("", options)) {
    const auto sample = std::ranges::find(sampled.nodes, text.node, &TopSample::node);
    if (text.text && sample != sampled.nodes.end()) read_stats(*text.text, *sample);
  }
  return sampled;
}

// Shows rows on the terminal or writes them as lines.
class Display {
 public:
  Display(Context& context, milliseconds interval, bool terminal)
      : context_(context), interval_(interval) {
    if (terminal) screen_.emplace(context.in, context.out);
  }

  void show(const std::vector<TopRow>& rows) {
    if (screen_) {
      const auto [columns, lines] = TerminalScreen::size();
      return screen_->show(top_frame(rows, {.columns = columns,
                                            .lines = lines,
                                            .colours = context_.out.colours(),
                                            .interval = interval_}));
    }
    const auto now = std::chrono::system_clock::now();
    for (const TopRow& row : rows)
      context_.out.line(context_.json() ? json_top(row, now) : top_line(row, now));
    context_.out.flush();
  }
  // False: the user wants to stop.
  bool wait(milliseconds time) {
    const auto end = Clock::now() + time;
    while (Interrupts::signal() == 0 && !context_.out.failed()) {
      const auto left = std::chrono::ceil<milliseconds>(end - Clock::now());
      if (left <= milliseconds(0)) return true;
      const milliseconds step = std::min(left, milliseconds(100));
      if (!screen_) {
        ::poll(nullptr, 0, static_cast<int>(step.count()));
      } else if (screen_->wait_for_q(step)) {
        return false;
      }
    }
    return false;
  }

 private:
  Context& context_;
  milliseconds interval_;
  std::optional<TerminalScreen> screen_;
};

ExitCode run_top(Context& context, const TopWords& top) {
  const Interrupts interrupts;
  Display display(context, top.interval, ::isatty(STDOUT_FILENO) == 1 && !context.json());
  Sampled before;
  for (std::uint64_t shown = 0;;) {
    Sampled now = take_sample(context);
    const auto passed = before.nodes.empty() ? Clock::duration::zero() : now.at - before.at;
    display.show(top_rows(before.nodes, now.nodes, passed));
    before = std::move(now);
    if (++shown == top.count || !display.wait(top.interval)) return ExitCode::done;
  }
}

constexpr OptionRow top_options[] = {
    {"--interval", "DURATION", "time between two samples, 100ms to 1h (default 2s)"},
    {"--count", "N", "number of samples (default: until q or Ctrl-C)"}};

}  // namespace

CommandRow top_command() {
  return command<read_top_words, run_top>(
      {.name = "top",
       .group = group::servers,
       .purpose = "show what the servers are doing, until q or Ctrl-C",
       .text = "It shows health and round trip of every node. memcached, Redis and sheaf's state "
               "stores also count operations, hits, keys, memory and connections, for all their "
               "clients. If "
               "the output is a file or a pipe, it writes one line for each node and sample.",
       .examples = {"sheaf top --interval 5s", "sheaf top --count 1 --json"},
       .options = top_options,
       .completion = completes_nothing});
}

}  // namespace sheaf::cli

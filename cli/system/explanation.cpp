#include "cli/system/explanation.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

#include "base/wrapped_text.h"

namespace sheaf::cli {

namespace {

constexpr std::size_t usual_columns = 80;
constexpr std::size_t most_columns = 100;  // longer lines are hard to read
constexpr std::size_t margin = 2;

std::size_t columns_of(int terminal) {
  winsize window{};
  if (ioctl(terminal, TIOCGWINSZ, &window) != 0 || window.ws_col == 0) return usual_columns;
  return std::min<std::size_t>(window.ws_col, most_columns);
}

}  // namespace

std::string explanation(const Error& error) {
  if (error.outcome == Outcome::invalid || error.outcome == Outcome::unsupported) return {};
  const std::string sentence = error.message();
  const std::string all = error.why();
  const std::size_t begin = all.find_first_not_of(". ", std::min(sentence.size(), all.size()));
  return all.starts_with(sentence) && begin != all.npos ? all.substr(begin) : std::string();
}

void explain(const Error& error) {
  static std::set<std::pair<Outcome, Reason>> explained;
  if (isatty(STDERR_FILENO) != 1) return;
  const std::string text = explanation(error);
  if (text.empty() || !explained.emplace(error.outcome, error.reason).second) return;
  const std::string lines = wrapped(text, columns_of(STDERR_FILENO), margin);
  (void)std::fputs(lines.c_str(), stderr);
}

}  // namespace sheaf::cli

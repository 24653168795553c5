#include "cli/show/tab_lines.h"

namespace sheaf::cli {

std::expected<LineForm, std::string> form_of_line(std::string_view first) {
  // JSON has no tab inside a string, and `mget --json` writes none between its tokens.
  if (!first.contains('\t')) return LineForm::json;
  if (first.starts_with('{') && parse_json_line(first))
    return std::unexpected("is JSON that contains a tab; use --json to read it as JSON");
  return LineForm::tab;
}

std::expected<KeyValue, std::string> parse_tab_line(std::string_view line) {
  const std::size_t tab = line.find('\t');
  if (tab == line.npos) return std::unexpected("has no tab between key and value");
  return KeyValue{std::string(line.substr(0, tab)), std::string(line.substr(tab + 1))};
}

}  // namespace sheaf::cli

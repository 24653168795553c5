#include "base/wrapped_text.h"

#include <algorithm>

namespace sheaf {

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent,
                    std::size_t first) {
  std::string out;
  std::size_t column = first;
  const std::string margin(indent, ' ');
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    if (column > indent && column + 1 + word.size() > width) {
      out += '\n';
      column = 0;
    }
    if (column < indent) {
      out += margin.substr(column);
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out + "\n";
}

}  // namespace sheaf

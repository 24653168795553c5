#include "cli/line/lock_words.h"

#include <utility>

#include "cli/line/option_reader.h"

namespace sheaf::cli {

std::expected<LockWords, std::string> read_lock_words(const ParsedLine& line) {
  using namespace std::chrono_literals;
  LockWords words;
  words.name = line.text(0);
  words.words = line.texts(1);
  OptionReader reader(line);
  reader.time("--lease", 100ms, 24h, words.lease);
  reader.time("--wait", 0ms, 8760h, words.wait);
  return reader.take(std::move(words));
}

}  // namespace sheaf::cli

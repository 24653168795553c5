#include "cli/show/key_lines.h"

#include "cli/system/output.h"

namespace sheaf::cli {

std::string ttl_text(const TimeToLive& ttl) { return ttl ? std::to_string(ttl->count()) : "-"; }

std::string key_line(const ListedKey& key, const KeyColumns& columns, bool raw) {
  std::string line = raw ? std::string(key.key) : shown(key.key, ShownAs::word);
  if (columns.ttl) line.append(1, '\t').append(ttl_text(key.ttl));
  if (columns.size) line.append(1, '\t').append(key.size ? std::to_string(*key.size) : "-");
  return line;
}

}  // namespace sheaf::cli

#include "cli/system/replaced_file.h"

#include <filesystem>
#include <fstream>
#include <system_error>

namespace sheaf::cli {

namespace {

namespace fs = std::filesystem;

// Where the links of `path` lead, even if there is no file yet. A ring of links is left a link.
fs::path behind_links(fs::path path) {
  constexpr int most_links = 40;  // as many as Linux follows
  std::error_code failed;
  for (int i = 0; i < most_links && fs::is_symlink(path, failed); ++i) {
    const fs::path next = fs::read_symlink(path, failed);
    if (failed) break;
    path = path.parent_path() / next;  // an absolute path replaces all
  }
  return path;
}

}  // namespace

std::optional<NotReplaced> replace_file(const std::string& path, std::string_view text) {
  const fs::path target = behind_links(path);
  std::error_code failed;
  const fs::file_status there = fs::symlink_status(target, failed);
  if (fs::exists(there) && !fs::is_regular_file(there)) {
    return NotReplaced{false,
                       path + " is not a regular file, and only regular files are replaced."};
  }
  const fs::path fresh = target.string() + ".new";
  std::ofstream file(fresh, std::ios::binary);
  file << text;
  file.close();
  failed.clear();
  if (file) fs::rename(fresh, target, failed);
  if (file && !failed) return std::nullopt;
  return NotReplaced{true, "cannot write " + path + "."};
}

}  // namespace sheaf::cli

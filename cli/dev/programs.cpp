#include "cli/dev/programs.h"

#include <unistd.h>

#include <system_error>

namespace sheaf::cli {

namespace fs = std::filesystem;

namespace {

bool is_program(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

// The non-empty parts between colons. An empty entry of PATH is the working folder, and ignored.
std::vector<fs::path> folders_of(std::string_view path) {
  std::vector<fs::path> folders;
  while (!path.empty()) {
    const std::string_view folder = path.substr(0, path.find(':'));
    path.remove_prefix(folder.size() == path.size() ? folder.size() : folder.size() + 1);
    if (!folder.empty()) folders.emplace_back(folder);
  }
  return folders;
}

}  // namespace

std::expected<fs::path, std::string> find_program(const WantedProgram& wanted) {
  if (!wanted.given.empty()) {
    if (is_program(wanted.given)) return fs::path(wanted.given);
    return std::unexpected(wanted.given + " is not a program that can be run.");
  }
  std::vector<fs::path> folders = folders_of(wanted.path);
  folders.insert(folders.end(), wanted.places.begin(), wanted.places.end());
  for (const fs::path& folder : folders) {
    if (is_program(folder / wanted.name)) return folder / wanted.name;
  }
  return std::unexpected(wanted.advice);
}

}  // namespace sheaf::cli

#include "socket/tls/authority_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace sheaf::socket::tls {

namespace fs = std::filesystem;

std::vector<std::string> authority_files(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return {path};
  std::vector<std::string> files;
  for (fs::directory_iterator at(path, ignored), end; at != end; at.increment(ignored)) {
    const bool hidden = at->path().filename().native().starts_with('.');
    if (!hidden && at->is_regular_file(ignored)) files.push_back(at->path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace sheaf::socket::tls

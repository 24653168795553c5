#pragma once

// A file that is replaced as a whole: a reader sees the old one or the new one.
//
// Thread rule: the caller allows one writer of a path at a time.

#include <optional>
#include <string>
#include <string_view>

namespace sheaf::cli {

// Why a file was not replaced.
struct NotReplaced {
  bool allowed = true;  // false: the existing thing is not a regular file, and is kept
  std::string sentence;
};

// Follows links, and replaces the file that they lead to.
std::optional<NotReplaced> replace_file(const std::string& path, std::string_view text);

}  // namespace sheaf::cli

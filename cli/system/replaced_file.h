#pragma once

// A file that is replaced as a whole: who reads it meanwhile reads the old one or the new one.
//
// Thread rule: none but what the caller keeps: one writer of a path at a time.

#include <optional>
#include <string>
#include <string_view>

namespace sheaf::cli {

// Why a file was not replaced.
struct NotReplaced {
  bool allowed = true;  // false: what is there is not a regular file, and stays
  std::string sentence;
};

// Links are followed, and the file that they lead to is replaced.
std::optional<NotReplaced> replace_file(const std::string& path, std::string_view text);

}  // namespace sheaf::cli

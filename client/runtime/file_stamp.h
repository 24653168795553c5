#pragma once

// FileStamp: what a path leads to, as far as this is visible without reading it. It differs
// whenever the path leads to another file, or to one that was rewritten, except for a file
// rewritten within one tick of its clock: a reader that found it `young` must read it again.
//
// Thread rule: plain values.

#include <cstdint>
#include <string>

namespace sheaf::client::runtime {

struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = -1;  // -1: there is no file
  std::int64_t modified = 0;
  std::int64_t changed = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;

  static FileStamp of(const std::string& path);
  // True if it was written just now: it may be rewritten without a difference.
  bool young() const;
};

}  // namespace sheaf::client::runtime

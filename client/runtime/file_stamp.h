#pragma once

// FileStamp: what a path leads to, as far as it can be seen without reading it. It differs whenever
// the path leads to another file, or to one that was written again, but for files that were written
// twice within one tick of their clock: whoever has read one that was `young` reads it once more.
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
  // It had just been written, and may be so again unnoticed.
  bool young() const;
};

}  // namespace sheaf::client::runtime

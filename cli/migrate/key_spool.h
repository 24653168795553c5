#pragma once

// Keys in a file without a name, so that a hundred million of them need no memory.
//
// Thread rule: any thread.

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace sheaf::cli {

class KeySpool {
 public:
  // The file is made in the folder TMPDIR, or in /tmp.
  KeySpool() { clear(); }

  void add(std::string_view key);
  // The next one in the order of add(); nothing: there is none left, or the file failed.
  std::optional<std::string> next();
  // next() begins with the first again.
  void rewind();
  void clear();
  std::uint64_t size() const;
  // Whether all keys are there. False: no file could be made or it could not be written (a full
  // disk).
  bool good() const;
  // Why it is not good, as a sentence that names the folder.
  std::string failure() const;

 private:
  mutable std::mutex mutex_;
  OwnedFile file_;
  std::uint64_t size_ = 0;
  bool reading_ = false;
  int error_ = 0;
  bool good_ = true;
};

}  // namespace sheaf::cli

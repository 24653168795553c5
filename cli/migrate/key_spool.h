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
  // Makes the file in the folder TMPDIR, or in /tmp.
  KeySpool() { clear(); }

  void add(std::string_view key);
  // The next key in the order of add(). Nothing: no key is left, or the file failed.
  std::optional<std::string> next();
  // Makes next() start with the first key again.
  void rewind();
  void clear();
  std::uint64_t size() const;
  // True if all keys are there. False if the file could not be made or written (a full disk).
  bool good() const;
  // Why good() is false, as a sentence that names the folder.
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

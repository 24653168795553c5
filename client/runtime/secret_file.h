#pragma once

// SecretFile: a password or a token in a file that is replaced while programs run, in place or by
// swapping a folder that a symbolic link leads to, as Kubernetes does. So it is the path that is
// looked at, never the file that it led to.
//
// Thread rule: one thread at a time.

#include <cstdint>
#include <expected>
#include <string>

#include "base/clock.h"
#include "base/secret.h"
#include "client/runtime/file_stamp.h"

namespace sheaf::client::runtime {

class SecretFile {
 public:
  static constexpr std::size_t most_bytes = 64u << 10;

  // `option` is what names the file, in sentences.
  SecretFile(std::string option, std::string path)
      : option_(std::move(option)), path_(std::move(path)) {}

  // Its first line, without its end. The error is one sentence that names option and path.
  std::expected<Secret, std::string> read();
  // Whether it may hold something else than what was last read.
  bool changed() const;

 private:
  std::expected<Secret, std::string> read_line() const;
  std::unexpected<std::string> wrong(const std::string& what) const;

  std::string option_;
  std::string path_;
  FileStamp stamp_;
  bool young_ = true;  // it had just been written when it was read, and may be so again unnoticed
};

}  // namespace sheaf::client::runtime

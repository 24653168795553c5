#pragma once

// SecretFile: a password or a token in a file that is replaced while programs run, in place or by
// swapping a folder that a symbolic link leads to, as Kubernetes does. So each read opens the path,
// never the file it led to before.
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

  // `option`: the option that names the file, for error sentences.
  SecretFile(std::string option, std::string path)
      : option_(std::move(option)), path_(std::move(path)) {}

  // The first line, without its end. The error is one sentence that names option and path.
  std::expected<Secret, std::string> read();
  // True if it may hold something else than at the last read.
  bool changed() const;

 private:
  std::expected<Secret, std::string> read_line() const;
  std::unexpected<std::string> wrong(const std::string& what) const;

  std::string option_;
  std::string path_;
  FileStamp stamp_;
  bool young_ = true;  // written just before it was read: may be rewritten without a difference
};

}  // namespace sheaf::client::runtime

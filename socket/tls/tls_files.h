#pragma once

// TlsFiles: the context made from the current files of some options. Certificates and keys are
// replaced while programs run, in place or by changing a symbolic link to their folder. Therefore
// each new connection checks the files, and changed ones are read again.
//
// Files that cannot be used, such as a key that arrives before its certificate, change nothing.
//
// Thread rule: open() from any thread; afterwards it belongs to one lane.

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "socket/tls/tls_context.h"

namespace sheaf::socket::tls {

class TlsFiles {
 public:
  // The error is one sentence that names the option, the file and the cause.
  static std::expected<std::unique_ptr<TlsFiles>, std::string> open(TlsOptions options);

  // The context for a connection that begins now.
  std::shared_ptr<const TlsContext> context();
  // Why the files of that moment could not be used; empty if they were.
  const std::string& fault() const noexcept { return fault_; }

 private:
  // Changes whenever a path leads to another file or to one that was written again.
  struct Stamp {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t size = -1;  // -1: there is no file
    std::int64_t changed = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  // One for each file, with its path: a folder gets and loses files.
  using Stamps = std::vector<std::pair<std::string, Stamp>>;

  TlsFiles(Stamps stamps, std::shared_ptr<const TlsContext> context)
      : stamps_(std::move(stamps)), context_(std::move(context)) {}
  static Stamp look(const std::string& path);
  static Stamps look(const TlsOptions& options);

  Stamps stamps_;
  std::shared_ptr<const TlsContext> context_;
  std::string fault_;
};

}  // namespace sheaf::socket::tls

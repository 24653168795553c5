#include "socket/tls/tls_files.h"

#include <sys/stat.h>

#include <utility>

#include "socket/tls/authority_files.h"

namespace sheaf::socket::tls {

TlsFiles::Stamp TlsFiles::look(const std::string& path) {
  struct stat found{};
  if (path.empty() || ::stat(path.c_str(), &found) != 0) return {};
  const std::int64_t nanoseconds = found.st_mtim.tv_sec * 1'000'000'000 + found.st_mtim.tv_nsec;
  return {found.st_dev, found.st_ino, found.st_size, nanoseconds};
}

TlsFiles::Stamps TlsFiles::look(const TlsOptions& options) {
  std::vector<std::string> paths = authority_files(options.ca_file);
  for (const auto* path :
       {&options.certificate_file, &options.key_file, &options.key_password_file}) {
    paths.push_back(*path);
  }
  Stamps stamps;
  for (std::string& path : paths) {
    const Stamp stamp = look(path);
    stamps.emplace_back(std::move(path), stamp);
  }
  return stamps;
}

// The stamps are taken before the files are read: the next connection reads files that change in
// between.
std::expected<std::unique_ptr<TlsFiles>, std::string> TlsFiles::open(TlsOptions options) {
  Stamps stamps = look(options);
  auto context = TlsContext::open(std::move(options));
  if (!context) return std::unexpected(std::move(context.error()));
  return std::unique_ptr<TlsFiles>(new TlsFiles(std::move(stamps), std::move(*context)));
}

std::shared_ptr<const TlsContext> TlsFiles::context() {
  Stamps stamps = look(context_->options());
  if (stamps == stamps_) return context_;
  stamps_ = std::move(stamps);
  auto context = TlsContext::open(context_->options());
  if (context) {
    context_ = std::move(*context);
    fault_.clear();
  } else {
    fault_ = std::move(context.error());
  }
  return context_;
}

}  // namespace sheaf::socket::tls

#include "socket/tls/tls_files.h"

#include <sys/stat.h>

#include <utility>

namespace sheaf::socket::tls {

TlsFiles::Stamp TlsFiles::look(const std::string& path) {
  struct stat found{};
  if (path.empty() || ::stat(path.c_str(), &found) != 0) return {};
  const std::int64_t nanoseconds = found.st_mtim.tv_sec * 1'000'000'000 + found.st_mtim.tv_nsec;
  return {found.st_dev, found.st_ino, found.st_size, nanoseconds};
}

TlsFiles::Stamps TlsFiles::look(const TlsOptions& options) {
  return {look(options.ca_file), look(options.certificate_file), look(options.key_file)};
}

// The stamps are taken before the files are read: the next connection reads files that change in
// between.
std::expected<std::unique_ptr<TlsFiles>, std::string> TlsFiles::open(TlsOptions options) {
  const Stamps stamps = look(options);
  auto context = TlsContext::open(std::move(options));
  if (!context) return std::unexpected(std::move(context.error()));
  return std::unique_ptr<TlsFiles>(new TlsFiles(stamps, std::move(*context)));
}

std::shared_ptr<const TlsContext> TlsFiles::context() {
  const Stamps stamps = look(context_->options());
  if (stamps == stamps_) return context_;
  stamps_ = stamps;
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

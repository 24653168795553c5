#include "cli/dev/mounted_folder.h"

#include <fstream>
#include <system_error>

namespace sheaf::cli {

namespace fs = std::filesystem;

namespace {

constexpr auto private_folder = fs::perms::owner_all;
constexpr auto private_file = fs::perms::owner_read | fs::perms::owner_write;

bool write_file(const fs::path& path, const std::string& text) {
  std::error_code failed;
  std::ofstream file(path, std::ios::binary);
  fs::permissions(path, private_file, failed);  // while it is empty
  file << text;
  file.close();
  return file && !failed;
}

}  // namespace

fs::path MountedFolder::version(std::uint64_t number) const {
  return path_ / ("..version_" + std::to_string(number));
}

std::expected<void, std::string> MountedFolder::replace(const std::vector<MountedFile>& files) {
  const auto failure = [&] { return std::unexpected("cannot write " + path_.string() + "."); };
  std::error_code failed;
  const std::uint64_t next = versions_ + 1;
  const fs::path fresh = version(next);
  fs::remove_all(fresh, failed);  // of an attempt that failed
  fs::create_directories(fresh, failed);
  fs::permissions(path_, private_folder, failed);
  if (failed) return failure();
  for (const MountedFile& file : files) {
    if (!write_file(fresh / file.name, file.text)) return failure();
    if (versions_ == 0) fs::create_symlink("..data/" + file.name, path_ / file.name, failed);
  }
  const fs::path link = path_ / "..data_tmp";
  fs::remove(link, failed);
  fs::create_symlink(fresh.filename(), link, failed);
  if (!failed) fs::rename(link, path_ / "..data", failed);
  if (failed) return failure();
  versions_ = next;
  // A reader may be on its way into the version before this one.
  std::error_code ignored;
  if (versions_ > 2) fs::remove_all(version(versions_ - 2), ignored);
  return {};
}

}  // namespace sheaf::cli

#include <utility>

#include "store/durable/file_place.h"
#include "store/durable/saver.h"
#ifdef SHEAF_HAS_SQLITE
#include "store/durable/sqlite_file.h"
#endif

namespace sheaf::store {
namespace {

using Opened = std::expected<std::unique_ptr<StoreFile>, std::string>;

#ifdef SHEAF_HAS_SQLITE
Opened open_file(const std::string& path) {
  if (!SqliteUse::possible()) {
    return std::unexpected(path + " cannot be opened, because this process was forked from one " +
                           "that had the file of a store open");
  }
  const auto there = check_file(path);
  if (!there) return std::unexpected(there.error());
  if (!*there) {
    const auto made =
        create_file(path, [](const std::string& fresh) { return SqliteFile::fill(fresh); });
    if (!made) return std::unexpected(made.error());
  }
  return SqliteFile::open(path);
}
#else
Opened open_file(const std::string& path) {
  return std::unexpected(path + " cannot be opened: this sheaf was built without SHEAF_DURABLE");
}
#endif

}  // namespace

std::expected<std::unique_ptr<Saver>, std::string> open_saver(const EngineOptions& options,
                                                              unsigned index, Engine& engine,
                                                              Now now) {
  if (options.data.empty()) return nullptr;
  const std::string path = index == 0 ? options.data : options.data + "." + std::to_string(index);
  auto file = open_file(path);
  if (!file) return std::unexpected(std::move(file.error()));
  auto saver = Saver::start(std::move(*file), engine, options.durability, now, boot_name());
  return saver;
}

}  // namespace sheaf::store

#include "tests/store/durable/sqlite_crashing_disk.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace sheaf::store {
namespace {

constexpr std::size_t sector = 512;
CrashingDisk* the_disk = nullptr;

struct OpenFile {
  sqlite3_file base;
  std::shared_ptr<CrashingDisk::File> file;
};

CrashingDisk::File& file_of(sqlite3_file* file) { return *reinterpret_cast<OpenFile*>(file)->file; }

int close_file(sqlite3_file* file) {
  std::destroy_at(&reinterpret_cast<OpenFile*>(file)->file);
  return SQLITE_OK;
}

int read_file(sqlite3_file* file, void* out, int size, sqlite3_int64 at) {
  if (the_disk->dead()) return SQLITE_IOERR_READ;
  const std::string& content = file_of(file).content;
  const auto wanted = static_cast<std::size_t>(size);
  const std::size_t offset = std::min(static_cast<std::size_t>(at), content.size());
  const std::size_t there = std::min(wanted, content.size() - offset);
  std::memcpy(out, content.data() + offset, there);
  std::memset(static_cast<char*>(out) + there, 0, wanted - there);
  return there == wanted ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

int write_file(sqlite3_file* file, const void* data, int size, sqlite3_int64 at) {
  if (!the_disk->step()) return SQLITE_IOERR_WRITE;
  CrashingDisk::File& to = file_of(file);
  const auto offset = static_cast<std::size_t>(at);
  const auto length = static_cast<std::size_t>(size);
  if (to.content.size() < offset + length) to.content.resize(offset + length);
  std::memcpy(to.content.data() + offset, data, length);
  to.written.emplace_back(offset, length);
  return SQLITE_OK;
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  if (!the_disk->step()) return SQLITE_IOERR_TRUNCATE;
  file_of(file).content.resize(static_cast<std::size_t>(size));
  return SQLITE_OK;
}

int sync_file(sqlite3_file* file, int) {
  if (!the_disk->step()) return SQLITE_IOERR_FSYNC;
  CrashingDisk::File& synced = file_of(file);
  synced.durable = synced.content;
  synced.written.clear();
  if (!synced.listed) the_disk->sync_folder();
  return SQLITE_OK;
}

int size_of_file(sqlite3_file* file, sqlite3_int64* size) {
  if (the_disk->dead()) return SQLITE_IOERR_FSTAT;
  *size = static_cast<sqlite3_int64>(file_of(file).content.size());
  return SQLITE_OK;
}

int lock_file(sqlite3_file*, int) { return SQLITE_OK; }
int check_reserved(sqlite3_file*, int* reserved) {
  *reserved = 0;
  return SQLITE_OK;
}
int control_file(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
int sector_size(sqlite3_file*) { return 4096; }
int characteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

const sqlite3_io_methods methods = {1,
                                    close_file,
                                    read_file,
                                    write_file,
                                    truncate_file,
                                    sync_file,
                                    size_of_file,
                                    lock_file,
                                    lock_file,
                                    check_reserved,
                                    control_file,
                                    sector_size,
                                    characteristics,
                                    nullptr,
                                    nullptr,
                                    nullptr,
                                    nullptr,
                                    nullptr,
                                    nullptr};

int open_file(sqlite3_vfs*, const char* name, sqlite3_file* out, int flags, int* out_flags) {
  auto* const opened = reinterpret_cast<OpenFile*>(out);
  opened->base.pMethods = nullptr;
  if (the_disk->dead() || name == nullptr) return SQLITE_CANTOPEN;
  auto found = the_disk->find(name);
  if (found == nullptr && (flags & SQLITE_OPEN_CREATE) == 0) return SQLITE_CANTOPEN;
  if (found == nullptr) found = the_disk->make(name);
  std::construct_at(&opened->file, std::move(found));
  opened->base.pMethods = &methods;
  if (out_flags != nullptr) *out_flags = flags;
  return SQLITE_OK;
}

int remove_file(sqlite3_vfs*, const char* name, int sync_folder) {
  if (!the_disk->step()) return SQLITE_IOERR_DELETE;
  const auto found = the_disk->find(name);
  if (found == nullptr) return SQLITE_IOERR_DELETE_NOENT;
  found->removed = true;
  if (sync_folder != 0) the_disk->sync_folder();
  return SQLITE_OK;
}

int look_for_file(sqlite3_vfs*, const char* name, int, int* there) {
  const auto found = the_disk->find(name);
  *there = found != nullptr && !found->content.empty() ? 1 : 0;
  return SQLITE_OK;
}

int whole_name(sqlite3_vfs*, const char* name, int size, char* out) {
  sqlite3_snprintf(size, out, "%s", name);
  return SQLITE_OK;
}

int no_randomness(sqlite3_vfs*, int size, char* out) {
  static char next = 0;  // the salts of write-ahead logs must differ
  for (int i = 0; i < size; ++i) out[i] = ++next;
  return size;
}
int no_sleep(sqlite3_vfs*, int time) { return time; }
int no_time(sqlite3_vfs*, double* time) {
  *time = 2'460'000.5;
  return SQLITE_OK;
}
int no_error(sqlite3_vfs*, int, char*) { return 0; }

sqlite3_vfs vfs = {1,        sizeof(OpenFile), 256,         nullptr,       CrashingDisk::vfs_name,
                   nullptr,  open_file,        remove_file, look_for_file, whole_name,
                   nullptr,  nullptr,          nullptr,     nullptr,       no_randomness,
                   no_sleep, no_time,          no_error,    nullptr,       nullptr,
                   nullptr,  nullptr};

}  // namespace

CrashingDisk::CrashingDisk() {
  the_disk = this;
  sqlite3_vfs_register(&vfs, 0);
}

CrashingDisk::~CrashingDisk() {
  sqlite3_vfs_unregister(&vfs);
  the_disk = nullptr;
}

bool CrashingDisk::step() {
  if (left_ == 0) return false;
  ++steps_;
  if (left_ != no_crash) --left_;
  return true;
}

std::shared_ptr<CrashingDisk::File> CrashingDisk::find(const std::string& name) const {
  const auto found = files_.find(name);
  return found == files_.end() || found->second->removed ? nullptr : found->second;
}

std::shared_ptr<CrashingDisk::File> CrashingDisk::make(const std::string& name) {
  auto made = std::make_shared<File>();
  if (const auto old = files_.find(name); old != files_.end()) {
    // Until the folder is synchronised, a crash may bring the old file back.
    made->durable = old->second->listed ? old->second->durable : std::string();
    made->listed = old->second->listed;
  }
  files_[name] = made;
  return made;
}

void CrashingDisk::sync_folder() {
  for (const auto& [name, file] : files_) file->listed = !file->removed;
}

void CrashingDisk::reboot(Random& random) {
  left_ = no_crash;
  for (auto entry = files_.begin(); entry != files_.end();) {
    File& file = *entry->second;
    const bool kept =
        file.removed ? file.listed && random.below(2) == 0 : file.listed || random.below(2) == 0;
    if (kept) lose(file, random);
    entry = kept ? std::next(entry) : files_.erase(entry);
  }
}

// Keeps what was synchronised, and those later sectors that the seed chooses.
void CrashingDisk::lose(File& file, Random& random) {
  std::string left = file.durable;
  for (const auto& [offset, size] : file.written) {
    for (std::size_t at = offset; at < offset + size;) {
      const std::size_t end = std::min(offset + size, (at / sector + 1) * sector);
      if (random.below(2) == 0 && end <= file.content.size()) {
        if (left.size() < end) left.resize(end);
        std::memcpy(left.data() + at, file.content.data() + at, end - at);
      }
      at = end;
    }
  }
  if (file.content.size() < left.size() && random.below(2) == 0) left.resize(file.content.size());
  file = {left, left, true, false, {}};
}

}  // namespace sheaf::store

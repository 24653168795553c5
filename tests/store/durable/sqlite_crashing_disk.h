#pragma once

// A disk in memory for SQLite (a VFS). It keeps what was synchronised. Of all that was written
// since, a crash keeps some 512-byte sectors and loses others, as the seed says; a file whose name
// was not synchronised may be gone, and one that was removed may be back.
//
// Thread rule: one thread at a time; one disk at a time.

#include <sqlite3.h>

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"

namespace sheaf::store {

class CrashingDisk {
 public:
  static constexpr std::uint64_t no_crash = std::numeric_limits<std::uint64_t>::max();
  static constexpr const char* vfs_name = "sheaf-crashing-disk";

  CrashingDisk();
  ~CrashingDisk();
  CrashingDisk(const CrashingDisk&) = delete;
  CrashingDisk& operator=(const CrashingDisk&) = delete;

  // The power goes after this many further writes, truncations, synchronisations and removals; what
  // comes then fails.
  void crash_after(std::uint64_t steps) { left_ = steps; }
  bool dead() const { return left_ == 0; }
  std::uint64_t steps() const { return steps_; }
  // The power is back.
  void reboot(Random& random);

  // For the VFS.
  struct File {
    std::string content;   // as the running process sees it
    std::string durable;   // as it was synchronised
    bool listed = false;   // its name is on the disk
    bool removed = false;  // from the folder of the running process
    std::vector<std::pair<std::size_t, std::size_t>> written;  // offset, size; since then
  };
  bool step();  // false: the power is off
  // As the first synchronisation of a new file does, and some removals.
  void sync_folder();
  std::shared_ptr<File> find(const std::string& name) const;
  std::shared_ptr<File> make(const std::string& name);

 private:
  static void lose(File& file, Random& random);

  std::map<std::string, std::shared_ptr<File>> files_;
  std::uint64_t left_ = no_crash;
  std::uint64_t steps_ = 0;
};

}  // namespace sheaf::store

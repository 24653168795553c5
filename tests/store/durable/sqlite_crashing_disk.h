#pragma once

// A disk in memory for SQLite (a VFS). It keeps what was synchronised. After a crash, some 512-byte
// sectors that were written since then are kept and others lost, as the seed decides. A file whose
// name was not synchronised may be gone, and a removed file may be back.
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

  // The power fails after this many further writes, truncations, synchronisations and removals.
  // Later ones fail.
  void crash_after(std::uint64_t steps) { left_ = steps; }
  bool dead() const { return left_ == 0; }
  std::uint64_t steps() const { return steps_; }
  // Turns the power on again.
  void reboot(Random& random);

  // Used by the VFS.
  struct File {
    std::string content;   // as the running process sees it
    std::string durable;   // as it was synchronised
    bool listed = false;   // its name is on the disk
    bool removed = false;  // from the folder of the running process
    std::vector<std::pair<std::size_t, std::size_t>> written;  // offset, size; since then
  };
  bool step();  // false: the power is off
  // Happens at the first synchronisation of a new file, and at some removals.
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

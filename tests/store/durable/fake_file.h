#pragma once

// A store's file in memory. Committed data outlives it. A commit fails when the test says so, and
// then has done either nothing or everything, like a disk that loses its answer.

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/durable/store_file.h"
#include "tests/support/saved_image.h"

namespace sheaf::store {

struct FakeDisk {
  sheaf::test::SavedImage image;
  FileTime::Mark mark;
  int commits = 0;
  bool full = false;           // writes fail
  bool fails = false;          // commits fail and do nothing
  bool loses_answers = false;  // commits fail and do everything
};

class FakeFile final : public StoreFile {
 public:
  explicit FakeFile(FakeDisk& disk) : disk_(disk), next_(disk.image) {
    for (const auto& [key, row] : disk.image.records) rows_.emplace_back(Change::Kind::put, key);
    for (const auto& [key, row] : disk.image.fences) {
      rows_.emplace_back(Change::Kind::keep_fence, key);
    }
  }

  std::expected<FileHeader, std::string> read_header() override {
    return FileHeader{disk_.image.clock.first, disk_.image.clock.second, disk_.mark};
  }

  std::expected<bool, std::string> read(Change& out) override {
    if (at_ == rows_.size()) return false;
    const auto& [kind, key] = rows_[at_++];
    const auto& table = kind == Change::Kind::put ? disk_.image.records : disk_.image.fences;
    out = sheaf::test::SavedImage::change_of(kind, key, table.at(key));
    return true;
  }

  Done write(const Change& change) override {
    if (disk_.full) return std::unexpected("fake cannot be written: disk is full");
    next_.apply(change);
    return {};
  }

  Done commit(const FileHeader& header) override {
    next_.clock = {header.wall, header.counter};
    ++disk_.commits;
    if (!disk_.fails) {
      disk_.image = next_;
      disk_.mark = header.mark;
    }
    if (!disk_.fails && !disk_.loses_answers) return {};
    return std::unexpected("fake cannot be written: disk I/O error");
  }

  void discard() override { next_ = disk_.image; }
  std::uint64_t bytes() const override { return 4096; }

 private:
  FakeDisk& disk_;
  sheaf::test::SavedImage next_;
  std::vector<std::pair<Change::Kind, std::string>> rows_;
  std::size_t at_ = 0;
};

}  // namespace sheaf::store

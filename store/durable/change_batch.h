#pragma once

// Changes that are on their way to a store's file, as copies: the engine may continue while they
// are written.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/durable/store_file.h"

namespace sheaf::store {

class ChangeBatch {
 public:
  void add(const Change& change);
  // Writes all changes, not the header, to the file's transaction.
  StoreFile::Done write_to(StoreFile& file) const;
  void clear() noexcept { changes_.clear(); }

 private:
  // A fencing token whose node is stored elsewhere.
  struct Token {
    std::uint64_t wall = 0;
    std::uint64_t counter = 0;
  };
  struct Copy {
    Change::Kind kind = Change::Kind::put;
    std::string key;
    std::string value;
    std::string owner;
    std::string fence_node;
    std::optional<Token> fence;
    Version version{};
    Deadline until = never;
  };

  std::vector<Copy> changes_;
};

}  // namespace sheaf::store

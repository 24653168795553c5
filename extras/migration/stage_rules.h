#pragma once

// What a call does in each stage of a migration: which fleets a read asks, and in which order a
// write updates them. docs/design/0037-migration.md explains the orders.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <sheaf/migration.h>

namespace sheaf::migration {

enum class Fleet : std::uint8_t { from, to };

struct WriteStep {
  Fleet fleet;
  bool stores;  // stores the value; else it removes the key
};

struct StageRules {
  std::string_view name;
  std::span<const Fleet> reads;  // one after another, until one has the key
  std::span<const WriteStep> set;
  std::span<const WriteStep> remove;
};

const StageRules& rules_of(MigrationStage stage) noexcept;
std::optional<MigrationStage> stage_named(std::string_view name) noexcept;

inline constexpr std::size_t stage_count = 7;

// Takes the place of a key while its value is copied. No value of a user may be equal to it.
inline constexpr std::string_view placeholder("\0sheaf: a value is being copied\0", 32);

}  // namespace sheaf::migration

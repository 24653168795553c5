// Pure: no socket, clock, entropy, thread or callback.

#include "extras/migration/stage_rules.h"

#include <array>

namespace sheaf {

inline namespace v0 {
std::string_view to_string(MigrationStage stage) noexcept {
  return migration::rules_of(stage).name;
}
}  // namespace v0

namespace migration {
namespace {

constexpr WriteStep store_from{Fleet::from, true};
constexpr WriteStep drop_from{Fleet::from, false};
constexpr WriteStep store_to{Fleet::to, true};
constexpr WriteStep drop_to{Fleet::to, false};

constexpr std::array only_from{Fleet::from};
constexpr std::array only_to{Fleet::to};
constexpr std::array to_first{Fleet::to, Fleet::from};

// A copier puts a placeholder into the second fleet, then reads the first. So a write touches the
// second fleet last: that removes the placeholder, and with it the copy.
constexpr std::array set_before{store_from};
constexpr std::array remove_before{drop_from};
constexpr std::array set_mirrored{store_from, drop_to};
constexpr std::array remove_mirrored{drop_from, drop_to};
// The last step removes a set by a program that is still in `switched` and came in between.
constexpr std::array set_drained{drop_from, store_to, drop_from};
// Copies go the other way here.
constexpr std::array set_restored{drop_to, store_from};
constexpr std::array remove_restored{drop_to, drop_from};
constexpr std::array set_after{store_to};
constexpr std::array remove_after{drop_to};

constexpr std::array<StageRules, stage_count> table{{
    {"before", only_from, set_before, remove_before},
    {"mirror", only_from, set_mirrored, remove_mirrored},
    {"switched", to_first, set_mirrored, remove_mirrored},
    {"drain", to_first, set_drained, remove_mirrored},
    {"closing", only_to, set_drained, remove_mirrored},
    {"restore", to_first, set_restored, remove_restored},
    {"after", only_to, set_after, remove_after},
}};

}  // namespace

const StageRules& rules_of(MigrationStage stage) noexcept {
  return table[static_cast<std::size_t>(stage) % stage_count];
}

std::optional<MigrationStage> stage_named(std::string_view name) noexcept {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i].name == name) return static_cast<MigrationStage>(i);
  }
  return std::nullopt;
}

}  // namespace migration
}  // namespace sheaf

#include "base/nearest_word.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace sheaf {
namespace {

std::size_t distance(std::string_view left, std::string_view right) noexcept {
  constexpr std::size_t longest = 32;
  if (left.size() > longest || right.size() > longest) return longest;
  std::array<std::size_t, longest + 1> row{};
  for (std::size_t j = 0; j <= right.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= left.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= right.size(); ++j) {
      const std::size_t replaced = diagonal + (left[i - 1] == right[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[right.size()];
}

// The only known word that begins with `word`; dashes do not count as letters.
std::string_view begun_by(std::string_view word, std::span<const std::string_view> known) noexcept {
  constexpr std::size_t least_letters = 2;
  const std::size_t letters = word.size() - std::min(word.size(), word.find_first_not_of('-'));
  if (letters < least_letters) return {};
  std::string_view found;
  for (const std::string_view candidate : known) {
    if (!candidate.starts_with(word) || candidate == found) continue;
    if (!found.empty()) return {};
    found = candidate;
  }
  return found;
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) noexcept {
  constexpr std::size_t most_wrong = 2;
  std::string_view best;
  std::size_t least = most_wrong + 1;
  for (const std::string_view candidate : known) {
    const std::size_t wrong = distance(word, candidate);
    if (wrong >= least || wrong >= word.size()) continue;
    best = candidate;
    least = wrong;
  }
  return best.empty() ? begun_by(word, known) : best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view meant = nearest(word, known);
  return meant.empty() ? "" : " Did you mean " + std::string(meant) + "?";
}

}  // namespace sheaf

#pragma once

// Guesses the word that was meant by a mistyped one.
//
// Thread rule: pure functions.

#include <span>
#include <string>
#include <string_view>

namespace sheaf {

// The known word closest to a mistyped one, with at most two letters wrong; failing that, the only
// one that begins with it. Empty if there is no such word.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known) noexcept;
// " Did you mean WORD?", or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);

}  // namespace sheaf

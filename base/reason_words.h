#pragma once

// A reason next to the text that explains it, so that neither repeats nor contradicts the other.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <string_view>

#include <sheaf/result.h>

namespace sheaf {

// The words that go before the text: those of the reason, or none if the text needs or has them. A
// local refusal needs only its text. Without a text the reason always has words.
std::string_view reason_words(Reason reason, std::string_view text) noexcept;

}  // namespace sheaf

#include <utility>

#include <sheaf/credentials.h>

#include "base/secret.h"

namespace sheaf {
inline namespace v0 {

SecretText::SecretText() noexcept = default;
SecretText::SecretText(std::string_view text) : secret_(std::make_unique<Secret>(text)) {}
SecretText::SecretText(const char* text) : SecretText(std::string_view(text)) {}
SecretText::SecretText(const std::string& text) : SecretText(std::string_view(text)) {}
SecretText::SecretText(std::string&& text) : SecretText(std::string_view(text)) { wipe(text); }
SecretText::SecretText(SecretText&&) noexcept = default;
SecretText& SecretText::operator=(SecretText&&) noexcept = default;
SecretText::~SecretText() = default;

std::string_view SecretText::view() const noexcept {
  return secret_ == nullptr ? std::string_view() : secret_->view();
}

}  // namespace v0
}  // namespace sheaf

// The parts of sheaf/json.h that need no JSON library. Only programs that include it call them.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sheaf/async.h>

#include "base/text.h"

namespace sheaf {
inline namespace v0 {
namespace json_detail {

using Texts = std::vector<KeyResult<std::string>>;

SHEAF_API std::string quoted(std::string_view key) { return "\"" + printable(key, 64) + "\""; }

SHEAF_API bool shallow(std::string_view text, std::size_t deepest) noexcept {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > deepest) return false;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return true;
}

SHEAF_API std::vector<SetItem> to_send(const Texts& texts) {
  std::vector<SetItem> items;
  items.reserve(texts.size());
  for (const auto& [key, text] : texts) {
    if (text) items.push_back({key, *text});
  }
  return items;
}

SHEAF_API AsyncClient::Sets unsent(const Texts& texts) {
  AsyncClient::Sets out;
  out.reserve(texts.size());
  for (const auto& [key, text] : texts) {
    out.push_back({key, text ? Result<SetResult>() : Failure(text.error())});
  }
  return out;
}

SHEAF_API AsyncClient::Sets merge(AsyncClient::Sets all, AsyncClient::Sets sent) {
  auto next = sent.begin();
  for (auto& entry : all) {
    if (entry.result && next != sent.end()) entry.result = std::move((next++)->result);
  }
  return all;
}

}  // namespace json_detail
}  // namespace v0
}  // namespace sheaf

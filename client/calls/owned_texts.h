#pragma once

// OwnedTexts: copies of a batch's keys or items, all in one block of memory.
//
// Thread rule: a plain value. Its views stay valid when it is moved.

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <sheaf/options.h>

namespace sheaf::client::calls {

// Entry: std::string_view or SetItem.
template <class Entry>
class OwnedTexts {
 public:
  explicit OwnedTexts(std::span<const Entry> entries) {
    std::size_t size = 0;
    for (Entry entry : entries) {
      for_each_text(entry, [&](std::string_view& text) { size += text.size(); });
    }
    bytes_ = std::make_unique_for_overwrite<char[]>(size);
    views_.assign(entries.begin(), entries.end());
    char* at = bytes_.get();
    for (Entry& entry : views_) {
      for_each_text(entry, [&](std::string_view& text) {
        char* const end = std::ranges::copy(text, at).out;
        text = {at, end};
        at = end;
      });
    }
  }

  std::span<const Entry> views() const noexcept { return views_; }

 private:
  template <class Function>
  static void for_each_text(std::string_view& key, const Function& function) {
    function(key);
  }
  template <class Function>
  static void for_each_text(SetItem& item, const Function& function) {
    function(item.key);
    function(item.value);
  }

  std::unique_ptr<char[]> bytes_;
  std::vector<Entry> views_;  // into bytes_
};

}  // namespace sheaf::client::calls

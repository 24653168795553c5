#pragma once

// OwnedOptions: options of a call that is made later, with copies of what they only refer to: their
// stop token, and `if_value` if they have one.
//
// Thread rule: a plain value.

#include <optional>
#include <stop_token>
#include <string>

#include <sheaf/options.h>

namespace sheaf::client::calls {

template <class Options>
class OwnedOptions {
 public:
  explicit OwnedOptions(const Options& options) : options_(options) {
    if (options.stop != nullptr) stop_ = *options.stop;
    if constexpr (has_if_value) if_value_ = options.if_value;
  }
  // Of use while this object is there.
  Options get() const {
    Options options = options_;
    options.stop = &stop_;
    if constexpr (has_if_value) options.if_value = if_value_;
    return options;
  }

 private:
  static constexpr bool has_if_value = requires(Options options) { options.if_value; };

  Options options_;
  std::stop_token stop_;
  std::optional<std::string> if_value_;
};

}  // namespace sheaf::client::calls

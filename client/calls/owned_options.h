#pragma once

// OwnedOptions: options of a call that is made later, with a copy of their stop token. Other views
// in them stay what they are.
//
// Thread rule: a plain value.

#include <stop_token>

#include <sheaf/options.h>

namespace sheaf::client::calls {

template <class Options>
class OwnedOptions {
 public:
  explicit OwnedOptions(const Options& options) : options_(options) {
    if (options.stop != nullptr) stop_ = *options.stop;
  }
  // Of use while this object is there.
  Options get() const {
    Options options = options_;
    options.stop = &stop_;
    return options;
  }

 private:
  Options options_;
  std::stop_token stop_;
};

}  // namespace sheaf::client::calls

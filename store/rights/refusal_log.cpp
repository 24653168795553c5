// Pure: no socket, clock, entropy, thread or callback.

#include "store/rights/refusal_log.h"

#include <algorithm>

#include "base/text.h"

namespace sheaf::store::rights {

std::optional<std::string> RefusalLog::line(const Subject& subject, std::string_view verb,
                                            std::string_view key, std::string_view why,
                                            Deadline now) {
  const auto passed = std::chrono::floor<std::chrono::seconds>(now - counted_);
  if (passed.count() > 0) {
    left_ = std::min(most, left_ + static_cast<std::uint64_t>(passed.count()));
    counted_ += passed;
  }
  if (left_ == 0) {
    ++omitted_;
    return std::nullopt;
  }
  --left_;
  std::string text(why);
  text += subject.user ? ": user \"" + printable(*subject.user) + "\"" : ": no user";
  text += ", client \"" + printable(subject.client_id) + "\", ";
  text.append(verb);
  if (!key.empty()) text.append(" of \"").append(printable(key)).append("\"");
  if (omitted_ > 0) text += "; " + std::to_string(omitted_) + " more were not logged";
  omitted_ = 0;
  return text;
}

}  // namespace sheaf::store::rights

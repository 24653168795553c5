#include "client/calls/get_answers.h"

#include <algorithm>
#include <utility>

#include "base/checks.h"
#include "base/text.h"

namespace sheaf::client::calls {
namespace {

// Larger values become strings at once, so that they are copied only once.
constexpr std::size_t small_value = 1'024;

// Reuses the memory of the entry's old contents.
void put(GetAnswers::Entry& entry, std::string_view value, std::string_view version,
         std::uint32_t flags) {
  if (!entry.result) entry.result = GetResult();
  if (!*entry.result) entry.result->emplace();
  Value& made = **entry.result;
  overwrite(made.data, value);
  overwrite(made.version.text, version);
  made.flags = flags;
}

}  // namespace

void GetAnswers::answer(std::uint32_t place, const protocol::Reply& reply) {
  Known& known = known_[place];
  const std::size_t size = reply.value.size() + reply.version.size();
  if (reply.status != protocol::Status::done) {
    miss(place);
  } else if (!made_ && size <= small_value) {
    if (bytes_.empty()) bytes_.reserve(std::min(plan_.size() * (size + 4), std::size_t{1} << 20));
    known = {State::put_aside, static_cast<std::uint8_t>(reply.version.size()),
             static_cast<std::uint32_t>(reply.value.size()), reply.flags, bytes_.size()};
    bytes_.append(reply.value).append(reply.version);
  } else {
    make_entries();
    known.state = State::in_entry;
    put(entries_[plan_.at(place)], reply.value, reply.version, reply.flags);
  }
}

void GetAnswers::fail(std::uint32_t place, Error error) {
  make_entries();
  known_[place].state = State::in_entry;
  entries_[plan_.at(place)].result = Failure(std::move(error));
}

void GetAnswers::make_entries() {
  if (std::exchange(made_, true)) return;
  entries_.resize(plan_.size());
  for (std::uint32_t index = 0; index < plan_.size(); ++index) {
    overwrite(entries_[index].key, plan_.item(index).key);
  }
}

std::vector<GetAnswers::Entry> GetAnswers::take() {
  make_entries();
  const std::string_view bytes = bytes_;
  for (std::uint32_t place = 0; place < plan_.size(); ++place) {
    const Known& known = known_[place];
    SHEAF_CHECK(is_known(place));
    if (known.state == State::in_entry) continue;
    Entry& entry = entries_[plan_.at(place)];
    if (known.state == State::absent) {
      entry.result = GetResult();
    } else {
      put(entry, bytes.substr(known.at, known.size),
          bytes.substr(known.at + known.size, known.version_size), known.flags);
    }
  }
  return std::move(entries_);
}

}  // namespace sheaf::client::calls

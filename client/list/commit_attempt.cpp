// Pure: no socket, clock, entropy, thread or callback.

#include "client/list/commit_attempt.h"

#include <utility>

#include "client/runtime/outcomes.h"

namespace sheaf::client::list {

using Progress = CommitAttempt::Progress;

namespace {

// True if both heads describe the same list at the same revision. Their garbage may differ: some of
// it may have been swept since.
bool same_list(const Head& a, const Head& b) {
  return a.revision == b.revision && a.segments == b.segments && a.tail == b.tail;
}

}  // namespace

// The cached segments may not exist in the store that answers now, if the connection is a new one.
Progress CommitAttempt::begin(std::vector<const Edit*> edits, Deadline until, Now now) {
  edits_ = std::move(edits);
  until_ = until;
  segments_.use(register_.incarnation());

  const auto needed = needed_segment(register_.head(), edits_, options_);
  if (!needed) return plan_and_store({}, now);
  if (const std::vector<Id>* ids = segments_.find(*needed)) return plan_and_store(*ids, now);
  state_ = State::reading;
  needed_ = *needed;
  register_.exchange({keys_.segment(needed_.id)}, {}, until_, now);
  return {};
}

Progress CommitAttempt::on_done(Now now) {
  switch (state_) {
    case State::idle:
      return {};
    case State::reading:
      return on_segment(now);
    case State::storing:
      return commit(now);
    case State::confirming:
      return on_confirmed();
    case State::committing:
      return on_committed();
  }
  return {};
}

Progress CommitAttempt::on_segment(Now now) {
  const std::optional<std::string>& bytes = register_.values().front();
  if (!bytes) return on_missing(needed_.id, "segment", now);
  auto ids = parse_segment(*bytes, needed_.count);
  if (!ids) return end(Kind::failed, Reason::other, std::move(ids.error()));
  segments_.add({needed_.id, *ids});
  return plan_and_store(*ids, now);
}

// Something that the head names is missing. The first time, the head is taken for an old one whose
// garbage has been deleted, and the edits start again. If the same thing is missing from the next
// head too, it is lost: pushes continue after the missing segment, other edits fail.
Progress CommitAttempt::on_missing(Id id, const char* what, Now now) {
  const bool again = std::exchange(missing_, id) == id;
  if (again && edits_.front()->kind == Edit::Kind::push) return plan_and_store({}, now);
  return end(again ? Kind::failed : Kind::lost, Reason::incomplete,
             missing_text(keys_.ids(), what, id));
}

// New items and segments are written in parallel under ids that no head names yet, so their order
// does not matter and no reader sees them before the commit. A remove reads its item at the same
// time.
Progress CommitAttempt::plan_and_store(const std::vector<Id>& ids, Now now) {
  state_ = State::storing;
  plan_ = make_plan(register_.head(), ids, edits_, options_);
  if (!plan_.changes) return confirm(now);

  std::vector<std::string> gets;
  if (plan_.removed) gets.push_back(keys_.item(*plan_.removed));
  std::vector<KeyAndValue> puts;
  puts.reserve(plan_.items.size() + plan_.segments.size());
  const bool persist = plan_.head.persist;
  for (const NewItem& item : plan_.items) {
    puts.push_back({keys_.item(item.id), *item.value, persist});
  }
  for (const NewSegment& segment : plan_.segments) {
    puts.push_back({keys_.segment(segment.id), encode_segment(segment.ids), persist});
  }
  if (gets.empty() && puts.empty()) return commit(now);
  register_.exchange(std::move(gets), std::move(puts), until_, now);
  return {};
}

// The head may have been read before the edit came, but an index must be absent from the list as it
// is now.
Progress CommitAttempt::confirm(Now now) {
  state_ = State::confirming;
  register_.exchange({keys_.head()}, {}, until_, now);
  return {};
}

Progress CommitAttempt::on_confirmed() {
  const std::optional<std::string>& bytes = register_.values().front();
  const auto newest = bytes ? parse_head(*bytes, keys_.ids()) : Head{};
  if (newest && same_list(*newest, register_.head())) return on_committed();
  register_.distrust_head();
  return end(Kind::lost, Reason::other, "another writer has changed the list");
}

// From here on the edits may have taken effect, whatever the answer.
Progress CommitAttempt::commit(Now now) {
  if (plan_.removed && !register_.values().front()) return on_missing(*plan_.removed, "item", now);
  if (encode_head(plan_.head).size() > head_limit_) {
    return end(Kind::failed, Reason::too_large,
               "the list is too long: the table of its segments is above the limit of a value (" +
                   std::to_string(head_limit_) + " bytes)");
  }
  state_ = State::committing;
  register_.commit(plan_.head, until_, now);
  return {};
}

Progress CommitAttempt::on_committed() {
  state_ = State::idle;
  missing_ = 0;
  for (NewSegment& segment : plan_.segments) segments_.add(std::move(segment));
  return {Kind::committed, {}};
}

Progress CommitAttempt::end(Kind kind, Reason reason, std::string text) {
  state_ = State::idle;
  return {kind, runtime::local_error(Outcome::refused, reason, std::move(text))};
}

std::optional<std::string> CommitAttempt::removed() const {
  return plan_.removed ? register_.values().front() : std::nullopt;
}

}  // namespace sheaf::client::list

// Pure: no socket, clock, entropy, thread or callback.

#include "client/list/edit_queue.h"

#include <algorithm>
#include <utility>

namespace sheaf::client::list {

std::size_t EditRequest::bytes() const noexcept {
  std::size_t bytes = 0;
  for (const std::string& value : edit.values) bytes += value.size();
  return bytes;
}

void EditQueue::add(EditRequest& request) {
  earliest_ = std::min(earliest_, request.deadline);
  waiting_.push_back(&request);
}

EditRequest* EditQueue::poll_ended() {
  if (ended_.empty()) return nullptr;
  EditRequest* const request = ended_.front();
  ended_.pop_front();
  return request;
}

// ---- the group in progress

// Pushes join the group while they fit. An edit of another kind is a group by itself.
void EditQueue::take_group() {
  group_.clear();
  std::size_t items = 0;
  std::size_t bytes = 0;
  const auto is_push = [](const EditRequest& r) { return r.edit.kind == Edit::Kind::push; };
  while (!waiting_.empty()) {
    EditRequest& request = *waiting_.front();
    items += request.edit.values.size();
    bytes += request.bytes();
    const bool joins =
        is_push(request) && items <= limits_.items && bytes <= limits_.bytes && alone_ == 0;
    if (!group_.empty() && !(joins && is_push(*group_.front()))) break;
    group_.push_back(&request);
    waiting_.pop_front();
  }
  if (alone_ > 0) --alone_;
}

// The group goes to the front of the queue, in its old order.
void EditQueue::put_back() {
  for (auto at = group_.rbegin(); at != group_.rend(); ++at) {
    if (*at != nullptr) waiting_.push_front(*at);
  }
  group_.clear();
}

std::vector<const Edit*> EditQueue::group_edits() const {
  std::vector<const Edit*> edits;
  edits.reserve(group_.size());
  for (const EditRequest* request : group_) edits.push_back(&request->edit);
  return edits;
}

void EditQueue::end_group(const Plan& plan, const std::optional<std::string>& removed) {
  for (std::size_t i = 0; i < group_.size(); ++i) {
    if (group_[i] == nullptr) continue;
    const EditResult& result = plan.results[i];
    end(*group_[i], EditOutcome{result.found, result.length, removed, result.dropped});
  }
  group_.clear();
}

// ---- errors

void EditQueue::fail_group(const Error& error, Now now) {
  for (EditRequest* request : std::exchange(group_, {})) {
    if (request != nullptr) fail(*request, error, now);
  }
}

void EditQueue::fail_waiting(const Error& error, Now now) {
  for (EditRequest* request : std::exchange(waiting_, {})) fail(*request, error, now);
}

bool EditQueue::in_group(const EditRequest& request) const {
  return std::ranges::find(group_, &request) != group_.end();
}

void EditQueue::cancel(EditRequest& request, const Error& error, Now now) {
  std::replace(group_.begin(), group_.end(), &request, static_cast<EditRequest*>(nullptr));
  std::erase(waiting_, &request);
  fail(request, error, now);
  find_earliest();
}

void EditQueue::expire_group(const Error& error, Now now) {
  for (EditRequest*& request : group_) {
    if (request == nullptr || !request->late(now)) continue;
    fail(*request, error, now);
    request = nullptr;
  }
  find_earliest();
}

void EditQueue::expire_waiting(const Error& error, Now now) {
  for (EditRequest* request : waiting_) {
    if (request->late(now)) fail(*request, error, now);
  }
  std::erase_if(waiting_, [now](const EditRequest* request) { return request->late(now); });
  find_earliest();
}

void EditQueue::fail(EditRequest& request, const Error& error, Now now) {
  Error own = error;
  own.elapsed = now.mono - request.started;
  end(request, Failure(std::move(own)));
}

void EditQueue::end(EditRequest& request, Result<EditOutcome> outcome) {
  request.outcome.emplace(std::move(outcome));
  ended_.push_back(&request);
}

// ---- deadlines

bool EditQueue::group_late(Now now) const {
  return std::ranges::any_of(group_, [now](const EditRequest* request) {
    return request != nullptr && request->late(now);
  });
}

Deadline EditQueue::last_waiting() const {
  Deadline last{0};
  for (const EditRequest* request : waiting_) last = std::max(last, request->deadline);
  return last;
}

Deadline EditQueue::last_of_group() const {
  Deadline last{0};
  for (const EditRequest* request : group_) {
    if (request != nullptr) last = std::max(last, request->deadline);
  }
  return last;
}

void EditQueue::find_earliest() {
  earliest_ = never;
  for (const EditRequest* request : waiting_) earliest_ = std::min(earliest_, request->deadline);
  for (const EditRequest* request : group_) {
    if (request != nullptr) earliest_ = std::min(earliest_, request->deadline);
  }
}

}  // namespace sheaf::client::list

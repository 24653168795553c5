#include "tests/store/engine/model_store.h"

#include <algorithm>
#include <tuple>

namespace sheaf::store {
namespace {

bool ahead(ModelStore::Number number, Now now) {
  return static_cast<std::int64_t>(number.first) > now.wall.count() + 60'000;
}

}  // namespace

Got ModelStore::execute(const ModelRequest& request, Now now) {
  using Verb = ModelRequest::Verb;
  expire(now);
  if (ahead(request.timestamp, now)) {
    const Got refused = refuse(
        "the request timestamp is too far in the future; ensure that the client and broker system "
        "clocks are synchronized");
    const bool colon = page_ && (request.verb == Verb::watch || request.verb == Verb::stop);
    if (!colon) return refused;
    return {Verdict::answer, "-ERR:" + refused.payload.substr(4), ""};
  }
  const auto found = records_.find(request.key);
  switch (request.verb) {
    case Verb::set:
      return set(request, now);
    case Verb::get:
      if (found == records_.end()) return {Verdict::answer, "$-1\r\n", ""};
      return with(
          "$" + std::to_string(found->second.value.size()) + "\r\n" + found->second.value + "\r\n",
          found->second.version, now);
    case Verb::del:
    case Verb::vdel:
      return remove(request, now);
    case Verb::watch:
      watches_.emplace(request.key, request.client);
      return {Verdict::answer, "+OK\r\n", ""};
    case Verb::stop:
      return {Verdict::answer,
              watches_.erase({request.key, request.client}) > 0 ? "+OK\r\n" : ":0\r\n", ""};
  }
  return {};
}

Got ModelStore::set(const ModelRequest& request, Now now) {
  constexpr std::string_view too_far =
      "the request timestamp is too far in the future; ensure that the client and broker system "
      "clocks are synchronized";
  if (!next(request.timestamp, now)) return refuse(too_far);
  const auto found = records_.find(request.key);
  const bool there = found != records_.end();
  if (request.fence && ahead(*request.fence, now)) {
    return refuse(
        "the request fencing token timestamp is too far in the future; ensure that the client and "
        "broker system clocks are synchronized");
  }
  if (there && found->second.fence) {
    if (!request.fence) return refuse("a fencing token is required for this request");
    if (*request.fence < *found->second.fence) {
      return refuse(
          "the request fencing token is a lower version than the fencing token protecting the "
          "resource");
    }
  }
  const bool stays = there && (request.nx || (request.nex && found->second.value != request.value));
  if (stays) return with(page_ ? "-1\r\n" : ":-1\r\n", found->second.version, now);
  clock_ = *next(std::max(request.timestamp, request.fence.value_or(Number{})), now);
  Record record{request.value, clock_, std::nullopt, request.fence, ++turns_};
  if (request.px > 0) record.expiry = now.mono + milliseconds(request.px);
  records_[request.key] = record;
  notify(request.key, {"NOTIFY", "SET", "VALUE", request.value}, clock_);
  return with("+OK\r\n", clock_, now);
}

Got ModelStore::remove(const ModelRequest& request, Now now) {
  if (request.fence && ahead(*request.fence, now)) {
    return refuse(
        "the request fencing token timestamp is too far in the future; ensure that the client and "
        "broker system clocks are synchronized");
  }
  const auto found = records_.find(request.key);
  if (found == records_.end()) return {Verdict::answer, ":0\r\n", ""};
  if (found->second.fence) {
    if (!request.fence) return refuse("a fencing token is required for this request");
    if (*request.fence < *found->second.fence) {
      return refuse(
          "the request fencing token is a lower version than the fencing token protecting the "
          "resource");
    }
  }
  if (request.verb == ModelRequest::Verb::vdel && found->second.value != request.value) {
    return {Verdict::answer, page_ ? "-1\r\n" : ":-1\r\n", ""};
  }
  const Number version = found->second.version;
  drop(request.key, std::max(request.timestamp, request.fence.value_or(Number{})), now);
  return with(":1\r\n", version, now);
}

void ModelStore::expire(Now now) {
  std::vector<std::tuple<Deadline, std::uint64_t, std::string>> due;
  for (const auto& [key, record] : records_) {
    if (record.expiry && *record.expiry <= now.mono)
      due.emplace_back(*record.expiry, record.turn, key);
  }
  std::ranges::sort(due);
  for (const auto& [moment, turn, key] : due) drop(key, {0, 0}, now);
}

std::uint64_t ModelStore::bytes() const {
  std::uint64_t sum = 0;
  for (const auto& [key, record] : records_) sum += key.size() + record.value.size();
  return sum;
}

Got ModelStore::refuse(std::string_view error) const {
  return {Verdict::answer, error_line(error), ""};
}

Got ModelStore::with(std::string payload, Number version, Now now) const {
  return {Verdict::answer, std::move(payload), ahead(version, now) ? "" : text(version)};
}

std::optional<ModelStore::Number> ModelStore::next(Number after, Now now) const {
  const Number newest = std::max(clock_, after);
  const auto wall = static_cast<std::uint64_t>(now.wall.count());
  if (wall > newest.first) return Number{wall, 0};
  const Number version{newest.first, newest.second + 1};
  if (ahead(version, now)) return std::nullopt;
  return version;
}

void ModelStore::drop(const std::string& key, Number after, Now now) {
  Number version{static_cast<std::uint64_t>(now.wall.count() + 60'000), 0};
  if (const auto legal = next(after, now)) clock_ = version = *legal;
  notify(key, {"NOTIFY", page_ ? "DEL" : "DELETE"}, version);
  records_.erase(key);
}

void ModelStore::notify(const std::string& key, const std::vector<std::string>& items,
                        Number version) {
  for (const auto& [watched, client] : watches_) {
    if (watched != key) continue;
    notified_.insert(std::to_string(client) + " " + payload_of(items) + " " + text(version));
  }
}

std::string ModelStore::text(Number number) const {
  const std::string node = ":StateStore";
  if (page_) return std::to_string(number.first) + ":" + std::to_string(number.second) + node;
  return stamp(milliseconds(static_cast<std::int64_t>(number.first)), number.second, "StateStore");
}

}  // namespace sheaf::store

#include "tests/sim/kit/sim_cache.h"

#include "base/checks.h"

namespace sheaf::sim {

using protocol::Condition;
using protocol::Operation;
using protocol::Status;
using protocol::Verb;
using namespace std::chrono_literals;

CacheClock::CacheClock(double phase)
    : next_(std::chrono::duration_cast<std::chrono::nanoseconds>(
          std::chrono::duration<double>(phase))) {}

void CacheClock::read(std::chrono::nanoseconds late) {
  second_ = std::chrono::floor<std::chrono::seconds>(next_).count();
  next_ += 1s + late;
}

void CacheTable::restart() {
  items_.clear();
  last_version_ = 0;
}

std::int64_t CacheTable::end_of(const Operation& operation, const CacheClock& clock) {
  if (operation.ttl <= 0ms) return 0;
  return clock.second() + std::chrono::ceil<std::chrono::seconds>(operation.ttl).count();
}

CacheTable::Answer CacheTable::execute(const Operation& operation, const CacheClock& clock) {
  const auto found = items_.find(std::string(operation.key));
  Item* present = found == items_.end() ? nullptr : &found->second;
  if (present != nullptr && present->ends != 0 && present->ends <= clock.second()) {
    items_.erase(found);
    present = nullptr;
  }
  if (operation.verb == Verb::set) return set(operation, present, clock);
  if (present == nullptr) return {Status::absent, {}, {}};
  const std::string version = std::to_string(present->version);
  if (operation.verb == Verb::get) {
    const std::int64_t left = present->ends == 0 ? -1 : present->ends - clock.second();
    return {Status::done, present->value, version, left, present->flags};
  }
  if (operation.verb == Verb::touch) {
    present->ends = end_of(operation, clock);
    return {};
  }
  SHEAF_CHECK(operation.verb == Verb::remove);
  if (operation.condition == Condition::if_version && operation.version != version) {
    return {Status::not_stored, {}, {}};
  }
  items_.erase(found);
  return {};
}

CacheTable::Answer CacheTable::set(const Operation& operation, Item* present,
                                   const CacheClock& clock) {
  switch (operation.condition) {
    case Condition::none:
      break;
    case Condition::if_absent:
      if (present != nullptr) return {Status::not_stored, {}, {}};
      break;
    case Condition::if_present:
      if (present == nullptr) return {Status::not_stored, {}, {}};
      break;
    case Condition::if_version:
      if (present == nullptr) return {Status::absent, {}, {}};
      if (std::to_string(present->version) != operation.version)
        return {Status::not_stored, {}, {}};
      break;
    case Condition::if_absent_or_equal:
    case Condition::if_value:
      SHEAF_CHECK(false);  // memcached compares versions
  }
  const Item item{std::string(operation.value), ++last_version_, end_of(operation, clock),
                  operation.flags};
  items_.insert_or_assign(std::string(operation.key), item);
  return {Status::done, {}, std::to_string(item.version)};
}

}  // namespace sheaf::sim

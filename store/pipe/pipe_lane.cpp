#include "store/pipe/pipe_lane.h"

#include <algorithm>

#include "store/pipe/pipe_stream.h"

namespace sheaf::store::pipe {

PipeLane::PipeLane(socket::Loop& loop, Summoner& summoner, Engines engines)
    : loop_(loop), summoner_(summoner), engines_(std::move(engines)), timer_(loop.timer(*this)) {
  for (const auto& engine : engines_) SharedEngine::Guard(*engine, *this, loop_.now()).join();
  touch();
}

PipeLane::~PipeLane() {
  for (const auto& engine : engines_) SharedEngine::Guard(*engine, *this, loop_.now()).leave();
  summoner_.dismiss(*this);
  loop_.forget(*this);
}

SharedEngine* PipeLane::engine(std::size_t index) {
  return index < engines_.size() ? engines_[index].get() : nullptr;
}

void PipeLane::announce(PipeStream& stream, PipeLane& driver) {
  PipeLane& own = stream.lane();
  if (&own == &driver) {
    own.loop_.defer(stream);
    return;
  }
  {
    const std::scoped_lock lock(own.mutex_);
    if (std::ranges::find(own.mail_, &stream) != own.mail_.end()) return;
    own.mail_.push_back(&stream);
  }
  own.summon();
}

void PipeLane::put_off(PipeStream& stream) {
  put_off_.push_back(&stream);
  touch();
}

void PipeLane::forget(PipeStream& stream) noexcept {
  loop_.forget(stream);
  std::erase(put_off_, &stream);
  const std::scoped_lock lock(mutex_);
  std::erase(mail_, &stream);
}

void PipeLane::run_deferred(Now now) {
  collect_mail();
  arm(now);
}

void PipeLane::on_timer(Now now) {
  for (PipeStream* stream : std::exchange(put_off_, {})) loop_.defer(*stream);
  for (const auto& engine : engines_) {
    SharedEngine::Guard guard(*engine, *this, now);
    const auto due = guard.host().next_deadline();
    if (due && *due <= guard.now().mono) guard.host().tick(guard.now());
  }
  touch();
}

void PipeLane::collect_mail() {
  const std::scoped_lock lock(mutex_);
  for (PipeStream* stream : mail_) loop_.defer(*stream);
  mail_.clear();
}

void PipeLane::arm(Now now) {
  Deadline next = put_off_.empty() ? never : now.mono;
  for (const auto& engine : engines_) {
    SharedEngine::Guard guard(*engine, *this, now);
    next = std::min(next, guard.host().next_deadline().value_or(never));
  }
  timer_->set(next);
}

}  // namespace sheaf::store::pipe

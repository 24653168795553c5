#include "store/pipe/pipe_lane.h"

#include <algorithm>
#include <utility>

#include "store/pipe/pipe_stream.h"

namespace sheaf::store::pipe {

PipeLane::PipeLane(socket::Loop& loop, Summoner& summoner, Engines engines)
    : loop_(loop), summoner_(summoner), timer_(loop.timer(*this)) {
  for (auto& engine : engines) {
    SharedEngine::Guard(*engine, *this, loop_.now()).join();
    places_.push_back({std::move(engine)});
  }
  loop_.defer(*this);
}

PipeLane::~PipeLane() {
  for (const Place& place : places_) {
    SharedEngine::Guard(*place.engine, *this, loop_.now()).leave();
  }
  summoner_.dismiss(*this);
  loop_.forget(*this);
}

SharedEngine* PipeLane::engine(std::size_t index) {
  return index < places_.size() ? places_[index].engine.get() : nullptr;
}

void PipeLane::touch(std::size_t index) {
  places_[index].touched = true;
  loop_.defer(*this);
}

void PipeLane::take_over() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    heir_ = true;
  }
  summoner_.summon(*this);
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
  own.summoner_.summon(own);
}

void PipeLane::put_off(PipeStream& stream) {
  put_off_.push_back(&stream);
  loop_.defer(*this);
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
  for (Place& place : places_) {
    if (place.next > now.mono) continue;
    SharedEngine::Guard guard(*place.engine, *this, now);
    guard.host().tick(guard.now());
    place.touched = true;
  }
  loop_.defer(*this);
}

void PipeLane::collect_mail() {
  const std::scoped_lock lock(mutex_);
  for (PipeStream* stream : mail_) loop_.defer(*stream);
  mail_.clear();
  if (!std::exchange(heir_, false)) return;
  for (Place& place : places_) place.touched = true;
}

void PipeLane::arm(Now now) {
  Deadline next = put_off_.empty() ? never : now.mono;
  for (Place& place : places_) {
    if (std::exchange(place.touched, false)) {
      SharedEngine::Guard guard(*place.engine, *this, now);
      place.next = guard.host().next_deadline().value_or(never);
    }
    next = std::min(next, place.next);
  }
  timer_->set(next);
}

}  // namespace sheaf::store::pipe

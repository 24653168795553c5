#include "base/stop_callback.h"

namespace sheaf {

StopCallback::StopCallback(const std::stop_token& token, StopHandler& handler)
    : handler_(handler), callback_(token, Call{*this}) {}

StopCallback::~StopCallback() = default;

void StopCallback::Call::operator()() const noexcept { callback.handler_.on_stop_requested(); }

}  // namespace sheaf

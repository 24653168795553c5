#pragma once

// The state of a Driver, shared with the clients that it turns.
//
// Thread rule: as LaneDriver.

#include <sheaf/driver.h>

#include "socket/lane/lane_driver.h"

namespace sheaf {
inline namespace v0 {

class Driver::State : public socket::LaneDriver {};

}  // namespace v0
}  // namespace sheaf

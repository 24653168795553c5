#pragma once

/// @file
/// The function of an asynchronous get_or_compute: it gets a ComputeDone, which it calls now or
/// later.

#include <memory>
#include <string>

#include <sheaf/export.h>
#include <sheaf/move_only_function.h>
#include <sheaf/result.h>

namespace sheaf {
namespace client::compute {
class AsyncLeader;
class DoneHandle;
}  // namespace client::compute
inline namespace v0 {

/// Ends the computation of a missing value. An AsyncCompute gets one, and calls it or one of its
/// copies once, on any thread, before it returns or later. The first call counts.
///
/// If the last copy is destroyed without a call, the computation has failed as by an error
/// (Outcome::not_sent, Reason::other). Once the client has gone a call does nothing.
///
/// Thread rule: any thread may call or copy any object that no other thread changes.
class SHEAF_API ComputeDone {
 public:
  /// With the value. Or with an error, which ends the caller's call, and nobody else's; the next in
  /// line computes then.
  void operator()(Result<std::string> made) const;
  /// With the value.
  void operator()(std::string value) const;

 private:
  friend class client::compute::AsyncLeader;
  explicit ComputeDone(std::shared_ptr<const client::compute::DoneHandle> handle) noexcept;
  std::shared_ptr<const client::compute::DoneHandle> handle_;
};

/// Makes the value of a key that is absent, now or later; see AsyncClient::get_or_compute.
using AsyncCompute = MoveOnlyFunction<void(ComputeDone done)>;

}  // namespace v0
}  // namespace sheaf

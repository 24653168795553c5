#pragma once

// ForkMark: distinguishes a process from its forked children. Objects made before a fork are
// useless in the child: threads are gone, and mutexes may be held forever.
//
// Thread rule: any thread.

namespace sheaf::client::runtime {

class ForkMark {
 public:
  ForkMark();
  // True in a child that was forked after the mark was made.
  bool forked() const noexcept;

 private:
  const unsigned generation_;
};

}  // namespace sheaf::client::runtime

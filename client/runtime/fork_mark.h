#pragma once

// ForkMark: tells a process from its forked children. What was made before a fork is of no use in
// the child: threads are gone, and mutexes may be held for ever.
//
// Thread rule: any thread.

namespace sheaf::client::runtime {

class ForkMark {
 public:
  ForkMark();
  // Whether this is a child that was forked since the mark was made.
  bool forked() const noexcept;

 private:
  const unsigned generation_;
};

}  // namespace sheaf::client::runtime

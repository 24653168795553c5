#pragma once

// TestBed: what else the machine does during a comparison, and which processors its servers and its
// clients have.

#include <sched.h>
#include <sys/types.h>

#include <functional>
#include <list>
#include <string>

namespace bench {

// A child process that only computes, on any processor. It ends with the object, and with this
// process, however that ends. Not counted as a server.
class BusyProcess {
 public:
  BusyProcess();
  ~BusyProcess();
  BusyProcess(const BusyProcess&) = delete;
  BusyProcess& operator=(const BusyProcess&) = delete;

 private:
  pid_t pid_;
};

// Thread rule: one thread, which lives as long as the object and has started no other before it.
class TestBed {
 public:
  struct Options {
    unsigned busy = 0;               // processes that only compute
    std::string placement = "free";  // or same, or split

    // Takes --busy and --placement. False if the name is not one of them.
    bool take(const std::string& name, const std::string& value);
  };

  // Throws std::invalid_argument if there are too few processors.
  explicit TestBed(const Options& options);

  const Options& options() const noexcept { return options_; }
  // The number of processors that this thread could use before it was placed.
  int processors() const noexcept { return processors_; }
  // Calls `start`: the servers that it starts stay on the processors of servers. After that, this
  // thread and those that it starts are on the processors of clients.
  void start_servers(const std::function<void()>& start) const;

 private:
  Options options_;
  std::list<BusyProcess> busy_;
  cpu_set_t servers_;
  cpu_set_t clients_;
  int processors_;
};

}  // namespace bench

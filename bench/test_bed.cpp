#include "bench/test_bed.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <system_error>

#include "bench/comparison.h"

namespace bench {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

cpu_set_t allowed() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) fail("sched_getaffinity");
  return set;
}

// The processors of `set` from number `first` to before number `last`, counted within the set.
cpu_set_t part(const cpu_set_t& set, int first, int last) {
  cpu_set_t out;
  CPU_ZERO(&out);
  for (int cpu = 0, number = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &set)) continue;
    if (number >= first && number < last) CPU_SET(cpu, &out);
    ++number;
  }
  return out;
}

void move_to(const cpu_set_t& set) {
  if (::sched_setaffinity(0, sizeof set, &set) != 0) fail("sched_setaffinity");
}

}  // namespace

BusyProcess::BusyProcess() {
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) fail("fork");
  if (pid_ > 0) {
    exclude_from_servers(pid_);
    return;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // the parent died before the line above
  for (volatile unsigned number = 0;;) number = number + 1;
}

BusyProcess::~BusyProcess() {
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool TestBed::Options::take(const std::string& name, const std::string& value) {
  if (name == "--busy") {
    busy = number(name, value, 64, 0);
  } else if (name == "--placement") {
    if (value != "free" && value != "same" && value != "split") {
      throw std::invalid_argument("--placement: '" + value + "' is not free, same or split");
    }
    placement = value;
  } else {
    return false;
  }
  return true;
}

TestBed::TestBed(const Options& options)
    : options_(options),
      servers_(allowed()),
      clients_(servers_),
      processors_(CPU_COUNT(&servers_)) {
  if (options.placement == "same") {
    servers_ = clients_ = part(servers_, 0, 1);
  } else if (options.placement == "split") {
    const int half = processors_ / 2;
    if (half == 0) throw std::invalid_argument("--placement split needs at least 2 processors");
    clients_ = part(servers_, half, processors_);
    servers_ = part(servers_, 0, half);
  }
  for (unsigned i = 0; i < options.busy; ++i) busy_.emplace_back();
}

void TestBed::start_servers(const std::function<void()>& start) const {
  move_to(servers_);
  start();
  move_to(clients_);
}

}  // namespace bench

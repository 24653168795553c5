// Shows a stale value with failover=rehash, and what helps. A node disappears but keeps its memory,
// its keys are written elsewhere in the meantime, and when it returns it answers with its old
// values. Here a server is stopped; a network that is cut has the same effect.
//
// stale_after_return [SHEAF]   the program that starts the servers; default `sheaf`, on the PATH
//
// It runs `SHEAF dev --memcached 3`, so memcached must be installed.

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include <sheaf/client.h>

namespace {

using namespace std::chrono_literals;

template <class T>
T must(sheaf::Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "stale_after_return: %s\n", result.error().message().c_str());
  std::exit(1);
}

// Three memcached servers in a child process, which ends with this one.
class Servers {
 public:
  explicit Servers(const char* program) {
    int ends[2];
    if (::pipe(ends) != 0) return;
    process_ = ::fork();
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);
      ::dup2(ends[1], STDOUT_FILENO);
      ::execlp(program, program, "dev", "--memcached", "3", nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    // The only line of its output is the URI; it comes once all servers answer.
    for (char c = 0; ::read(ends[0], &c, 1) == 1 && c != '\n';) uri_ += c;
    ::close(ends[0]);
  }
  ~Servers() {
    if (process_ <= 0) return;
    ::kill(process_, SIGTERM);
    ::waitpid(process_, nullptr, 0);
  }
  Servers(const Servers&) = delete;
  Servers& operator=(const Servers&) = delete;

  const std::string& uri() const { return uri_; }  // empty: they did not start

 private:
  pid_t process_ = -1;
  std::string uri_;
};

// The process of a server, as its statistics report it.
pid_t process_of(sheaf::Client& client, const std::string& node) {
  for (const sheaf::NodeText& stats : client.server_stats()) {
    if (stats.node != node) continue;
    const std::string text = must(stats.text);
    return static_cast<pid_t>(std::strtol(text.c_str() + text.find("pid ") + 4, nullptr, 10));
  }
  return -1;
}

bool is_down(const sheaf::Client& client, const std::string& node) {
  for (const sheaf::NodeStats& stats : client.stats()) {
    if (stats.node == node) return stats.health == sheaf::NodeHealth::down;
  }
  return false;
}

// The value of a key, or "-" if it has none or the read fails.
std::string read(sheaf::Client& client, const std::string& key) {
  const auto got = client.get(key, {.timeout = 200ms});
  return got && *got ? (*got)->data : "-";
}

std::string print_value(sheaf::Client& client, const std::string& key, const char* meaning) {
  const std::string value = read(client, key);
  std::printf("  %-16s = %-14s %s\n", key.c_str(), value.c_str(), meaning);
  return value;
}

// The text in braces places a key: these four are on one node.
constexpr const char* plain_key = "{line4}/plain";
constexpr const char* brief_key = "{line4}/brief";
constexpr const char* removed_key = "{line4}/removed";
constexpr const char* checked_key = "{line4}/checked";

}  // namespace

int main(int argc, char** argv) {
  const Servers servers(argc > 1 ? argv[1] : "sheaf");
  if (servers.uri().empty()) return std::fprintf(stderr, "the servers did not start\n"), 2;
  sheaf::Client client = must(sheaf::Client::open(servers.uri() + "?failover=rehash"));
  const std::string owner = must(client.locate(plain_key)).node;
  const pid_t process = process_of(client, owner);
  if (process <= 0) return std::fprintf(stderr, "%s reports no process\n", owner.c_str()), 1;

  std::printf("%s owns the keys and holds the old values\n", owner.c_str());
  const auto start = std::chrono::steady_clock::now();
  must(client.set(plain_key, "old"));
  must(client.set(brief_key, "old", {.ttl = 1s}));
  must(client.set(removed_key, "old"));
  must(client.set(checked_key, "1 old"));  // with the version of the source that it was made from

  std::printf("it goes down, and another node takes over its keys:\n");
  ::kill(process, SIGSTOP);
  while (!is_down(client, owner)) read(client, plain_key);
  print_value(client, plain_key, "absent: computed again, and stored");
  must(client.set(plain_key, "new"));
  must(client.set(brief_key, "new", {.ttl = 1s}));
  must(client.set(removed_key, "new"));
  must(client.set(checked_key, "2 new"));
  print_value(client, plain_key, "as the other node holds it");
  std::this_thread::sleep_until(start + 2500ms);  // the outage outlasts the short time to live

  std::printf("it is back, with its old values:\n");
  ::kill(process, SIGCONT);
  while (is_down(client, owner)) std::this_thread::sleep_for(10ms);
  const bool stale = print_value(client, plain_key, "stale, for as long as the key lives") == "old";

  std::printf("what helps:\n");
  const bool expired =
      print_value(client, brief_key, "a time to live bounds the age of what is read") == "-";
  // A program that wrote them during the outage removes them now; until then they are stale.
  must(client.remove(removed_key));
  const bool gone =
      print_value(client, removed_key, "removed at the return: will be computed again") == "-";
  // The source knows the current version. A reader accepts no older one.
  const bool outdated =
      print_value(client, checked_key, "version 1, and the source is at 2: not used") == "1 old";
  return stale && expired && gone && outdated ? 0 : 1;
}

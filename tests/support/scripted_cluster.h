#pragma once

// ScriptedCluster: servers of the Redis protocol in this process, whose answers a test writes byte
// for byte.
//
// Without a script each server greets, answers PING, and says in CLUSTER NODES that every member
// owns an equal part of the slots, in order; outsiders are servers that it does not name. GET is
// answered with "SERVER/KEY", so a value says which server was asked; SET and DEL always succeed.
// No server checks who owns a slot.
//
// A script is for the next commands of a server that begin with certain words. The first script
// that fits and is not used up answers. Answers leave in the order of their commands, so a delayed
// answer holds up those after it on its connection.
//
// Thread rule: any thread. The servers run on their own thread.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace sheaf::test {

class ScriptedCluster {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr std::size_t anyone = static_cast<std::size_t>(-1);
  static constexpr unsigned always = static_cast<unsigned>(-1);

  // A part of an answer. The delay begins when the previous part has been sent.
  struct Part {
    std::string bytes{};
    std::chrono::milliseconds delay{0};
    bool close = false;  // closes the connection after the bytes
  };
  struct Received {
    std::size_t server = 0;
    std::uint64_t connection = 0;
    std::string command;  // its words, with blanks between
    Clock::time_point at;
  };

  using Hosts = std::vector<std::string>;
  // Starts one server for each of these addresses of this machine, on a free port, which they share
  // if `one_port` is true. Throws std::runtime_error.
  explicit ScriptedCluster(const Hosts& members = Hosts(3, "127.0.0.1"),
                           const Hosts& outsiders = {}, bool one_port = false);
  ~ScriptedCluster();
  ScriptedCluster(const ScriptedCluster&) = delete;
  ScriptedCluster& operator=(const ScriptedCluster&) = delete;

  // True if a server can have this address here.
  static bool has_address(const std::string& host);

  std::size_t size() const { return servers_.size(); }
  const std::string& host(std::size_t server) const { return servers_.at(server).host; }
  std::uint16_t port(std::size_t server) const { return servers_.at(server).port; }
  std::string address(std::size_t server) const;
  // Returns 40 characters.
  static std::string id(std::size_t server);
  // The URI of these servers: redis://HOST:PORT,...
  std::string uri(const std::vector<std::size_t>& seeds) const;

  // ---- slots
  // The first slot of a member. Its last slot is the one before the next member's first.
  std::uint16_t first_slot(std::size_t member) const;
  // A key whose slot belongs to a member; each number gives another key.
  std::string key(std::size_t member, unsigned number = 0) const;
  // From now on CLUSTER NODES says that this server owns the slot, as the latest owner.
  void give(std::uint16_t slot, std::size_t server);
  // From now on CLUSTER NODES has this name next to the address of a member.
  void announce(std::size_t member, std::string name);
  // From now on the owner of the slot says in CLUSTER NODES that it migrates to this server.
  void migrate(std::uint16_t slot, std::size_t server);

  // ---- scripts
  void script(std::size_t server, std::string command, std::vector<Part> answer,
              unsigned times = 1);
  void answer(std::size_t server, std::string command, std::string bytes, unsigned times = 1) {
    script(server, std::move(command), {{.bytes = std::move(bytes)}}, times);
  }
  // Sends no answer, and nothing after it on this connection.
  void keep_silent(std::size_t server, std::string command, unsigned times = 1) {
    script(server, std::move(command), {{.delay = std::chrono::hours(1)}}, times);
  }
  void forget_scripts();

  // ---- what came
  std::vector<Received> log() const;
  // Commands of users: no greetings, PING, ASKING or CLUSTER.
  std::vector<std::string> requests(std::size_t server) const;
  // The number of commands that begin with these words.
  std::size_t count(std::size_t server, std::string_view command) const;
  // All commands, one list for each connection that had any.
  std::vector<std::vector<std::string>> conversations(std::size_t server) const;

 private:
  struct Server {
    std::string host{};
    std::uint16_t port = 0;
    int listener = -1;
    std::uint64_t epoch = 0;
    std::string name{};  // as announced
  };
  struct Script {
    std::size_t server = anyone;
    std::string command;
    std::vector<Part> answer;
    unsigned times = 1;
  };
  struct Due {
    Part part;
    Clock::time_point at;
  };
  struct Connection {
    int descriptor = -1;
    std::size_t server = 0;
    std::uint64_t number = 0;
    std::string input{};
    std::deque<Due> output{};
  };

  void serve();
  void accept(std::size_t server);
  // False: the connection has ended.
  static bool send_due(Connection& connection);
  bool receive(Connection& connection);
  int wait_time() const;
  void on_command(Connection& connection, const std::vector<std::string>& words);
  std::vector<Part> answer_to(std::size_t server, const std::vector<std::string>& words,
                              const std::string& command);
  std::string nodes_text(std::size_t server) const;

  std::vector<Server> servers_;
  std::size_t members_;
  std::vector<Connection> connections_;  // used only by the thread
  std::uint64_t connected_ = 0;
  int wake_ = -1;
  mutable std::mutex mutex_;
  std::vector<std::size_t> owners_;               // by slot
  std::map<std::size_t, std::size_t> migrating_;  // slots, to servers
  std::deque<Script> scripts_;
  std::vector<Received> log_;
  std::thread thread_;
};

}  // namespace sheaf::test

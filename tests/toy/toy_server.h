#pragma once

// A server of toy:// on the loopback interface, with its own thread and map.
//
// Thread rule: any thread.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace sheaf::toy {

class ToyServer {
 public:
  ToyServer();  // on a free port
  ~ToyServer() { stop(); }
  ToyServer(const ToyServer&) = delete;
  ToyServer& operator=(const ToyServer&) = delete;

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  // Closes the port and every connection; stored values stay.
  void stop();
  // Opens the same port again.
  void start();

 private:
  struct Connection {
    int descriptor = -1;
    std::string input;
  };

  void serve();
  // False: the client has left, or sent what the protocol does not know.
  bool read(Connection& connection);
  std::string reply(std::string_view line);

  std::uint16_t port_ = 0;
  int listener_ = -1;
  int wake_ = -1;
  std::map<std::string, std::string, std::less<>> values_;
  std::thread thread_;
};

}  // namespace sheaf::toy

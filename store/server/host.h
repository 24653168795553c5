#pragma once

// The state store as a complete server, pure: one engine and the sessions of its clients. Its
// driver (store/pipe in a process, the simulator in tests) moves the bytes and supplies the time.
//
//   Host::Connection* c = host.connect(now);
//   c->input_space() / c->on_input(...)       bytes of the client
//   while (auto* r = host.poll_ready()) ...   write r->poll_output(), r->on_output(...); end the
//                                             stream and release(*r) when r->closed()
//   host.tick(now) at host.next_deadline()
//
// A request of one client may give other clients something to read (notifications) or end their
// connections (takeover); poll_ready() returns all of them. This is a store, not a broker: messages
// to other topics reach no client and are acknowledged with 0x10 (no matching subscribers).
//
// Thread rule: one thread at a time, for the host and all its connections together.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/deadline_heap.h"
#include "base/intrusive_list.h"
#include "store/engine/engine.h"
#include "store/server/admission.h"
#include "store/server/server_session.h"

namespace sheaf::store::server {

struct HostOptions {
  EngineOptions engine;
  std::uint64_t seed = 0;  // for tables whose keys clients choose: random in production
  SessionLimits session;
  Logins logins;  // none: any client may connect
  std::size_t max_connections = 10'000;
};

class Host {
 public:
  class Connection;

  explicit Host(HostOptions options);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // A new connection; null if there are too many. It exists until release().
  Connection* connect(Now now);
  // The stream has ended, in any state of the session. Destroys the connection.
  void release(Connection& connection);

  // The next connection that has output, or has closed, since it was last returned here.
  Connection* poll_ready();

  // Expires keys, sends the notifications, and disconnects clients whose time has passed.
  void tick(Now now);
  std::optional<Deadline> next_deadline() const;

  // Tokens of the method in `logins`. forbid() disconnects the clients that were admitted with the
  // token, and returns how many.
  void allow(std::string token) { admission_.allow(std::move(token)); }
  unsigned forbid(const std::string& token);

  // With SessionLimits::hold_results, connections are given results only when they are released.
  // seal() notes the results up to now, for a later release_sealed().
  void seal();
  void release_sealed();
  void release_all();
  // Ends all open connections, and drops the output that they have not been given yet, because it
  // must not be revealed.
  void abandon(std::string_view text);

  // The file of the engine, for questions about the store; it must outlive the host's last use.
  void set_file(const FileReport& file) { file_ = &file; }

  std::size_t connections() const { return connections_.size(); }
  const Engine& engine() const { return engine_; }
  Engine& engine() { return engine_; }
  // Answers and notifications that exceeded the limits of their client.
  std::uint64_t discarded() const { return discarded_; }
  // How many sessions tick() has examined.
  std::uint64_t examined() const { return examined_; }

 private:
  void serve(Connection& connection, Now now);
  void on_connect(Connection& connection, const protocol::mqtt5::Connect& connect);
  void on_authenticate(Connection& connection, const protocol::mqtt5::Auth& auth);
  void on_publish(Connection& connection, const protocol::mqtt5::Publish& publish, Now now);
  // A request, or an inspection.
  void on_request(Connection& connection, const protocol::mqtt5::Publish& publish, Now now);
  void answer(Connection& connection, const Request& request, const Answer& answer);
  void forget(Connection& connection);
  void send_notifications();
  void deliver(Connection& connection, std::string_view topic, std::string_view payload,
               std::uint8_t qos);
  // Call it after anything that a session did.
  void follow(Connection& connection);
  template <class Release>
  void release_each(Release release);

  HostOptions options_;
  Admission admission_;
  Engine engine_;
  const FileReport* file_ = nullptr;  // null: in memory only
  ClientHandle next_handle_ = 1;
  std::unordered_map<ClientHandle, std::unique_ptr<Connection>> connections_;
  std::unordered_map<std::string, Connection*> clients_;  // the open ones, by client ID
  IntrusiveList<Connection> ready_;
  DeadlineHeap<Connection> deadlines_;  // of the sessions that have one
  std::vector<ClientHandle> holding_;   // connections that hold results; they may be gone
  std::uint64_t discarded_ = 0;
  std::uint64_t examined_ = 0;
  std::string properties_;  // of the message under construction
  ServerEvent event_;       // of the connection being served; too large to make one per packet
};

// One client's end of the host. The members are those of ServerSession.
class Host::Connection : public ListHook<Connection>, public DeadlineHook<Connection> {
 public:
  std::span<std::byte> input_space() { return session_.input_space(); }
  void on_input(std::size_t size, Now now);
  std::span<const Bytes> poll_output() { return session_.poll_output(); }
  void on_output(std::size_t size, Now now);
  void on_eof(Now now);

  bool closed() const { return session_.closed(); }
  const ServerSession& session() const { return session_; }

 private:
  friend class Host;
  Connection(Host& host, ClientHandle handle, Now now)
      : host_(host), handle_(handle), session_(host.options_.session, now) {}

  Host& host_;
  ClientHandle handle_;
  ServerSession session_;
  std::string token_;     // that the client was admitted with
  Deadline due_ = never;  // its place in the heap
  bool listed_ = false;   // in `holding_`
};

}  // namespace sheaf::store::server

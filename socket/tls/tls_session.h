#pragma once

// TlsSession: the client's side of one connection, as a machine between network bytes and
// plaintext. It touches no socket, clock or thread and makes no callbacks. OpenSSL draws its own
// random numbers.
//
// Both directions have buffers of a fixed size. write() takes only what fits as whole records, so
// bytes that it did not take leave no trace. read() decrypts straight into the reader's space. If
// no one reads, input_space() becomes empty, and the peer has to wait.
//
// Thread rule: belongs to one lane.

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/clock.h"
#include "socket/tls/tls_context.h"
#include "socket/tls/tls_failures.h"
#include "socket/tls/tls_notes.h"

struct bio_st;  // OpenSSL's BIO

namespace sheaf::socket::tls {

class TlsSession {
 public:
  enum class State : std::uint8_t {
    handshaking,
    open,   // the peer has proved its identity
    ended,  // the peer has said that it sends nothing more
    failed  // failure() says why
  };

  // `host` is what was dialed. It is verified unless the options have another name. `server` names
  // the tickets that may resume a session; empty: none.
  TlsSession(std::shared_ptr<const TlsContext> context, const std::string& host,
             std::string server = {});
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  // Begins the handshake. Certificates are checked against `now.wall`.
  void start(Now now);

  // From the network: write into input_space(), then report the bytes with on_input().
  std::span<std::byte> input_space();
  void on_input(std::size_t size);
  void on_eof();
  // To the network: the bytes to send; on_output() reports how many were sent.
  Bytes output();
  void on_output(std::size_t size);

  // Takes what fits; nothing before the session is open.
  std::size_t write(std::span<const Bytes> parts);
  // Returns what is there, at most the space. 0: nothing now, or the end (see state()).
  std::size_t read(std::span<std::byte> space);
  // True if bytes have arrived that have not been read.
  bool unread() const;
  // Says to the peer that nothing more is written.
  void close();

  State state() const noexcept { return state_; }
  // True if the failure means that one side does not accept the other, not that the connection
  // broke. Never after the peer's first answer.
  bool refused() const noexcept { return refused_; }
  // True if the handshake began with a ticket of an earlier session.
  bool resumes() const noexcept { return resumes_; }
  // Once open: "TLSv1.3 TLS_AES_256_GCM_SHA384".
  const std::string& encryption() const noexcept { return encryption_; }
  // Once open: when the server's certificate expires. A resumed session has that of the first
  // handshake.
  std::optional<std::chrono::milliseconds> certificate_end() const noexcept {
    return certificate_end_;
  }
  // One clause that begins with "TLS: ".
  const std::string& failure() const noexcept { return failure_; }

 private:
  void expect(const std::string& name);
  void advance();
  void judge(int result);
  void fail(std::string text);
  std::size_t write_record(Bytes bytes);

  std::shared_ptr<const TlsContext> context_;
  std::string name_;  // what the peer has to prove
  ssl_st* ssl_ = nullptr;
  bio_st* network_ = nullptr;  // our end of the pair; ssl_ has the other
  State state_ = State::handshaking;
  Progress progress_ = Progress::handshaking;
  TlsNotes notes_;
  bool resumes_ = false;
  std::string encryption_;
  std::optional<std::chrono::milliseconds> certificate_end_;
  std::string failure_;
  bool refused_ = false;
};

}  // namespace sheaf::socket::tls

#pragma once

// TlsSession: one connection of a client as a machine between bytes of the network and plaintext.
// It touches no socket, clock or thread, and calls nobody; what is random OpenSSL draws itself.
//
// Both directions have buffers of a fixed size. write() takes only what fits as whole records, so
// nothing that it did not take has left a trace. read() decrypts straight into the reader's space:
// when nobody reads, input_space() becomes empty, and the peer has to wait.
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
#include "socket/tls/tls_notes.h"

struct bio_st;  // OpenSSL's BIO

namespace sheaf::socket::tls {

class TlsSession {
 public:
  enum class State : std::uint8_t {
    handshaking,
    open,   // the peer is who it should be
    ended,  // the peer has said that it sends nothing more
    failed  // failure() says why
  };

  // `host`: what was dialed; verified unless the options have a name. `server` is whose tickets
  // resume a session; empty: none does.
  TlsSession(std::shared_ptr<const TlsContext> context, const std::string& host,
             std::string server = {});
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  // Begins the handshake. Certificates are judged by `now.wall`.
  void start(Now now);

  // From the network. What is put into the space is announced by on_input().
  std::span<std::byte> input_space();
  void on_input(std::size_t size);
  void on_eof();
  // To the network: bytes to send, and how many of them went.
  Bytes output();
  void on_output(std::size_t size);

  // Takes what fits: while not open, nothing.
  std::size_t write(std::span<const Bytes> parts);
  // Gives what there is, at most the space; 0: nothing now, or the end (see state()).
  std::size_t read(std::span<std::byte> space);
  // Whether bytes have come that nobody has read.
  bool unread() const;
  // Tells the peer that nothing more is written.
  void close();

  State state() const noexcept { return state_; }
  // The failure is a judgement of one side about the other, and no break of the connection.
  bool refused() const noexcept { return refused_; }
  // Whether the handshake was begun with a ticket of an earlier session.
  bool resumes() const noexcept { return resumes_; }
  // Once open: "TLSv1.3 TLS_AES_256_GCM_SHA384".
  const std::string& encryption() const noexcept { return encryption_; }
  // Once open: of the server. A session that was resumed has the one that was shown first.
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
  std::string name_;  // that the peer has to prove
  ssl_st* ssl_ = nullptr;
  bio_st* network_ = nullptr;  // our end of the pair whose other end ssl_ has
  State state_ = State::handshaking;
  TlsNotes notes_;
  bool resumes_ = false;
  std::string encryption_;
  std::optional<std::chrono::milliseconds> certificate_end_;
  std::string failure_;
  bool refused_ = false;
};

}  // namespace sheaf::socket::tls

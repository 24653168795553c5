#pragma once

// DNS messages as name servers send them, built by hand.
//
// Thread rule: pure functions.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/byte_writer.h"
#include "extras/discovery/dns/message.h"

namespace sheaf::test {

// A name without compression; "" is the root.
inline std::string wire_name(std::string_view name) {
  std::string bytes;
  while (!name.empty()) {
    const std::string_view label = name.substr(0, name.find('.'));
    bytes += static_cast<char>(label.size());
    bytes += label;
    name.remove_prefix(std::min(label.size() + 1, name.size()));
  }
  return bytes + '\0';
}
// A compression pointer to a place in the message.
inline std::string pointer_to(unsigned place) {
  return {static_cast<char>(0xc0 | place >> 8), static_cast<char>(place & 0xff)};
}
// The place of the question's name.
inline const std::string the_question = pointer_to(12);

inline std::string record(const std::string& owner, std::uint16_t type, const std::string& data,
                          std::uint16_t network = 1) {
  std::string bytes = owner;
  ByteWriter out(bytes);
  out.u16(type);
  out.u16(network);
  out.u32(60);
  out.u16(static_cast<std::uint16_t>(data.size()));
  out.bytes(data);
  return bytes;
}
inline std::string srv_data(std::uint16_t priority, std::uint16_t weight, std::uint16_t port,
                            const std::string& target) {
  std::string bytes;
  ByteWriter out(bytes);
  out.u16(priority);
  out.u16(weight);
  out.u16(port);
  out.bytes(target);
  return bytes;
}
inline std::string srv(std::uint16_t priority, std::uint16_t weight, std::uint16_t port,
                       std::string_view target, const std::string& owner = the_question) {
  return record(owner, 33, srv_data(priority, weight, port, wire_name(target)));
}
inline std::string cname(const std::string& owner, std::string_view target) {
  return record(owner, 5, wire_name(target));
}

// The answer to a question: its header, the question repeated, then the records.
struct AnswerBytes {
  std::uint16_t flags = 0x8180;  // a response, recursion desired and available
  std::uint16_t count = 0;
  std::string records{};

  AnswerBytes& add(const std::string& bytes) {
    records += bytes;
    ++count;
    return *this;
  }
  std::string to(const discovery::dns::SrvQuery& query) const {
    std::string question;
    ByteWriter asked(question);
    query.encode(asked);
    return to_bytes(question);
  }
  // `question` is the message as it came over the network.
  std::string to_bytes(std::string_view question) const {
    std::string bytes(question.substr(0, 2));
    ByteWriter out(bytes);
    out.u16(flags);
    out.u16(1);
    out.u16(count);
    out.u32(0);
    out.bytes(question.substr(12));
    out.bytes(records);
    return bytes;
  }
};

}  // namespace sheaf::test

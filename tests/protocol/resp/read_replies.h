#pragma once

// What a ReplyReader reads from bytes that arrive in pieces.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/resp/wire/reply_reader.h"
#include "tests/protocol/resp/reply_text.h"

namespace sheaf::protocol::resp {

// All replies in `bytes` as texts, the reasons why some were passed over, and how reading ended.
struct ReadReplies {
  std::vector<std::string> replies;
  std::vector<std::string> limits;
  ReplyReader::Progress end = ReplyReader::Progress::need_input;
  std::string fault;
  friend bool operator==(const ReadReplies&, const ReadReplies&) = default;
};

// Gives `bytes` to a reader in pieces of up to `piece` bytes.
inline ReadReplies read_all(std::string_view bytes, std::size_t piece,
                            const ReplyLimits& limits = {}) {
  ReplyReader reader(limits);
  ReadReplies read;
  std::size_t begin = 0;
  std::size_t come = 0;
  while (true) {
    // A new exact copy each time, so that reading past the end or keeping a pointer is detected.
    const std::string here(bytes.substr(std::min(begin, come), come - std::min(begin, come)));
    const ReplyReader::Progress progress = reader.read(here);
    if (progress == ReplyReader::Progress::complete) {
      read.replies.push_back(reply_text(reader.root()));
      read.limits.resize(read.replies.size());
      begin += reader.size();
    } else if (progress == ReplyReader::Progress::pass_over) {
      if (read.limits.size() == read.replies.size()) {
        read.limits.push_back(reader.fault().message());
      }
      begin += reader.size();
    } else if (progress == ReplyReader::Progress::broken) {
      read.end = progress;
      read.fault = reader.fault().message();
      return read;
    } else if (come == bytes.size()) {
      return read;
    } else {
      come = std::min(come + piece, bytes.size());
    }
    while (begin > come && come < bytes.size()) come = std::min(come + piece, bytes.size());
    if (begin > come) return read;
  }
}

// The only reply in `bytes`, which must be the same in every cut.
inline std::string read_one(std::string_view bytes, const ReplyLimits& limits = {}) {
  const ReadReplies whole = read_all(bytes, bytes.size() + 1, limits);
  for (const std::size_t piece : {1u, 2u, 3u, 7u}) {
    EXPECT_EQ(read_all(bytes, piece, limits), whole) << "in pieces of " << piece;
  }
  if (whole.end == ReplyReader::Progress::broken) return "broken: " + whole.fault;
  if (whole.replies.size() != 1) return std::to_string(whole.replies.size()) + " replies";
  const std::string& limit = whole.limits.front();
  return whole.replies.front() + (limit.empty() ? "" : ": " + limit);
}

}  // namespace sheaf::protocol::resp

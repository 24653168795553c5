// No password or token remains in freed memory, or in the output after it has left.

#include <gtest/gtest.h>

#include "protocol/output_queue.h"
#include "tests/protocol/freed_memory.h"
#include "tests/protocol/statestore/session_harness.h"
#include "tests/support/logins.h"

namespace sheaf::protocol {
namespace {

constexpr std::string_view secret = "a-secret-that-is-long-enough-for-no-short-string";
// Clearing a text sets its first byte to zero. This is what remains if nothing else was wiped.
constexpr std::string_view rest = secret.substr(1);

OutputQueue::FrameId put_frame(OutputQueue& queue, std::string_view bytes) {
  queue.reserve(bytes.size());
  queue.buffer().append(bytes);
  return queue.end();
}
OutputQueue::FrameId put_secret(OutputQueue& queue) {
  queue.reserve(secret.size());
  queue.buffer().append(secret);
  return queue.end_secret();
}
// Searches the whole capacity of its buffer, including the part after its bytes.
bool holds_secret(OutputQueue& queue) {
  std::string& buffer = queue.buffer();
  const std::size_t size = buffer.capacity();
  return memmem(buffer.data(), size, rest.data(), rest.size()) != nullptr;
}

TEST(SecretFrames, AreFoundByThisTestUnlessTheyAreWiped) {
  const LookForSecret look(rest);
  {
    OutputQueue queue;
    put_frame(queue, secret);
    queue.taken(queue.size());
    EXPECT_TRUE(holds_secret(queue));
  }
  EXPECT_EQ(look.found(), 1u);
}

TEST(SecretFrames, AreWipedOnceTheyHaveLeft) {
  const LookForSecret look(rest);
  {
    OutputQueue queue;
    put_frame(queue, "before");
    put_secret(queue);
    put_frame(queue, "behind");
    queue.taken(6 + secret.size() - 1);
    EXPECT_TRUE(holds_secret(queue)) << "one byte is still to leave";
    queue.taken(1);
    EXPECT_FALSE(holds_secret(queue));
    queue.taken(6);
  }
  EXPECT_EQ(look.found(), 0u);
}

TEST(SecretFrames, AreWipedWhenTheQueueIsClearedOrEnds) {
  const LookForSecret look(rest);
  {
    OutputQueue queue;
    put_secret(queue);
    queue.clear();
    EXPECT_FALSE(holds_secret(queue));
    put_secret(queue);
    queue.taken(3);
  }
  EXPECT_EQ(look.found(), 0u);
}

TEST(SecretFrames, LeaveNoCopyWhereTheQueueGrows) {
  const LookForSecret look(rest);
  {
    OutputQueue queue;
    put_secret(queue);
    for (int i = 0; i < 12; ++i) put_frame(queue, std::string(std::size_t{64} << i, 'x'));
    queue.taken(queue.size());
    EXPECT_FALSE(holds_secret(queue));
  }
  EXPECT_EQ(look.found(), 0u);
}

TEST(SecretFrames, LeaveNoCopyWhereTheQueueMovesThem) {
  const LookForSecret look(rest);
  {
    OutputQueue queue;
    put_frame(queue, std::string(200'000, 'x'));
    put_secret(queue);
    queue.taken(200'000);  // the rest moves to the front
    queue.taken(secret.size());
    EXPECT_FALSE(holds_secret(queue));
    std::vector<OutputQueue::FrameId> frames;
    for (int i = 0; i < 200; ++i) frames.push_back(put_frame(queue, std::string(1'000, 'x')));
    put_secret(queue);
    const auto last = put_frame(queue, "last");
    for (const OutputQueue::FrameId frame : frames) queue.erase(frame);  // and here as well
    queue.erase(last);
    queue.taken(secret.size());
    EXPECT_FALSE(holds_secret(queue));
  }
  EXPECT_EQ(look.found(), 0u);
}

TEST(SecretFrames, MovePastAGateAndAreWipedBehindIt) {
  const LookForSecret look(rest);
  {
    OutputQueue queue;
    put_frame(queue, "first");
    queue.close_gate();
    put_secret(queue);
    put_frame(queue, "passes");
    queue.pass_gate();
    queue.taken(queue.size());
    EXPECT_FALSE(holds_secret(queue));
  }
  EXPECT_EQ(look.found(), 0u);
}

TEST(SecretFrames, OfAStoreSessionAreWiped) {
  auto slot = test::login_slot("ann", secret);
  const LookForSecret look(rest);
  for (const bool leaves : {true, false}) {
    slot->present = make_login("ann", secret);
    statestore::StoreSessionOptions options = statestore::test_options();
    options.login = slot;
    statestore::Wire wire(options);
    wire.session.start(wire.now());
    if (leaves) {
      std::size_t size = 0;
      for (const Bytes part : wire.session.poll_output()) size += part.size();
      wire.session.on_output(size, wire.now());
    }
    wire.session.on_eof(wire.now());
  }
  EXPECT_EQ(look.found(), 0u);
}

TEST(SecretFrames, OfAReauthenticationAreWiped) {
  auto slot = std::make_shared<LoginSlot>(LoginSlot{test::token_login("K8S-SAT", "one")});
  statestore::StoreSessionOptions options = statestore::test_options();
  options.login = slot;
  auto wire = std::make_unique<statestore::Wire>(options);
  wire->handshake();
  slot->present = test::token_login("K8S-SAT", secret);
  const LookForSecret look(rest);
  EXPECT_TRUE(wire->session.renew_login(wire->now()));
  std::size_t size = 0;
  for (const Bytes part : wire->session.poll_output()) size += part.size();
  wire->session.on_output(size, wire->now());
  wire.reset();
  EXPECT_EQ(look.found(), 0u);
}

}  // namespace
}  // namespace sheaf::protocol

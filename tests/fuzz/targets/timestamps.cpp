// Hybrid logical clocks: versions as texts, their order, and a clock that observes them.

#include "protocol/statestore/clock.h"
#include "tests/fuzz/fuzz.h"

namespace sheaf::fuzz {
namespace {

using namespace protocol::statestore;
using protocol::VersionOrder;
using std::chrono::milliseconds;

VersionOrder reversed(VersionOrder order) {
  if (order == VersionOrder::older) return VersionOrder::newer;
  return order == VersionOrder::newer ? VersionOrder::older : order;
}

void check_text(std::string_view text) {
  const auto timestamp = parse_timestamp(text);
  if (!timestamp) return;
  for (const TimestampForm form : {TimestampForm::padded, TimestampForm::unpadded}) {
    const TimestampText printed(*timestamp, form);
    expect(parse_timestamp(printed.view()) == timestamp, "a printed timestamp parses to itself");
  }
  expect(compare_versions(text, text) == VersionOrder::same, "a version is itself");
}

// The clock only moves forward, past what it has observed, and never far ahead of the wall clock.
void check_clock(std::string_view node, std::string_view remote, Input steps) {
  HybridClock clock{std::string(node)};
  std::uint64_t wall = 1'700'000'000'000;
  while (!steps.done()) {
    const HybridClock before = clock;
    const std::uint8_t step = steps.u8();
    wall += std::uint64_t{step} << (step % 12);
    if (step % 5 == 0) wall -= std::min<std::uint64_t>(wall, std::uint64_t{step} << 10);
    const milliseconds now(wall);
    const auto other = parse_timestamp(remote).value_or(Timestamp{wall + step, step, "other"});
    if (step % 3 == 0) static_cast<void>(clock.observe(other, now));
    const bool can = clock.can_tick_after(other, now);
    const auto next = step % 3 == 1 ? clock.tick_after(other, now) : clock.tick(now);
    if (step % 3 == 1) expect(can == next.has_value(), "can_tick_after() says what happens");
    if (!next) continue;
    expect(*next > before.last() || before.last() == Timestamp{0, 0, before.last().node},
           "a clock goes on");
    expect(!too_far_ahead(*next, now) && next->counter <= max_counter, "a tick is legal");
    if (step % 3 == 1) {
      expect(Timestamp(next->wall, next->counter) >= Timestamp(other.wall, other.counter),
             "a tick is after what it was to be after");
    }
  }
}

}  // namespace

void run(std::string_view bytes) {
  Input input(bytes);
  const std::string a(input.short_text());
  const std::string b(input.short_text());
  check_text(a);
  check_text(b);
  expect(compare_versions(a, b) == reversed(compare_versions(b, a)), "the order has two sides");
  check_clock("node", a, input);
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  const std::vector<std::string> texts{"001696374425000:00001:StateStore",
                                       "1696374425000:0:CLIENT",
                                       "1:2:n",
                                       "18446744073709551615:2147483647:a:b",
                                       "0:0:",
                                       "1:2:n:",
                                       "001700000000050:00003:other"};
  for (const std::string& a : texts) {
    for (const std::string& b : {texts[0], texts[3]}) {
      all.push_back(short_text(a) + short_text(b) + std::string("\1\2\3\xFA\x05\xC0\7", 7));
    }
  }
  return all;
}

}  // namespace sheaf::fuzz

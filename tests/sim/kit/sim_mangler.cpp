#include "tests/sim/kit/sim_mangler.h"

#include <optional>
#include <utility>

namespace sheaf::sim {
namespace {

constexpr unsigned publish_type = 3;  // MQTT 5 section 2.1.2

// The size of the first packet, once its length is known (section 2.1.4).
std::optional<std::size_t> packet_size(std::string_view bytes) {
  std::size_t length = 0;
  for (std::size_t i = 1; i < bytes.size() && i <= 4; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    length |= std::size_t{byte & 0x7fu} << (7 * (i - 1));
    if ((byte & 0x80u) == 0) return 1 + i + length;
  }
  return std::nullopt;
}

}  // namespace

void PublishMangler::on_bytes(std::string_view bytes, const Emit& emit) {
  buffer_.append(bytes);
  for (;;) {
    const auto size = packet_size(buffer_);
    if (!size || buffer_.size() < *size) return;
    std::string packet = buffer_.substr(0, *size);
    buffer_.erase(0, *size);
    const unsigned type = static_cast<unsigned char>(packet.front()) >> 4;
    if (type == publish_type) {
      on_publish(std::move(packet), emit);
    } else {
      emit(std::move(packet), std::chrono::nanoseconds(0));
    }
  }
}

void PublishMangler::on_publish(std::string packet, const Emit& emit) {
  constexpr std::chrono::nanoseconds now{0};
  double dice = random_.between(0, 1);
  const auto falls = [&dice](double rate) {
    const bool hit = dice < rate;
    dice -= rate;
    return hit;
  };
  if (falls(rates_.drop)) {
    ++counts_.dropped;
  } else if (falls(rates_.delay)) {
    ++counts_.delayed;
    const auto most = static_cast<std::uint64_t>(rates_.most_delay.count());
    emit(std::move(packet), std::chrono::nanoseconds(1 + random_.below(most)));
  } else if (falls(rates_.twice)) {
    ++counts_.doubled;
    emit(packet, now);
    emit(std::move(packet), now);
  } else if (held_.empty() && falls(rates_.swap)) {
    ++counts_.swapped;
    held_ = std::move(packet);
    return;
  } else {
    ++counts_.passed;
    emit(std::move(packet), now);
  }
  if (!held_.empty()) emit(std::exchange(held_, {}), now);
}

}  // namespace sheaf::sim

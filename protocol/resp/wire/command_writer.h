#pragma once

// CommandWriter: writes commands of the Redis protocol, which are arrays of texts, into an output
// queue. The bytes are the same in RESP2 and RESP3.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "protocol/output_queue.h"

namespace sheaf::protocol::resp {

// One word of a command: a text (borrowed), or a number, which is written in decimal.
class Argument {
 public:
  constexpr Argument() noexcept = default;
  constexpr Argument(std::string_view text) noexcept : text_(text) {}  // NOLINT: so calls read well
  Argument(const std::string& text) noexcept : text_(text) {}          // NOLINT
  constexpr Argument(const char* text) noexcept : text_(text) {}       // NOLINT
  template <std::integral Number>
    requires(!std::same_as<Number, bool> && !std::same_as<Number, char>)
  constexpr Argument(Number number) noexcept  // NOLINT
      : number_(static_cast<std::uint64_t>(number)), is_number_(true), negative_(number < 0) {}

  bool is_number() const noexcept { return is_number_; }
  std::string_view text() const noexcept { return text_; }
  // The number's absolute value; its sign is negative().
  std::uint64_t magnitude() const noexcept { return negative_ ? 0 - number_ : number_; }
  bool negative() const noexcept { return negative_; }

 private:
  std::string_view text_;
  std::uint64_t number_ = 0;
  bool is_number_ = false;
  bool negative_ = false;
};

using Command = std::span<const Argument>;

inline constexpr std::array<Argument, 1> asking_command{"ASKING"};
inline constexpr std::array<Argument, 1> ping_command{"PING"};

class CommandWriter {
 public:
  // `output` outlives this object.
  explicit CommandWriter(OutputQueue& output) noexcept : output_(output) {}

  // Writes a command as one frame. If its largest text is above OutputQueue::copy_limit it is
  // referenced, not copied, and must live until the frame has left. If it throws std::bad_alloc,
  // nothing has changed.
  OutputQueue::FrameId write(Command command) { return write_together({&command, 1}); }
  OutputQueue::FrameId write(std::initializer_list<Argument> command) {
    return write(Command(command.begin(), command.size()));
  }
  // The same for a command of texts only.
  OutputQueue::FrameId write_texts(std::span<const std::string_view> words);
  // The same, with a secret among its words: everything is copied, and the frame is wiped.
  OutputQueue::FrameId write_secret(std::initializer_list<std::string_view> command);
  // Writes several commands as one frame, so that nothing comes between them and all of them leave
  // or none: ASKING and the command it applies to.
  OutputQueue::FrameId write_together(std::span<const Command> commands);
  // Writes several commands of texts as one frame; everything is copied.
  OutputQueue::FrameId write_commands(std::span<const std::span<const std::string_view>> commands);
  // Writes a command of two words for each of `texts`, as one frame; everything is copied.
  OutputQueue::FrameId write_each(std::string_view name, std::span<const std::string_view> texts);
  // Writes one command with all of `texts` as its arguments; everything is copied.
  OutputQueue::FrameId write_all(std::string_view name, std::span<const std::string_view> texts);
  // The same two with a key and a value for each: SET for each pair, or one MSET.
  OutputQueue::FrameId write_pairs(std::span<const std::string_view> keys,
                                   std::span<const std::string_view> values, bool together);

 private:
  void put_copies(std::span<const std::span<const std::string_view>> commands);

  OutputQueue& output_;
};

}  // namespace sheaf::protocol::resp

#include "base/sha1.h"

#include <cstddef>
#include <utility>

#include "base/short_texts.h"

namespace sheaf {
namespace {

constexpr std::size_t block_size = 64;
using Block = std::array<std::uint8_t, block_size>;

constexpr std::size_t at_once = 4;  // texts
using Numbers = std::uint32_t __attribute__((vector_size(4 * at_once)));

template <class Number>
using StateOf = std::array<Number, 5>;
template <class Number>
using WordsOf = std::array<Number, 16>;

constexpr Sha1 start_state{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
constexpr std::array<std::uint32_t, 4> constants{0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};

template <class Number>
Number turned(Number x, int by) noexcept {
  return x << by | x >> (32 - by);
}

// RFC 3174 section 5: the function of each 20 of the 80 steps.
template <unsigned Round, class Number>
Number mix(Number b, Number c, Number d) noexcept {
  if constexpr (Round == 0) return (b & c) | (~b & d);
  if constexpr (Round == 2) return (b & c) | (b & d) | (c & d);
  return b ^ c ^ d;
}

// The numbers change roles from step to step instead of moving, and so do the last 16 words.
template <unsigned I, class Number>
void step(StateOf<Number>& state, WordsOf<Number>& words) noexcept {
  Number& word = words[I % 16];
  if constexpr (I >= 16) {
    word = turned(words[(I - 3) % 16] ^ words[(I - 8) % 16] ^ words[(I - 14) % 16] ^ word, 1);
  }
  Number& b = state[(81 - I) % 5];
  Number& e = state[(84 - I) % 5];
  e += turned(state[(80 - I) % 5], 5) + mix<I / 20>(b, state[(82 - I) % 5], state[(83 - I) % 5]) +
       word + constants[I / 20];
  b = turned(b, 30);
}

template <class Number, unsigned... I>
void steps(StateOf<Number>& state, WordsOf<Number>& words,
           std::integer_sequence<unsigned, I...> /*all*/) noexcept {
  (step<I>(state, words), ...);
}

template <class Bytes>
std::uint32_t word_at(const Bytes& block, unsigned index) noexcept {
  const auto byte = [&block, index](unsigned at) -> std::uint32_t {
    return static_cast<std::uint8_t>(block[4 * index + at]);
  };
  return byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3);
}

void add_block(Sha1& state, const Block& block) noexcept {
  WordsOf<std::uint32_t> words;
  for (unsigned i = 0; i < 16; ++i) words[i] = word_at(block, i);
  Sha1 mixed = state;
  steps(mixed, words, std::make_integer_sequence<unsigned, 80>{});
  for (unsigned i = 0; i < 5; ++i) state[i] += mixed[i];
}

// The first number of each of four short texts.
Numbers first_numbers(const std::string_view* texts) noexcept {
  WordsOf<Numbers> words;
  for (unsigned lane = 0; lane < at_once; ++lane) {
    const short_texts::Block block = short_texts::padded(texts[lane]);
    for (unsigned i = 0; i < 14; ++i) words[i][lane] = word_at(block, i);
    words[14][lane] = 0;
    words[15][lane] = static_cast<std::uint32_t>(8 * texts[lane].size());
  }
  StateOf<Numbers> state;
  for (unsigned i = 0; i < 5; ++i) state[i] = Numbers{} + start_state[i];
  steps(state, words, std::make_integer_sequence<unsigned, 80>{});
  return state[0] + start_state[0];
}

}  // namespace

void sha1_first_words(std::span<const std::string_view> texts, std::span<std::uint32_t> words) {
  short_texts::each<at_once>(
      texts,
      [&](std::size_t at) {
        const Numbers numbers = first_numbers(&texts[at]);
        for (unsigned lane = 0; lane < at_once; ++lane) words[at + lane] = numbers[lane];
      },
      [&](std::size_t at) { words[at] = sha1(texts[at])[0]; });
}

// The text is followed by a one bit, by zeros, and by its length in bits as the last 8 bytes of a
// block.
Sha1 sha1(std::string_view data) noexcept {
  Sha1 state = start_state;
  const std::uint64_t bits = std::uint64_t{data.size()} * 8;
  const std::size_t blocks = (data.size() + 8) / block_size + 1;
  for (std::size_t i = 0; i < blocks; ++i) {
    Block block{};
    const std::size_t start = i * block_size;
    for (std::size_t at = 0; at < block_size && start + at <= data.size(); ++at) {
      const bool text = start + at < data.size();
      block[at] = text ? static_cast<std::uint8_t>(data[start + at]) : 0x80;
    }
    if (i + 1 == blocks) {
      for (unsigned byte = 0; byte < 8; ++byte) {
        block[block_size - 1 - byte] = static_cast<std::uint8_t>(bits >> 8 * byte);
      }
    }
    add_block(state, block);
  }
  return state;
}

}  // namespace sheaf

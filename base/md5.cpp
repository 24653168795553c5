#include "base/md5.h"

#include <cstring>
#include <utility>

#include "base/short_texts.h"

namespace sheaf {
namespace {

// GCC warns that functions with such parameters are called in another way where AVX is enabled.
// None of these is called from another file.
#pragma GCC diagnostic ignored "-Wpsabi"

constexpr std::size_t at_once = 8;  // texts
using Numbers = std::uint32_t __attribute__((vector_size(4 * at_once)));

template <class Number>
using StateOf = std::array<Number, 4>;
using State = StateOf<std::uint32_t>;

constexpr State start_state{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};

// RFC 1321 section 3.4: floor(2^32 * abs(sin(i + 1))), and the rotations of the four rounds.
constexpr std::array<std::uint32_t, 64> sines{
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
constexpr std::array<std::array<int, 4>, 4> rotations{
    {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}}};

template <class Number>
using WordsOf = std::array<Number, 16>;
using Words = WordsOf<std::uint32_t>;

template <unsigned Round, class Number>
Number mix(const Number& x, const Number& y, const Number& z) noexcept {
  if constexpr (Round == 0) return (x & y) | (~x & z);
  if constexpr (Round == 1) return (x & z) | (y & ~z);
  if constexpr (Round == 2) return x ^ y ^ z;
  return y ^ (x | ~z);
}

// The index of the message word that step i uses.
constexpr unsigned word_of(unsigned i) noexcept {
  constexpr std::array<unsigned, 4> factor{1, 5, 3, 7};
  constexpr std::array<unsigned, 4> start{0, 1, 5, 0};
  return (factor[i / 16] * i + start[i / 16]) % 16;
}

// The four numbers change roles from step to step instead of moving. The steps are unrolled by
// templates because every key of a shared ring is hashed here.
template <unsigned I, class Number>
void step(StateOf<Number>& state, const WordsOf<Number>& words) noexcept {
  constexpr int turn = rotations[I / 16][I % 4];
  Number& a = state[(64 - I) % 4];
  const Number b = state[(65 - I) % 4];
  const Number sum =
      a + mix<I / 16>(b, state[(66 - I) % 4], state[(67 - I) % 4]) + words[word_of(I)] + sines[I];
  a = b + (sum << turn | sum >> (32 - turn));
}

template <class Number, unsigned... I>
void steps(StateOf<Number>& state, const WordsOf<Number>& words,
           std::integer_sequence<unsigned, I...> /*all*/) noexcept {
  (step<I>(state, words), ...);
}

std::uint32_t word_at(const char* block, unsigned index) noexcept {
  const auto byte = [block, index](unsigned at) -> std::uint32_t {
    return static_cast<std::uint8_t>(block[4 * index + at]);
  };
  return byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;
}

template <class Number>
void add_words(StateOf<Number>& state, const WordsOf<Number>& words) noexcept {
  StateOf<Number> mixed = state;
  steps(mixed, words, std::make_integer_sequence<unsigned, 64>{});
  for (unsigned i = 0; i < 4; ++i) state[i] += mixed[i];
}

void add_block(State& state, const char* block) noexcept {
  Words words;
  for (unsigned i = 0; i < 16; ++i) words[i] = word_at(block, i);
  add_words(state, words);
}

// Calls store(index, word) for the 16 words of a short text's only block.
template <class Store>
void each_word(std::string_view text, const Store& store) noexcept {
  const short_texts::Block block = short_texts::padded(text);
  for (unsigned i = 0; i < 14; ++i) store(i, word_at(block.data(), i));
  store(14, static_cast<std::uint32_t>(8 * text.size()));
  store(15, 0);
}

// The numbers of each of eight short texts.
StateOf<Numbers> digests_of(const std::string_view* texts) noexcept {
  WordsOf<Numbers> words;
  for (unsigned lane = 0; lane < at_once; ++lane) {
    each_word(texts[lane], [&](unsigned i, std::uint32_t word) { words[i][lane] = word; });
  }
  StateOf<Numbers> state;
  for (unsigned i = 0; i < 4; ++i) state[i] = Numbers{} + start_state[i];
  add_words(state, words);
  return state;
}

// Calls store(index, number) for each text, where number(n) is the n-th number of its digest.
template <class Store>
void hash_all(std::span<const std::string_view> texts, const Store& store) {
  short_texts::each<at_once>(
      texts,
      [&](std::size_t at) {
        const StateOf<Numbers> digests = digests_of(&texts[at]);
        for (unsigned lane = 0; lane < at_once; ++lane) {
          store(at + lane, [&](unsigned n) { return digests[n][lane]; });
        }
      },
      [&](std::size_t at) {
        const Md5 digest = md5(texts[at]);
        store(at, [&](unsigned n) { return md5_word(digest, n); });
      });
}

}  // namespace

std::uint32_t md5_first_word(std::string_view text) noexcept {
  if (text.size() > short_texts::longest) return md5_word(md5(text), 0);
  Words words;
  each_word(text, [&](unsigned i, std::uint32_t word) { words[i] = word; });
  State state = start_state;
  add_words(state, words);
  return state[0];
}

void md5_first_words(std::span<const std::string_view> texts, std::span<std::uint32_t> words) {
  hash_all(texts, [&](std::size_t at, const auto& number) { words[at] = number(0); });
}

void md5_words(std::span<const std::string_view> texts,
               std::span<std::array<std::uint32_t, 4>> words) {
  hash_all(texts, [&](std::size_t at, const auto& number) {
    for (unsigned n = 0; n < 4; ++n) words[at][n] = number(n);
  });
}

Md5 md5(std::string_view data) noexcept {
  State state = start_state;
  const std::uint64_t bits = std::uint64_t{data.size()} * 8;
  for (; data.size() >= 64; data.remove_prefix(64)) add_block(state, data.data());
  std::array<char, 128> tail{};
  if (!data.empty()) std::memcpy(tail.data(), data.data(), data.size());
  tail[data.size()] = static_cast<char>(0x80);
  const std::size_t size = data.size() < 56 ? 64 : 128;
  for (unsigned i = 0; i < 8; ++i) tail[size - 8 + i] = static_cast<char>(bits >> 8 * i);
  for (std::size_t at = 0; at < size; at += 64) add_block(state, tail.data() + at);
  Md5 digest;
  for (unsigned i = 0; i < 16; ++i) {
    digest[i] = static_cast<std::uint8_t>(state[i / 4] >> 8 * (i % 4));
  }
  return digest;
}

}  // namespace sheaf

#include "base/random.h"

#include <gtest/gtest.h>

#include <span>
#include <string>

#include "base/text.h"

namespace sheaf {
namespace {

std::string drawn(Random& random, std::size_t size) {
  std::string bytes(size, ' ');
  random.fill(std::as_writable_bytes(std::span(bytes)));
  return hex_encode(bytes);
}

// RFC 8439, appendix A.1, test vectors 1 and 2: key and nonce of zeros, blocks 0 and 1.
TEST(Random, IsTheKeyStreamOfChaCha20) {
  Random random(Seed{});
  EXPECT_EQ(drawn(random, 64),
            "76B8E0ADA0F13D90405D6AE55386BD28BDD219B8A08DED1AA836EFCC8B770DC7"
            "DA41597C5157488D7724E03FB8D84A376A43B8F41518A11CC387B669B2EE6586");
  EXPECT_EQ(drawn(random, 64),
            "9F07E7BE5551387A98BA977C732D080DCB0F29A048E3656912C6533E32EE7AED"
            "29B721769CE64E43D57133B074D839D531ED1F28510AFB45ACE10A1F4B794D6F");
}

TEST(Random, TakesEveryWordOfTheSeedIntoAccount) {
  const std::uint64_t first = Random(Seed{}).u64();
  for (std::size_t i = 0; i < Seed{}.size(); ++i) {
    Seed seed{};
    seed[i] = 1;
    EXPECT_NE(Random(seed).u64(), first) << i;
  }
}

// The remaining bytes of a word are not drawn again.
TEST(Random, FillsAnyNumberOfBytes) {
  Random whole(7);
  Random parts(7);
  const std::string all = drawn(whole, 12);
  EXPECT_EQ(drawn(parts, 3), all.substr(0, 6));
  EXPECT_EQ(drawn(parts, 0), "");
  EXPECT_EQ(drawn(parts, 5), all.substr(8, 10));
}

TEST(Random, AStreamThatIsSeldomDrawnFromIsTheSameStream) {
  const Seed seed = Random(9).fork();
  Random random(seed);
  RareRandom rare(seed);
  for (unsigned i = 0; i < 50; ++i) {
    const auto draw = [i](Random& stream) { return i % 3 == 0 ? stream.u64() : stream.u32(); };
    ASSERT_EQ(rare.draw(draw), draw(random)) << i;
  }
}

}  // namespace
}  // namespace sheaf

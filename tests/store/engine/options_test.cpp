// Options by name: what is accepted, and the sentence for what is not.

#include <gtest/gtest.h>

#include "store/engine/engine.h"

namespace sheaf::store {
namespace {

using std::chrono::milliseconds;

std::string refusal(std::string_view name, std::string_view value) {
  EngineOptions options;
  const auto result = options.set(name, value);
  EXPECT_FALSE(result) << name << "=" << value;
  return result ? "" : result.error();
}

TEST(EngineOptions, EveryOptionIsSetByItsName) {
  EngineOptions options;
  EXPECT_TRUE(options.set("spelling", "page"));
  EXPECT_TRUE(options.set("max_keys", "7"));
  EXPECT_TRUE(options.set("max_bytes", "8"));
  EXPECT_TRUE(options.set("max_watches", "9"));
  EXPECT_TRUE(options.set("max_duplicates", "10"));
  EXPECT_TRUE(options.set("fence_retention", "90s"));
  EXPECT_TRUE(options.set("notify", "subscribed"));
  EXPECT_TRUE(options.set("reply_topics", "own"));
  EXPECT_EQ(options.spelling, Spelling::page);
  EXPECT_EQ(options.max_keys, 7u);
  EXPECT_EQ(options.max_bytes, 8u);
  EXPECT_EQ(options.max_watches, 9u);
  EXPECT_EQ(options.max_duplicates, 10u);
  EXPECT_EQ(options.fence_retention, milliseconds(90'000));
  EXPECT_EQ(options.notify, NotifyMode::subscribed);
  EXPECT_EQ(options.reply_topics, ReplyTopics::own);
  EXPECT_TRUE(options.set("spelling", "sdk"));
  EXPECT_TRUE(options.set("notify", "push"));
  EXPECT_TRUE(options.set("reply_topics", "any"));
  EXPECT_TRUE(options.set("fence_retention", "0ms"));
  EXPECT_EQ(options.spelling, Spelling::sdk);
  EXPECT_EQ(options.notify, NotifyMode::push);
  EXPECT_EQ(options.reply_topics, ReplyTopics::any);
  EXPECT_EQ(options.fence_retention, milliseconds(0));
}

TEST(EngineOptions, DefaultsAreTheDocumentedOnes) {
  const EngineOptions options;
  EXPECT_EQ(options.max_keys, 1'000'000u);
  EXPECT_EQ(options.max_bytes, 1'073'741'824u);
  EXPECT_EQ(options.spelling, Spelling::sdk);
}

TEST(EngineOptions, BytesMayHaveAUnit) {
  EngineOptions options;
  EXPECT_TRUE(options.set("max_bytes", "3KiB"));
  EXPECT_EQ(options.max_bytes, 3072u);
  EXPECT_TRUE(options.set("max_bytes", "512MiB"));
  EXPECT_EQ(options.max_bytes, 512u << 20);
  EXPECT_TRUE(options.set("max_bytes", "2GiB"));
  EXPECT_EQ(options.max_bytes, 2ull << 30);
}

TEST(EngineOptions, ARefusalIsOneSentenceAndChangesNothing) {
  EXPECT_EQ(refusal("spelling", "SDK"), "spelling must be sdk or page, not \"SDK\"");
  EXPECT_EQ(refusal("notify", ""), "notify must be push or subscribed, not \"\"");
  EXPECT_EQ(refusal("reply_topics", "all"), "reply_topics must be any or own, not \"all\"");
  EXPECT_EQ(refusal("max_keys", "0"), "max_keys must be a whole number, 1 or more, not \"0\"");
  EXPECT_EQ(refusal("max_watches", "-1"),
            "max_watches must be a whole number, 0 or more, not \"-1\"");
  EXPECT_EQ(refusal("max_duplicates", "1.5"),
            "max_duplicates must be a whole number, 0 or more, not \"1.5\"");
  EXPECT_EQ(refusal("max_bytes", "1TB"),
            "max_bytes must be a number of bytes, 1 or more, which may end in KiB, MiB or GiB, not "
            "\"1TB\"");
  EXPECT_EQ(refusal("fence_retention", "90"),
            "fence_retention must be a duration from 0s to 8760h, such as 90s, not \"90\"");
  EngineOptions options;
  EXPECT_FALSE(options.set("max_keys", "many"));
  EXPECT_EQ(options.max_keys, 1'000'000u);
}

TEST(EngineOptions, AFileAndWhenItIsWritten) {
  EngineOptions options;
  EXPECT_EQ(options.data, "");
  EXPECT_EQ(options.durability, milliseconds(0));
  EXPECT_TRUE(options.set("data", "/var/lib/a b/store.db"));
  EXPECT_TRUE(options.set("durability", "10s"));
  EXPECT_EQ(options.data, "/var/lib/a b/store.db");
  EXPECT_EQ(options.durability, milliseconds(10'000));
  EXPECT_TRUE(options.set("durability", "acknowledged"));
  EXPECT_EQ(options.durability, milliseconds(0));
  for (const char* bad : {"", "0ms", "11s", "100", "always"}) {
    EXPECT_EQ(refusal("durability", bad),
              "durability must be acknowledged, or a duration from 1ms to 10s, such as 100ms, not "
              "\"" +
                  std::string(bad) + "\"");
  }
  EXPECT_EQ(refusal("data", ""), "data must be the path of a file, of up to 4095 bytes, not \"\"");
  refusal("data", "/var/lib/");
  refusal("data", std::string(5000, 'x'));
}

TEST(EngineOptions, NumbersThatDoNotFitAreRefused) {
  refusal("max_keys", "18446744073709551616");
  refusal("max_bytes", "18446744073709551615KiB");
  refusal("max_bytes", "KiB");
  refusal("fence_retention", "8761h");
  refusal("fence_retention", "9223372036854775807h");
}

TEST(EngineOptions, AnUnknownNameIsAnsweredWithWhatThereIs) {
  const std::string text = refusal("max_key", "1");
  EXPECT_EQ(text,
            "the store has no option \"max_key\"; it has spelling, notify, reply_topics, max_keys, "
            "max_bytes, max_watches, max_duplicates, fence_retention, data, "
            "durability and persist");
  EXPECT_EQ(refusal("\x1b[2J", "1").find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace sheaf::store

#include "engine/generation_config.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace assay::engine {
namespace {

namespace fs = std::filesystem;

class GenerationConfigTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("assay_generation_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  void write(const char* name, const char* text) const { std::ofstream(folder_ / name) << text; }
  fs::path folder_;
};

TEST_F(GenerationConfigTest, TheEmbeddedModel) {
  const auto c = load_generation_config(ASSAY_SOURCE_DIR "/models/tiny");
  ASSERT_TRUE(c) << c.reason();
  EXPECT_EQ(c->eos_ids, (std::vector<TokenId>{4087, 4089}));
  EXPECT_EQ(*c->temperature, 0.7f);
  EXPECT_EQ(*c->top_k, 20);
  EXPECT_EQ(*c->top_p, 0.9f);
  EXPECT_EQ(c->context_length, 4096);
  EXPECT_EQ(c->vocab_size, 4096);
  EXPECT_EQ(c->eos_token, "<|im_end|>");
  EXPECT_FALSE(c->add_bos_token);
}

TEST_F(GenerationConfigTest, UnionOfEndTokensAndGreedyDefault) {
  write("config.json",
        R"({"eos_token_id":5,"max_position_embeddings":100,"text_config":{"eos_token_id":[7,5]}})");
  write("generation_config.json", R"({"eos_token_id":[9,5],"do_sample":false,"temperature":0.7})");
  write("tokenizer_config.json",
        R"({"eos_token":{"content":"</s>"},"bos_token":"<s>","add_bos_token":true})");
  const auto c = load_generation_config(folder_.string());
  ASSERT_TRUE(c) << c.reason();
  EXPECT_EQ(c->eos_ids, (std::vector<TokenId>{5, 7, 9}));
  EXPECT_EQ(*c->temperature, 0.0f);
  EXPECT_EQ(c->eos_token, "</s>");
  EXPECT_EQ(c->bos_token, "<s>");
  EXPECT_TRUE(c->add_bos_token);
  EXPECT_EQ(c->context_length, 100);
}

TEST_F(GenerationConfigTest, BadFilesAreNamed) {
  EXPECT_NE(load_generation_config(folder_.string()).reason().find("config.json"), std::string::npos);
  write("config.json", "{}");
  EXPECT_TRUE(load_generation_config(folder_.string()));
  write("generation_config.json", "[1");
  EXPECT_NE(load_generation_config(folder_.string()).reason().find("generation_config.json"),
            std::string::npos);
}

TEST_F(GenerationConfigTest, SenselessValuesAreLeftOut) {
  write("config.json", R"({"eos_token_id":null})");
  write("generation_config.json",
        R"({"temperature":-1,"top_p":7,"top_k":null,"eos_token_id":[-1,"x",3000000000]})");
  const auto c = load_generation_config(folder_.string());
  ASSERT_TRUE(c) << c.reason();
  EXPECT_FALSE(c->temperature || c->top_p || c->top_k);
  EXPECT_TRUE(c->eos_ids.empty());
}

}  // namespace
}  // namespace assay::engine

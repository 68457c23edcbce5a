#include "checkpoint/model_path.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace assay::checkpoint {
namespace {

namespace fs = std::filesystem;

class ModelPathTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("assay_model_path_" + std::to_string(::getpid()));
    fs::create_directories(root_);
    places_.hub = (root_ / "hub").string();
    places_.embedded = {(root_ / "none").string(), (root_ / "tiny").string()};
    make_model(root_ / "tiny");
  }
  void TearDown() override { fs::remove_all(root_); }
  static void make_model(const fs::path& folder) {
    fs::create_directories(folder);
    std::ofstream(folder / "config.json") << "{}";
  }
  fs::path root_;
  ModelPlaces places_;
};

TEST_F(ModelPathTest, NothingMeansTheEmbeddedModel) {
  const auto found = resolve_model_path("", places_);
  ASSERT_TRUE(found) << found.reason();
  EXPECT_EQ(found->folder, (root_ / "tiny").string());
  EXPECT_EQ(found->name, "tiny");
  places_.embedded.pop_back();
  EXPECT_FALSE(resolve_model_path("", places_));
}

TEST_F(ModelPathTest, FoldersAreTaken) {
  const auto found = resolve_model_path((root_ / "tiny").string() + "/", places_);
  ASSERT_TRUE(found) << found.reason();
  EXPECT_EQ(found->name, "tiny");
  fs::create_directories(root_ / "empty");
  EXPECT_NE(resolve_model_path((root_ / "empty").string(), places_).reason().find("config.json"),
            std::string::npos);
}

TEST_F(ModelPathTest, HubNamesAreLookedUp) {
  const auto absent = resolve_model_path("org/some-model", places_);
  ASSERT_FALSE(absent);
  EXPECT_NE(absent.reason().find("hf download org/some-model"), std::string::npos);
  const fs::path base = root_ / "hub/models--org--some-model";
  make_model(base / "snapshots/abc123");
  fs::create_directories(base / "refs");
  std::ofstream(base / "refs/main") << "abc123";
  const auto found = resolve_model_path("org/some-model", places_);
  ASSERT_TRUE(found) << found.reason();
  EXPECT_EQ(found->name, "org/some-model");
  EXPECT_EQ(found->folder, (base / "snapshots/abc123").string());
  std::ofstream(base / "refs/main") << "../../..";
  EXPECT_FALSE(resolve_model_path("org/some-model", places_));
}

TEST_F(ModelPathTest, GgufIsRefusedWithTheReason) {
  std::ofstream(root_ / "m.gguf") << "GGUF";
  for (const std::string& given :
       {(root_ / "m.gguf").string(), std::string("elsewhere/m.gguf"), root_.string()}) {
    const auto refused = resolve_model_path(given, places_);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.reason().find("GGUF"), std::string::npos) << refused.reason();
  }
}

}  // namespace
}  // namespace assay::checkpoint

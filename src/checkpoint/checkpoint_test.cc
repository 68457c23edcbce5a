// Hostile and damaged files: each gets an error that names what was found; none crashes or is half read.
#include "checkpoint/checkpoint.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "checkpoint/weight_binder.h"
#include "numeric/float_formats.h"

namespace assay::checkpoint {
namespace {

namespace fs = std::filesystem;

std::string refusal(const std::string& header, uint64_t data_bytes) {
  auto parsed = parse_safetensors_header(header, data_bytes);
  return parsed ? "" : parsed.reason();
}

TEST(SafetensorsHeader, AcceptsWhatTheFormatAllows) {
  const auto parsed = parse_safetensors_header(
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[],"data_offsets":[8,12]},)"
      R"("a":{"dtype":"BF16","shape":[2,2],"data_offsets":[0,8]},"empty":{"dtype":"U8","shape":[0,3],"data_offsets":[8,8]}}   )",
      12);
  ASSERT_TRUE(parsed) << parsed.reason();
  EXPECT_EQ(parsed->size(), 3u);
}

TEST(SafetensorsHeader, RefusesWithAReason) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "start with"},
      {"[]", "start with"},
      {"{", "JSON"},
      {R"({"a":1})", "not an object"},
      {R"({"a":{"dtype":"BF16","shape":[2]}})", "needs dtype, shape and data_offsets"},
      {R"({"a":{"dtype":"Q7","shape":[2],"data_offsets":[0,4]}})", "dtype Q7"},
      {R"({"a":{"dtype":"BF16","shape":[-2],"data_offsets":[0,4]}})", "dimension"},
      {R"({"a":{"dtype":"BF16","shape":[2.5],"data_offsets":[0,4]}})", "dimension"},
      {R"({"a":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,4],"data_offsets":[0,4]}})", "rank 9"},
      {R"({"a":{"dtype":"BF16","shape":[2],"data_offsets":[4,0]}})", "outside"},
      {R"({"a":{"dtype":"BF16","shape":[2],"data_offsets":[0,400]}})", "outside"},
      {R"({"a":{"dtype":"BF16","shape":[2],"data_offsets":[-4,0]}})", "data_offsets"},
      {R"({"a":{"dtype":"BF16","shape":[3],"data_offsets":[0,4]}})", "needs 6 bytes"},
      {R"({"a":{"dtype":"F64","shape":[281474976710656,281474976710656],"data_offsets":[0,4]}})",
       "more than 2^64"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[3],"data_offsets":[1,4]}})",
       "overlap"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
       "hole"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", "cover 2 bytes"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})",
       "twice"},
      {fmt::format(R"({{"{}":{{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}}})", std::string(600, 'x')),
       "600 bytes"},
  };
  for (const auto& [header, expected] : cases) {
    const std::string reason = refusal(header, 4);
    EXPECT_NE(reason.find(expected), std::string::npos) << header << "\n-> " << reason;
  }
}

// A folder that vanishes with the test.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / fmt::format("assay-test-{}-{}", getpid(), count_++)) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string path() const { return path_.string(); }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
  }

 private:
  fs::path path_;
  static inline int count_ = 0;
};

struct T {
  std::string name, dtype;
  std::vector<int64_t> shape;
  std::string bytes;
};

std::string safetensors(const std::vector<T>& tensors) {
  std::string header = "{", data;
  for (const T& t : tensors) {
    header += fmt::format(R"({}"{}":{{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})",
                          header.size() > 1 ? "," : "", t.name, t.dtype, shape_text(t.shape), data.size(),
                          data.size() + t.bytes.size());
    data += t.bytes;
  }
  header += "}";
  const uint64_t n = header.size();
  std::string file(8, '\0');
  std::memcpy(file.data(), &n, 8);
  return file + header + data;
}

std::string f32(float value) {
  return {reinterpret_cast<const char*>(&value), 4};
}

TEST(Checkpoint, FileDamageIsNamed) {
  const std::string good = safetensors({{"a", "U8", {4}, "abcd"}});
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "0 bytes"},
      {"1234567", "7 bytes"},
      {good.substr(0, good.size() - 1), "outside"},
      {good + "x", "cover 4 bytes"},
      {std::string("\xff\xff\xff\xff\xff\xff\xff\x7f", 8) + "{}", "declares a header"},
      {std::string("\x50\0\0\0\0\0\0\0", 8) + "{}", "holds only 2"}};
  for (const auto& [bytes, expected] : cases) {
    const Folder folder;
    folder.write("model.safetensors", bytes);
    const auto opened = Checkpoint::open(folder.path());
    ASSERT_FALSE(opened);
    EXPECT_NE(opened.reason().find(expected), std::string::npos) << opened.reason();
    EXPECT_NE(opened.reason().find("model.safetensors"), std::string::npos);
  }
}

TEST(Checkpoint, IndexRules) {
  const Folder folder;
  folder.write("one.safetensors", safetensors({{"a", "U8", {1}, "a"}}));
  folder.write("two.safetensors", safetensors({{"b", "U8", {1}, "b"}}));
  folder.write("golden.safetensors", "not a checkpoint file");  // left alone
  const auto index = [&](const std::string& map) {
    folder.write("model.safetensors.index.json", R"({"weight_map":)" + map + "}");
    auto opened = Checkpoint::open(folder.path());
    return opened ? std::to_string(opened->tensors().size()) : opened.reason();
  };
  EXPECT_EQ(index(R"({"a":"one.safetensors","b":"two.safetensors"})"), "2");
  EXPECT_NE(index(R"({"a":"../one.safetensors"})").find("plain file names"), std::string::npos);
  EXPECT_NE(index(R"({"c":"one.safetensors"})").find("does not hold it"), std::string::npos);
  EXPECT_NE(index(R"({"a":"gone.safetensors"})").find("cannot open"), std::string::npos);
  EXPECT_NE(index("{}").find("empty"), std::string::npos);
  // All problems at once.
  const std::string both = index(R"({"a":"gone.safetensors","b":"lost.safetensors"})");
  EXPECT_NE(both.find("gone"), std::string::npos);
  EXPECT_NE(both.find("lost"), std::string::npos);
}

TEST(Checkpoint, SymlinksOfACacheAreFollowed) {
  const Folder blobs, folder;
  blobs.write("blob", safetensors({{"a", "U8", {1}, "a"}}));
  fs::create_symlink(blobs.path() + "/blob", folder.path() + "/model.safetensors");
  EXPECT_TRUE(Checkpoint::open(folder.path()));
}

// Binds one module "m" [rows, cols] and returns the view or the problems.
struct Bound {
  QuantView view;
  std::string problems;
};
Bound bind_module(const std::vector<T>& tensors, int64_t rows, int64_t cols) {
  const Folder folder;
  folder.write("model.safetensors", safetensors(tensors));
  auto opened = Checkpoint::open(folder.path());
  if (!opened) return {{}, opened.reason()};
  WeightBinder binder(*opened);
  Bound bound{binder.linear("m", rows, cols), ""};
  if (auto finished = binder.finish(); !finished) bound.problems = finished.reason();
  return bound;
}

TEST(WeightBinder, RecognisesEveryFormatFromItsTensors) {
  const std::string codes(2 * 32, '\x21'), scales(2 * 4, '\x38'), k8(2 * 64, '\x38');
  const struct {
    std::vector<T> tensors;
    WeightFormat format;
    float global;
  } cases[] = {
      {{{"m.weight", "BF16", {2, 64}, std::string(256, 'x')}}, WeightFormat::bf16, 1},
      {{{"m.weight", "F16", {2, 64}, std::string(256, 'x')}}, WeightFormat::f16, 1},
      {{{"m.weight", "F32", {2, 64}, std::string(512, 'x')}}, WeightFormat::f32, 1},
      {{{"m.weight", "U8", {2, 32}, codes},
        {"m.weight_scale", "F8_E4M3", {2, 4}, scales},
        {"m.weight_scale_2", "F32", {}, f32(0.25f)},
        {"m.input_scale", "F32", {}, f32(2)}},
       WeightFormat::nvfp4,
       0.25f},
      {{{"m.weight_packed", "U8", {2, 32}, codes},
        {"m.weight_scale", "F8_E4M3", {2, 4}, scales},
        {"m.weight_global_scale", "F32", {1}, f32(4)}},
       WeightFormat::nvfp4,
       0.25f},
      {{{"m.weight", "F8_E4M3", {2, 64}, k8}, {"m.weight_scale", "F32", {}, f32(0.5f)}},
       WeightFormat::fp8_tensor,
       0.5f},
      {{{"m.weight", "F8_E4M3", {2, 64}, k8}, {"m.weight_scale", "F32", {2, 1}, f32(1) + f32(2)}},
       WeightFormat::fp8_channel,
       1},
      {{{"m.weight", "F8_E4M3", {2, 64}, k8}, {"m.weight_scale_inv", "F32", {1, 1}, f32(1)}},
       WeightFormat::fp8_block,
       1},
      {{{"m.weight_packed", "U8", {2, 32}, codes}, {"m.weight_scale", "U8", {2, 2}, "\x7f\x7f\x7f\x7f"}},
       WeightFormat::mxfp4,
       1},
      {{{"m_blocks", "U8", {2, 2, 16}, codes}, {"m_scales", "U8", {2, 2}, "\x7f\x7f\x7f\x7f"}},
       WeightFormat::mxfp4,
       1},
  };
  for (const auto& c : cases) {
    const Bound bound = bind_module(c.tensors, 2, 64);
    EXPECT_EQ(bound.problems, "");
    EXPECT_EQ(name_of(bound.view.format), name_of(c.format));
    EXPECT_EQ(bound.view.global, c.global);
  }
}

TEST(WeightBinder, ProblemsNameTensorFileFoundAndExpected) {
  const auto expect = [](const std::vector<T>& tensors, const std::vector<std::string>& words) {
    const std::string problems = bind_module(tensors, 2, 64).problems;
    for (const std::string& word : words)
      EXPECT_NE(problems.find(word), std::string::npos) << word << " not in: " << problems;
  };
  expect({{"other", "U8", {1}, "a"}}, {"m.weight: missing", "[2, 64]", "other", "belongs to no part"});
  expect({{"m.weight", "BF16", {2, 32}, std::string(128, 'x')}},
         {"m.weight in model.safetensors", "found BF16 [2, 32]", "expected BF16", "[2, 64]"});
  expect({{"m.weight", "I64", {2, 64}, std::string(1024, 'x')}}, {"found I64"});
  expect({{"m.qweight", "I32", {8, 2}, std::string(64, 'x')},
          {"m.qzeros", "I32", {1}, "abcd"},
          {"m.scales", "F16", {1}, "ab"}},
         {"unsupported quantisation", "qweight I32 [8, 2]", "supported: BF16"});
  expect({{"m.weight", "U8", {2, 32}, std::string(64, 'x')},
          {"m.weight_scale", "F8_E4M3", {2, 4}, std::string(8, '\x7f')},
          {"m.weight_scale_2", "F32", {}, f32(1)}},
         {"block scale 0 is NaN"});
  expect({{"m.weight", "U8", {2, 32}, std::string(64, 'x')},
          {"m.weight_scale", "F8_E4M3", {2, 4}, std::string(8, '\x38')},
          {"m.weight_scale_2", "F32", {}, f32(NAN)}},
         {"weight_scale_2", "nan"});
  expect({{"m.weight_packed", "U8", {2, 32}, std::string(64, 'x')},
          {"m.weight_scale", "F8_E4M3", {2, 4}, std::string(8, '\x38')},
          {"m.weight_global_scale", "F32", {1}, f32(0)}},
         {"weight_global_scale", "positive"});
}

}  // namespace
}  // namespace assay::checkpoint

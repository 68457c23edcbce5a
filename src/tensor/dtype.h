#pragma once
// Element types as checkpoints name them.
#include <cstdint>
#include <optional>
#include <string_view>

namespace assay {

enum class DType : uint8_t {
  boolean,
  u8,
  i8,
  f8_e5m2,
  f8_e4m3,
  f8_e8m0,
  i16,
  u16,
  f16,
  bf16,
  i32,
  u32,
  f32,
  f64,
  i64,
  u64
};

int bytes_of(DType type);
std::string_view name_of(DType type);                    // safetensors' name, for example "BF16"
std::optional<DType> dtype_from_name(std::string_view);  // nullopt: not a type this engine reads

}  // namespace assay

#include "tensor/dtype.h"

#include <array>

namespace assay {
namespace {

struct Row {
  DType type;
  std::string_view name;
  int bytes;
};

constexpr std::array kTypes = {
    Row{DType::boolean, "BOOL", 1},    Row{DType::u8, "U8", 1},           Row{DType::i8, "I8", 1},
    Row{DType::f8_e5m2, "F8_E5M2", 1}, Row{DType::f8_e4m3, "F8_E4M3", 1}, Row{DType::f8_e8m0, "F8_E8M0", 1},
    Row{DType::i16, "I16", 2},         Row{DType::u16, "U16", 2},         Row{DType::f16, "F16", 2},
    Row{DType::bf16, "BF16", 2},       Row{DType::i32, "I32", 4},         Row{DType::u32, "U32", 4},
    Row{DType::f32, "F32", 4},         Row{DType::f64, "F64", 8},         Row{DType::i64, "I64", 8},
    Row{DType::u64, "U64", 8},
};

}  // namespace

int bytes_of(DType type) {
  return kTypes[static_cast<size_t>(type)].bytes;
}
std::string_view name_of(DType type) {
  return kTypes[static_cast<size_t>(type)].name;
}

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const Row& row : kTypes) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

}  // namespace assay

#pragma once
// Precision classes. A class changes the answer, a backend must not: runners are compared only within a
// class.
#include <cstdint>
#include <optional>
#include <string_view>

namespace assay::kernels {

enum class PrecisionClass : uint8_t {
  w4a32,  // weights as stored, activations FP32 between operations: the CPU's reference class
  w4a16,  // weights as stored, every operation's result rounded to BF16
  w4a4,   // like w4a32, but the inputs of NVFP4 matrices are quantised to NVFP4 with the checkpoint's input
          // scales
};

std::string_view name_of(PrecisionClass precision);
std::optional<PrecisionClass> precision_from_name(std::string_view name);

}  // namespace assay::kernels

#include "kernels/plan/precision.h"

namespace assay::kernels {

std::string_view name_of(PrecisionClass precision) {
  switch (precision) {
    case PrecisionClass::w4a32:
      return "w4a32";
    case PrecisionClass::w4a16:
      return "w4a16";
    case PrecisionClass::w4a4:
      return "w4a4";
  }
  return "?";
}

std::optional<PrecisionClass> precision_from_name(std::string_view name) {
  for (auto p : {PrecisionClass::w4a32, PrecisionClass::w4a16, PrecisionClass::w4a4}) {
    if (name == name_of(p)) return p;
  }
  return std::nullopt;
}

}  // namespace assay::kernels

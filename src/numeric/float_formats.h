#pragma once
// The number formats of checkpoints, as definitions: exact decoding to float, encoding by
// round-to-nearest-even. No SIMD and no tables here; kernels have their own conversions and are judged
// against these.
//
// Sources: IEEE 754 (binary16), OCP 8-bit floating point (E4M3 "FN": no infinities, 0x7F = NaN; E5M2:
// IEEE-like), OCP microscaling (E2M1, E8M0).
#include <bit>
#include <cstdint>

namespace assay::numeric {

// bfloat16: sign, 8 exponent bits, 7 fraction bits.
inline float decode_bf16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}
uint16_t encode_bf16(float value);  // NaN stays NaN (quiet), overflow gives infinity
float round_to_bf16(float value);   // decode(encode(value))

// IEEE binary16.
float decode_fp16(uint16_t bits);
uint16_t encode_fp16(float value);

// E4M3FN: bias 7, largest 448, smallest normal 2^-6, smallest subnormal 2^-9.
float decode_e4m3(uint8_t bits);
uint8_t encode_e4m3(float value);  // saturates at +-448; NaN gives 0x7F

// E5M2: bias 15, largest 57344, infinities and NaN as in IEEE.
float decode_e5m2(uint8_t bits);
uint8_t encode_e5m2(float value);  // saturates at +-57344; infinity stays infinity; NaN gives 0x7F

// E2M1: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives; bit 3 is the sign (code 8 is -0).
float decode_e2m1(uint8_t code);   // low four bits
uint8_t encode_e2m1(float value);  // saturates at +-6; NaN is not a value of this format: CHECK

// E8M0: 2^(bits - 127); 0xFF is NaN.
float decode_e8m0(uint8_t bits);
uint8_t encode_e8m0_ceil(float value);  // smallest power of two >= value; value > 0

}  // namespace assay::numeric

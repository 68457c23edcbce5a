#pragma once
// API keys. Only digests are kept; every key is compared in constant time, always all of them.
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace assay::serve {

class ApiKeys {
 public:
  explicit ApiKeys(const std::vector<std::string>& keys);
  bool required() const { return !digests_.empty(); }
  // The value of an Authorization header: "Bearer KEY".
  bool accepts(std::string_view authorization) const;

 private:
  using Digest = std::array<unsigned char, 32>;
  static Digest digest(std::string_view key);
  std::vector<Digest> digests_;
};

}  // namespace assay::serve

#include "serve/auth.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

namespace assay::serve {

ApiKeys::Digest ApiKeys::digest(std::string_view key) {
  Digest d;
  SHA256(reinterpret_cast<const unsigned char*>(key.data()), key.size(), d.data());
  return d;
}

ApiKeys::ApiKeys(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) digests_.push_back(digest(key));
}

bool ApiKeys::accepts(std::string_view authorization) const {
  constexpr std::string_view kBearer = "Bearer ";
  if (authorization.substr(0, kBearer.size()) == kBearer) authorization.remove_prefix(kBearer.size());
  const Digest given = digest(authorization);
  int matches = 0;
  for (const Digest& d : digests_) matches |= CRYPTO_memcmp(d.data(), given.data(), d.size()) == 0 ? 1 : 0;
  return matches != 0;
}

}  // namespace assay::serve

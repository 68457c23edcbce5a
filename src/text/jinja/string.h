#pragma once
// String: UTF-8 text that remembers which of its bytes came from the request. Template literals and special
// tokens are trusted; everything else is `user` text and must never become a control token, however the
// template cuts and joins it.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay::text::jinja {

struct ByteRange {
  size_t begin, end;  // [begin, end), bytes
  bool operator==(const ByteRange&) const = default;
};

class String {
 public:
  String() = default;
  static String trusted(std::string bytes);
  static String user(std::string bytes);

  const std::string& bytes() const { return bytes_; }
  std::string_view view() const { return bytes_; }
  size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  // Ascending, disjoint, not touching.
  const std::vector<ByteRange>& user_ranges() const { return user_; }
  bool has_user() const { return !user_.empty(); }
  // True when any byte of [begin, end) came from the request.
  bool user_in(size_t begin, size_t end) const;

  String substr(size_t begin, size_t count = std::string::npos) const;
  void append(const String& other);
  void append(std::string_view bytes, bool is_user);

  // Marked by |escape and |safe; only |escape and + look at it.
  bool markup = false;

 private:
  std::string bytes_;
  std::vector<ByteRange> user_;
};

}  // namespace assay::text::jinja

#include "text/jinja/string.h"

#include <algorithm>

namespace assay::text::jinja {

String String::trusted(std::string bytes) {
  String out;
  out.bytes_ = std::move(bytes);
  return out;
}

String String::user(std::string bytes) {
  String out;
  out.bytes_ = std::move(bytes);
  if (!out.bytes_.empty()) out.user_.push_back({0, out.bytes_.size()});
  return out;
}

bool String::user_in(size_t begin, size_t end) const {
  const auto range = std::lower_bound(user_.begin(), user_.end(), begin,
                                      [](const ByteRange& r, size_t value) { return r.end <= value; });
  return range != user_.end() && range->begin < end;
}

String String::substr(size_t begin, size_t count) const {
  String out;
  out.bytes_ = bytes_.substr(begin, count);
  const size_t end = begin + out.bytes_.size();
  auto range = std::lower_bound(user_.begin(), user_.end(), begin,
                                [](const ByteRange& r, size_t value) { return r.end <= value; });
  for (; range != user_.end() && range->begin < end; ++range)
    out.user_.push_back({std::max(range->begin, begin) - begin, std::min(range->end, end) - begin});
  return out;
}

void String::append(const String& other) {
  const size_t offset = bytes_.size();
  bytes_ += other.bytes_;
  for (const ByteRange& range : other.user_) {
    if (!user_.empty() && user_.back().end == offset + range.begin)
      user_.back().end = offset + range.end;
    else
      user_.push_back({offset + range.begin, offset + range.end});
  }
}

void String::append(std::string_view bytes, bool is_user) {
  const size_t offset = bytes_.size();
  bytes_ += bytes;
  if (!is_user || bytes.empty()) return;
  if (!user_.empty() && user_.back().end == offset)
    user_.back().end = bytes_.size();
  else
    user_.push_back({offset, bytes_.size()});
}

}  // namespace assay::text::jinja

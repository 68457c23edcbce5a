// JSON text to Value: keeps the order of keys and every digit of an integer.
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "text/jinja/failure.h"
#include "text/jinja/object.h"
#include "text/jinja/operations.h"
#include "text/jinja/value.h"
#include "text/unicode/utf8.h"

namespace assay::text::jinja {
namespace {

constexpr int kMaxJsonDepth = 256;
constexpr size_t kMaxDigits = 4300;  // of an integer, as in Python

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  Result<Value> run() {
    Value out = value(0);
    skip_space();
    if (error_.empty() && pos_ != text_.size()) bad("text after the value");
    if (!error_.empty()) return Error{error_};
    return out;
  }

 private:
  Value bad(std::string_view what) {
    if (error_.empty()) error_ = fmt::format("JSON, byte {}: {}", pos_, what);
    pos_ = text_.size();
    return {};
  }
  void skip_space() {
    while (pos_ < text_.size() &&
           (text_[pos_] == ' ' || text_[pos_] == '\n' || text_[pos_] == '\r' || text_[pos_] == '\t'))
      ++pos_;
  }
  bool take(std::string_view s) {
    if (text_.substr(pos_, s.size()) != s) return false;
    pos_ += s.size();
    return true;
  }
  // Skips white space, then takes `c` if it is next.
  bool next_is(char c) {
    skip_space();
    return take(std::string_view(&c, 1));
  }

  Value value(int depth) {
    skip_space();
    if (pos_ >= text_.size()) return bad("a value is missing");
    if (depth > kMaxJsonDepth) return bad(fmt::format("nested deeper than {}", kMaxJsonDepth));
    switch (text_[pos_]) {
      case '{':
        return object(depth);
      case '[':
        return array(depth);
      case '"':
        return string();
      default:
        break;
    }
    if (take("true")) return true;
    if (take("false")) return false;
    if (take("null")) return {};
    if (take("NaN")) return std::nan("");
    if (take("Infinity")) return HUGE_VAL;
    if (take("-Infinity")) return -HUGE_VAL;
    return number();
  }

  Value object(int depth) {
    ++pos_;
    std::vector<std::pair<Value, Value>> entries;
    if (next_is('}')) return Value::dict();
    do {
      skip_space();
      if (pos_ >= text_.size() || text_[pos_] != '"') return bad("a key in quotes is missing");
      Value key = string();
      if (!next_is(':')) return bad("':' is missing");
      entries.emplace_back(std::move(key), value(depth + 1));
    } while (next_is(','));
    if (!next_is('}')) return bad("'}' is missing");
    return Value::dict(std::move(entries));
  }

  Value array(int depth) {
    ++pos_;
    std::vector<Value> items;
    if (next_is(']')) return Value::list();
    do {
      items.push_back(value(depth + 1));
    } while (next_is(','));
    if (!next_is(']')) return bad("']' is missing");
    return Value::list(std::move(items));
  }

  int hex4() {
    int out = 0;
    if (pos_ + 4 > text_.size()) return -1;
    const auto [end, error] = std::from_chars(text_.data() + pos_, text_.data() + pos_ + 4, out, 16);
    if (error != std::errc() || end != text_.data() + pos_ + 4 || text_[pos_] == '-') return -1;
    pos_ += 4;
    return out;
  }

  // Behind "\u". A lone surrogate becomes U+FFFD.
  bool unicode_escape(std::string* out) {
    const int high = hex4();
    if (high < 0) return false;
    char32_t c = static_cast<char32_t>(high);
    if (high >= 0xD800 && high < 0xDC00 && text_.substr(pos_, 2) == "\\u") {
      const size_t back = pos_;
      pos_ += 2;
      const int low = hex4();
      if (low >= 0xDC00 && low < 0xE000)
        c = 0x10000 + ((c - 0xD800) << 10) + (static_cast<char32_t>(low) - 0xDC00);
      else
        pos_ = back;
    }
    append_utf8(out, c);
    return true;
  }

  Value string() {
    ++pos_;
    std::string out;
    while (pos_ < text_.size() && text_[pos_] != '"') {
      const size_t plain = text_.find_first_of("\"\\", pos_);
      if (plain == text_.npos) break;
      if (plain > pos_) {
        out += to_valid_utf8(text_.substr(pos_, plain - pos_));
        pos_ = plain;
        continue;
      }
      ++pos_;
      const char c = pos_ < text_.size() ? text_[pos_++] : '\0';
      constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
      if (const size_t at = kFrom.find(c); at != kFrom.npos && c != '\0')
        out += kTo[at];
      else if (c != 'u' || !unicode_escape(&out))
        return bad("a bad escape");
    }
    if (pos_ >= text_.size()) return bad("a string that does not end");
    ++pos_;
    return Value(std::move(out));
  }

  Value number() {
    const size_t begin = pos_;
    if (pos_ < text_.size() && text_[pos_] == '-') ++pos_;
    const size_t digits = pos_;
    const auto skip_digits = [&] {
      const size_t from = pos_;
      while (pos_ < text_.size() && text_[pos_] >= '0' && text_[pos_] <= '9') ++pos_;
      return pos_ - from;
    };
    const size_t count = skip_digits();
    if (count == 0 || (count > 1 && text_[digits] == '0')) return bad("no value");
    bool real = false;
    if (take(".")) {
      real = true;
      if (skip_digits() == 0) return bad("a digit is missing");
    }
    if (pos_ < text_.size() && (text_[pos_] == 'e' || text_[pos_] == 'E')) {
      real = true;
      ++pos_;
      if (!take("+")) take("-");
      if (skip_digits() == 0) return bad("a digit is missing");
    }
    const std::string token(text_.substr(begin, pos_ - begin));
    if (real) return std::strtod(token.c_str(), nullptr);
    int64_t small = 0;
    if (std::from_chars(token.data(), token.data() + token.size(), small).ec == std::errc()) return small;
    if (count > kMaxDigits) return bad("an integer of too many digits");
    return from_big(BigInt(token));
  }

  std::string_view text_;
  size_t pos_ = 0;
  std::string error_;
};

}  // namespace

Result<Value> value_from_json(std::string_view json) {
  try {
    return JsonReader(json).run();
  } catch (const Failure& failure) {
    return Error{"JSON: " + failure.message};
  }
}

}  // namespace assay::text::jinja

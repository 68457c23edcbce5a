#include "text/unicode/unicode.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "text/unicode/normalize.h"
#include "text/unicode/utf8.h"

namespace assay::text {
namespace {

TEST(Unicode, CategoriesAreThoseOfUnicode16) {
  EXPECT_EQ(category('a'), Category::Ll);
  EXPECT_EQ(category(0x31350), Category::Lo);  // new in 15.0
  EXPECT_EQ(category(0x10D4A), Category::Lo);  // new in 16.0
  EXPECT_EQ(category(0x323B0), Category::Cn);  // new in 17.0
  EXPECT_EQ(category(0x110000), Category::Cn);
}

TEST(Unicode, SetsAgreeWithCategories) {
  const CodeSet letters = *property_set("L"), others = complement(letters);
  for (char32_t c = 0; c < 0x3000; ++c) {
    EXPECT_EQ(contains(letters, c), is_letter(c));
    EXPECT_NE(contains(letters, c), contains(others, c));
  }
  EXPECT_TRUE(intersect(letters, others).empty());
  EXPECT_TRUE(contains(*property_set("Han"), 0x4E00));
  EXPECT_FALSE(property_set("Klingon"));
}

TEST(Unicode, FullCaseMappings) {
  std::string out;
  append_upper(&out, 0xDF);     // sharp s
  append_title(&out, 0x1C6);    // dz with caron
  append_lower(&out, 0x130);    // capital i with dot
  append_lower(&out, 0x10D50);  // new in 16.0
  EXPECT_EQ(out, "SS\u01C5i\u0307\U00010D70");
}

TEST(Utf8, OneReplacementForEachMaximalSubpart) {
  EXPECT_EQ(to_valid_utf8("a\xE0\x9F\x80z"), "a\uFFFD\uFFFD\uFFFDz");
  EXPECT_EQ(to_valid_utf8("\xF0\x9F\x98"), "\uFFFD");
  EXPECT_EQ(to_valid_utf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(to_valid_utf8("\xC0\xAF\xF4\x90"), "\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(to_valid_utf8("\xEF\xBF\xBD"), "\uFFFD");
}

TEST(Utf8, StreamHoldsAtMostThreeBytes) {
  Utf8Stream stream;
  EXPECT_EQ(stream.push("\xF0\x9F"), "");
  EXPECT_EQ(stream.push("\x98"), "");
  EXPECT_EQ(stream.push("\x80!"), "\U0001F600!");
  EXPECT_EQ(stream.push("\xE4\xBD"), "");
  EXPECT_EQ(stream.flush(), "\uFFFD");
  EXPECT_EQ(stream.flush(), "");
}

TEST(Utf8, StreamDoesNotDependOnTheCuts) {
  EXPECT_TRUE(rc::check([](const std::vector<uint8_t>& noise, const std::string& text) {
    std::string bytes = "\u4F60\U0001F600" + text + "\u00E9";
    for (const uint8_t b : noise) bytes += static_cast<char>(b);
    Utf8Stream stream;
    std::string joined;
    for (size_t i = 0; i < bytes.size();) {
      const size_t n = *rc::gen::inRange<size_t>(1, 6);
      joined += stream.push(std::string_view(bytes).substr(i, n));
      RC_ASSERT(is_valid_utf8(joined));
      i += n;
    }
    RC_ASSERT(joined + stream.flush() == to_valid_utf8(bytes));
  }));
}

TEST(Normalize, FollowsUnicode9) {
  EXPECT_EQ(normalize("e\u0301", NormalForm::nfc), "\u00E9");
  EXPECT_EQ(normalize("\u00E9", NormalForm::nfd), "e\u0301");
  EXPECT_EQ(normalize("\uFB01", NormalForm::nfkc), "fi");
  EXPECT_EQ(normalize("\u1100\u1161\u11A8", NormalForm::nfc), "\uAC01");
  // Composes since Unicode 13, so not here.
  EXPECT_EQ(normalize("\U00011935\U00011930", NormalForm::nfc), "\U00011935\U00011930");
  // U+1ABF has class 220 since Unicode 13; with class 0 it keeps its place behind U+0301.
  EXPECT_EQ(normalize("a\u0315\u1ABF", NormalForm::nfc), "a\u0315\u1ABF");
}

TEST(Normalize, IsIdempotentAndQuickCheckIsHonest) {
  EXPECT_TRUE(rc::check([](const std::vector<uint32_t>& points) {
    std::string text;
    for (const uint32_t p : points) append_utf8(&text, p % 3 == 0 ? p % 0x110000 : 0xC0 + p % 0x2F00);
    const std::string nfc = normalize(text, NormalForm::nfc);
    RC_ASSERT(normalize(nfc, NormalForm::nfc) == nfc);
    if (is_surely_nfc(text)) RC_ASSERT(normalize(normalize(text, NormalForm::nfd), NormalForm::nfc) == text);
  }));
}

}  // namespace
}  // namespace assay::text

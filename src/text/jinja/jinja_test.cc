#include <gtest/gtest.h>

#include "text/jinja/template.h"

namespace assay::text::jinja {
namespace {

struct Outcome {
  std::string text;
  Failure failure;
  bool ok = false;
};

Outcome render(const std::string& source, const std::string& context = "{}", RenderOptions options = {}) {
  auto parsed = Template::parse(source);
  if (!parsed) return {"", {FailureKind::syntax, parsed.reason(), 0}, false};
  const Rendered rendered = parsed->render(*value_from_json(context), options);
  if (const auto* failure = std::get_if<Failure>(&rendered)) return {"", *failure, false};
  return {std::get<String>(rendered).bytes(), {}, true};
}

std::string text_of(const std::string& source, const std::string& context = "{}") {
  const Outcome out = render(source, context);
  return out.ok ? out.text : "FAILED: " + out.failure.message;
}

TEST(Jinja, WhiteSpaceControl) {
  EXPECT_EQ(text_of("a\n{% if true %}\nb\n{% endif %}\nc"), "a\nb\nc");
  EXPECT_EQ(text_of("  {%- if true -%}  x  {%- endif %}\ny"), "xy");
  EXPECT_EQ(text_of("  {%+ if true %}x{% endif +%}\ny"), "  x\ny");
  EXPECT_EQ(text_of("x\n"), "x");
}

TEST(Jinja, ScopesOfLoopsAndNamespaces) {
  EXPECT_EQ(text_of("{% set x = 1 %}{% for i in [1,2] %}{% set x = x + i %}{{ x }}{% endfor %}{{ x }}"),
            "231");
  EXPECT_EQ(
      text_of("{% set n = namespace(v=0) %}{% for i in [1,2] %}{% set n.v = n.v + i %}{% endfor %}{{ n.v }}"),
      "3");
}

TEST(Jinja, NumbersAreThoseOfPython) {
  EXPECT_EQ(text_of("{{ 2 ** 100 }} {{ 10 / 4 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 1e16 }} {{ 0.1 + 0.2 }}"),
            "1267650600228229401496703205376 2.5 -4 2 1e+16 0.30000000000000004");
}

TEST(Jinja, IntegersBeyondTheLargestFloatAreAnErrorNotACrash) {
  EXPECT_EQ(text_of("{{ 2 ** 1023 * 1.0 }} {{ (0 - 2 ** 1023) * 1.0 }}"),
            "8.98846567431158e+307 -8.98846567431158e+307");
  EXPECT_EQ(text_of("{{ (2 ** 1000 + 1) * 1.0 }}"), "1.0715086071862673e+301");
  for (const char* too_large : {"{{ 2 ** 1024 * 1.0 }}", "{{ (2 ** 1024 - 1) * 1.0 }}",
                                "{{ 11 ** 2000 * 1.5 }}", "{{ 11 ** 2000 / 3 }}"}) {
    EXPECT_EQ(render(too_large).failure.kind, FailureKind::overflow) << too_large;
  }
}

TEST(Jinja, ToJsonIsThatOfPython) {
  EXPECT_EQ(text_of("{{ x|tojson }}", R"({"x": {"b": [1, 2.5, null, true, "é\n<"], "a": 1e21}})"),
            R"({"b": [1, 2.5, null, true, "é\n<"], "a": 1e+21})");
  EXPECT_EQ(text_of("{{ x|tojson(indent=2) }}", R"({"x": {"a": [1], "b": {}}})"),
            "{\n  \"a\": [\n    1\n  ],\n  \"b\": {}\n}");
}

TEST(Jinja, ErrorsNameLineAndConstruct) {
  const Outcome unknown = render("a\nb {{ x|nosuch }}");
  EXPECT_NE(unknown.failure.message.find("line 2"), std::string::npos);
  EXPECT_NE(unknown.failure.message.find("nosuch"), std::string::npos);
  const Outcome type = render("\n\n{{ 1 + 'a' }}");
  EXPECT_NE(type.failure.message.find("line 3"), std::string::npos);
  const Outcome raised = render("{{ raise_exception('just so') }}");
  EXPECT_EQ(raised.failure.kind, FailureKind::raised);
  EXPECT_EQ(raised.failure.message, "just so");
}

TEST(Jinja, UnknownFilterInsideABranchWaits) {
  EXPECT_EQ(text_of("{% if false %}{{ 1|nosuch }}{% endif %}ok"), "ok");
  EXPECT_EQ(text_of("{{ 'a' if true else 1|nosuch }}"), "a");
  EXPECT_FALSE(render("{% for x in [1] %}{{ 1|nosuch }}{% endfor %}").ok);
}

TEST(Jinja, TheSandboxGivesNothingAway) {
  EXPECT_EQ(render("{{ [].append(1) }}").failure.kind, FailureKind::security);
  EXPECT_EQ(render("{{ ''.__class__() }}").failure.kind, FailureKind::security);
  EXPECT_FALSE(render("{% set ns = namespace(_a=1) %}").ok);
}

TEST(Jinja, BudgetsHold) {
  const auto kind = [](const std::string& source) {
    const Outcome out = render(source);
    return out.ok ? "rendered" : out.failure.kind == FailureKind::budget ? "budget" : out.failure.message;
  };
  EXPECT_EQ(kind("{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}"),
            "budget");
  EXPECT_EQ(kind("{{ 'abcdefgh' * 99999999 }}"), "budget");
  EXPECT_EQ(kind("{{ [1] * 99999999 }}"), "budget");
  EXPECT_EQ(kind("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"), "budget");
  EXPECT_EQ(kind("{{ 2 ** 999999 }}"), "budget");
  EXPECT_EQ(kind("{% set n = namespace(v=[]) %}{% for i in range(9999) %}{% set n.v = [n.v] %}{% endfor %}"),
            "budget");
  EXPECT_EQ(kind("{% set n = namespace(v=[1]) %}{% for i in range(99) %}{% set n.v = [n.v, n.v] %}{% endfor "
                 "%}{{ n.v }}"),
            "budget");
  EXPECT_FALSE(Template::parse("{{ " + std::string(100000, '(')));
  EXPECT_FALSE(Template::parse("{{ " + std::string(100000, '-') + "1 }}"));
  std::string chain = "{{ 1";
  for (int i = 0; i < 5000; ++i) chain += " + 1";
  EXPECT_FALSE(Template::parse(chain + " }}"));
}

// What of the output came from the request, as "[...]".
std::string marked(const std::string& source, const std::string& context) {
  const Rendered rendered = Template::parse(source)->render(*value_from_json(context));
  const String& text = std::get<String>(rendered);
  std::string out;
  size_t done = 0;
  for (const ByteRange& range : text.user_ranges()) {
    out += text.bytes().substr(done, range.begin - done) + "[" +
           text.bytes().substr(range.begin, range.end - range.begin) + "]";
    done = range.end;
  }
  return out + text.bytes().substr(done);
}

TEST(Jinja, UserTextStaysMarked) {
  const std::string context = R"({"u": " a<x>b ", "d": {"k": "v\n"}})";
  EXPECT_EQ(marked("<t>{{ u }}</t>", context), "<t>[ a<x>b ]</t>");
  EXPECT_EQ(marked("{{ 'A' + u|trim ~ 'Z' }}", context), "A[a<x>b]Z");
  EXPECT_EQ(marked("{{ d|tojson }}", context), "{\"[k]\": \"[v\\n]\"}");
  EXPECT_EQ(marked("{{ d }}", context), "{'[k]': '[v\\n]'}");
  EXPECT_EQ(marked("{{ u.split('<')[1] }}|{{ u[2:4]|upper }}", context), "[x>b ]|[<X]");
  EXPECT_EQ(marked("{{ u.replace('<x>', '<y>') }}", context), "[ a]<y>[b ]");
  EXPECT_EQ(marked("{% set s %}({{ u|trim }}){% endset %}{{ [s, s]|join('-') }}", context),
            "([a<x>b])-([a<x>b])");
  EXPECT_EQ(marked("{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(u|trim)|indent }}", context), "<[a<x>b]>");
  EXPECT_EQ(marked("{{ '%s.'|format(d.k) }}", context), "[v\n.]");
}

TEST(Json, ReadsAndRefuses) {
  EXPECT_EQ(*to_json(*value_from_json(
                R"({"a":12345678901234567890123,"b":[1.0,-0.0,"\ud83d\ude00\ud800"],"a":2})")),
            "{\"a\": 2, \"b\": [1.0, -0.0, \"\U0001F600\uFFFD\"]}");
  for (const char* bad : {"", "{", "[1,]", "01", "1 2", "\"\\x\"", "{\"a\" 1}", "nul", "\"abc"})
    EXPECT_FALSE(value_from_json(bad)) << bad;
  EXPECT_FALSE(value_from_json(std::string(300, '[') + std::string(300, ']')));
  EXPECT_TRUE(value_from_json(std::string(200, '[') + std::string(200, ']')));
}

TEST(Value, BuildersCopyOnWrite) {
  Value a;
  a.set("x", Value(1));
  Value b = a;
  b.set("x", Value(2));
  b.set("y", Value("z"));
  EXPECT_EQ(*to_json(a), R"({"x": 1})");
  EXPECT_EQ(*to_json(b), R"({"x": 2, "y": "z"})");
  Value list;
  for (int i = 0; i < 100; ++i) list.append(Value(i));
  EXPECT_EQ(list.size(), 100u);
  Value big;
  for (int i = 0; i < 100; ++i) big.set("k" + std::to_string(i), Value(i));
  EXPECT_EQ(big.find("k73")->as_int(), 73);
  EXPECT_EQ(big.find("k100"), nullptr);
}

}  // namespace
}  // namespace assay::text::jinja

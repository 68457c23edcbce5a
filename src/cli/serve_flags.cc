#include "cli/serve_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <sstream>

namespace assay::cli {
namespace {

std::vector<std::string> split(const std::string& words) {
  std::istringstream in(words);
  return {std::istream_iterator<std::string>(in), {}};
}

// "--Foo_bar" and "--foo-bar" are one flag; single-dash names (llama-server's) stay as they are.
std::string normalised(std::string name) {
  if (name.rfind("--", 0) == 0) std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

const std::map<std::string, const ServeFlag*>& by_name() {
  static const auto index = [] {
    std::map<std::string, const ServeFlag*> map;
    for (const ServeFlagGroup& group : serve_flag_groups())
      for (const ServeFlag& flag : group.flags)
        for (const std::string& name : split(flag.names)) map.emplace(name, &flag);
    return map;
  }();
  return index;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replace}));
    }
  }
  return row.back();
}

std::string nearest_flag(const std::string& name) {
  const auto best = std::min_element(by_name().begin(), by_name().end(), [&](const auto& a, const auto& b) {
    return edit_distance(a.first, name) < edit_distance(b.first, name);
  });
  return best->first;
}

bool looks_like_flag(const std::string& word) {
  // "-1" is a value.
  return word.size() >= 2 && word[0] == '-' && !(word[1] >= '0' && word[1] <= '9') && word[1] != '.';
}

class Parser {
 public:
  explicit Parser(const std::vector<std::string>& words) : words_(words) {}

  ServeArguments parse() {
    while (at_ < words_.size()) {
      const std::string& word = words_[at_++];
      if (word == "--help" || word == "-h")
        out_.help = true;
      else if (looks_like_flag(word))
        flag(word);
      else
        positional(word);
    }
    return std::move(out_);
  }

 private:
  void positional(const std::string& word) {
    if (!out_.model.empty())
      return refuse(
          fmt::format("'{}': only one model can be served, '{}' was named already", word, out_.model));
    out_.model = word;
  }

  void flag(const std::string& word) {
    const size_t equals = word.find('=');
    const std::string name = normalised(word.substr(0, equals));
    const auto found = by_name().find(name);
    if (found == by_name().end())
      return refuse(fmt::format("unknown flag {}; the nearest is {} (assay serve --help lists all)", name,
                                nearest_flag(name)));
    const ServeFlag& known = *found->second;
    std::vector<std::string> values;
    if (equals != std::string::npos) {
      values.push_back(word.substr(equals + 1));
      if (known.arity == Arity::none) {
        if (values[0] == "false" || values[0] == "False") return;
        values.clear();
      }
    } else if (!take_values(known, name, &values)) {
      return;
    }
    apply(known, name, values);
  }

  bool take_values(const ServeFlag& known, const std::string& name, std::vector<std::string>* values) {
    const bool always_refused = known.effect == Effect::refused && known.take == nullptr;
    if (known.arity == Arity::none) return true;
    const size_t most = known.arity == Arity::many ? words_.size() : 1;
    while (values->size() < most && at_ < words_.size() && !looks_like_flag(words_[at_]))
      values->push_back(words_[at_++]);
    if (!values->empty() || known.arity == Arity::optional || always_refused) return true;
    refuse(fmt::format("{} needs a value ({})", name, known.value));
    return false;
  }

  void apply(const ServeFlag& known, const std::string& name, const std::vector<std::string>& values) {
    if (known.effect == Effect::ignored) {
      if (said_.insert(&known).second)
        out_.notes.push_back(fmt::format("{}: accepted without effect: {}", name, known.text));
      return;
    }
    if (known.take == nullptr) return refuse(fmt::format("{} is refused: {}", name, known.text));
    const std::vector<std::string> nothing = {""};
    for (const std::string& value : values.empty() ? nothing : values) {
      const Result<void> taken = known.take(out_, value);
      if (taken) continue;
      refuse(known.effect == Effect::refused ? fmt::format("{} {} is refused: {}", name, value, known.text)
                                             : fmt::format("{} {}: {}", name, value, taken.reason()));
    }
  }

  void refuse(std::string why) { out_.refusals.push_back(std::move(why)); }

  const std::vector<std::string>& words_;
  size_t at_ = 0;
  ServeArguments out_;
  std::set<const ServeFlag*> said_;
};

void print_group(const ServeFlagGroup& group, std::string* out) {
  *out += fmt::format("\n{}\n", group.title);
  for (const Effect effect : {Effect::obeyed, Effect::ignored, Effect::refused}) {
    std::string names;
    for (const ServeFlag& flag : group.flags) {
      if (flag.effect != effect) continue;
      if (effect == Effect::obeyed)
        *out += fmt::format("  {:<44} {}\n",
                            fmt::format("{} {}", fmt::join(split(flag.names), ", "), flag.value), flag.text);
      else
        names += " " + split(flag.names)[0];
    }
    if (names.empty()) continue;
    std::string line = effect == Effect::ignored ? "  without effect here:" : "  refused, with the reason:";
    for (const std::string& name : split(names)) {
      if (line.size() + name.size() > 108) {
        *out += line + "\n";
        line = "   ";
      }
      line += " " + name;
    }
    *out += line + "\n";
  }
}

}  // namespace

ServeArguments parse_serve_arguments(const std::vector<std::string>& arguments) {
  return Parser(arguments).parse();
}

std::string serve_help() {
  std::string out =
      "assay serve [MODEL] [flags]: an OpenAI-compatible server.\n"
      "MODEL is a folder, or org/name from the Hugging Face cache; without it the embedded model is served.\n"
      "Underscores may stand for dashes, --flag=value for --flag value. Keys: --api-key-file or "
      "$ASSAY_API_KEY.\n"
      "Exit codes: 0 stopped as asked, 2 bad flags or model, 3 no proven plan, 4 internal.\n";
  for (const ServeFlagGroup& group : serve_flag_groups()) print_group(group, &out);
  return out;
}

}  // namespace assay::cli

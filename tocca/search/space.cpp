#include "tocca/search/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <set>
#include <variant>

#include "tocca/core/error.h"
#include "tocca/core/rng.h"
#include "tocca/core/text.h"
#include "tocca/methods/relevance.h"

namespace tocca {
namespace {

constexpr double kMostCombinations = 1e5;

[[noreturn]] void refuse(const Parameter& parameter, const std::string& what) {
  throw InputError("space", fmt::format("{}: {}", parameter.option, what));
}

bool is_text(const OptionField& field) { return std::holds_alternative<std::string Options::*>(field.member); }

// The number with four digits, unless that would leave the range.
std::string number_text(double value, const Parameter& parameter) {
  std::string text = fmt::format("{:.4g}", value);
  double rounded = 0;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return fmt::format("{}", std::clamp(rounded, parameter.low, parameter.high));
}

std::string draw_number(const Parameter& parameter, double u) {
  const double low = parameter.low, high = parameter.high;
  if (parameter.kind == Parameter::Kind::real) {
    const double value = parameter.logarithmic ? low * std::pow(high / low, u) : low + u * (high - low);
    return number_text(value, parameter);
  }
  // Each whole number n has the share of [n, n + 1) of the range [low, high + 1).
  const double value = parameter.logarithmic ? low * std::pow((high + 1) / low, u) : low + u * (high + 1 - low);
  return fmt::format("{}", static_cast<Index>(std::min(std::floor(value), high)));
}

std::string draw_value(const Parameter& parameter, Rng rng) {
  const bool choice = parameter.kind == Parameter::Kind::choice;
  const double u = rng.uniform();
  if (choice || (!parameter.values.empty() && rng.uniform() < parameter.share)) {
    return parameter.values[rng.below(parameter.values.size())];
  }
  return draw_number(parameter, u);
}

// How many values a parameter has; 0: any number.
double count_of(const Parameter& parameter) {
  if (parameter.kind == Parameter::Kind::choice) return static_cast<double>(parameter.values.size());
  if (parameter.kind == Parameter::Kind::real || !parameter.values.empty()) return 0;
  return parameter.high - parameter.low + 1;
}

std::string value_at(const Parameter& parameter, Index number) {
  if (parameter.kind == Parameter::Kind::choice) return parameter.values[static_cast<std::size_t>(number)];
  return fmt::format("{}", static_cast<Index>(parameter.low) + number);
}

void check_range(const Parameter& parameter, const OptionField& field) {
  if (is_text(field)) refuse(parameter, "it is a text, got a range; give the values as choice = [...]");
  if (!std::isfinite(parameter.low) || !std::isfinite(parameter.high) || parameter.low > parameter.high) {
    refuse(parameter,
           fmt::format("got the range {} to {}, need a lower end and an upper end", parameter.low, parameter.high));
  }
  if (parameter.logarithmic && parameter.low <= 0) {
    refuse(parameter,
           fmt::format("got the range {} to {}, need a lower end above 0 for a logarithmic one; to include 0 "
                       "write or = 0",
                       parameter.low, parameter.high));
  }
  const bool whole = std::holds_alternative<Index Options::*>(field.member);
  if (whole && parameter.kind == Parameter::Kind::real) {
    refuse(parameter, "it is a whole number; give integer or log_integer");
  }
  if (!(parameter.share >= 0 && parameter.share < 1)) {
    refuse(parameter, fmt::format("share: got {}, need 0 to less than 1", parameter.share));
  }
}

void check_value(const Parameter& parameter, const std::string& value) {
  Options scratch;
  try {
    set_option(scratch, parameter.option, value);
    scratch.validate();
    if (parameter.option == "method") find_method(value);
  } catch (const InputError& error) {
    throw InputError("space", without_place(error.what()));
  }
}

void refuse_settings_of_a_run(const std::string& option) {
  for (const char* kept : {"seed", "threads", "device"}) {
    if (option == kept)
      throw InputError("space", fmt::format("{}: it has no place in a space; give --{}", option, option));
  }
}

void check(const Parameter& parameter) {
  const OptionField& field = find_option(parameter.option);
  refuse_settings_of_a_run(parameter.option);
  if (parameter.kind == Parameter::Kind::choice) {
    if (parameter.values.empty()) refuse(parameter, "got no values to choose from");
  } else {
    check_range(parameter, field);
    for (const double end : {parameter.low, parameter.high}) {
      check_value(parameter,
                  parameter.kind == Parameter::Kind::integer ? fmt::format("{:.0f}", end) : fmt::format("{}", end));
    }
  }
  for (const std::string& value : parameter.values) check_value(parameter, value);
}

std::string toml_value(std::string_view option, const std::string& value) {
  if (!is_text(find_option(option))) return value;
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string toml_list(const Parameter& parameter) {
  std::string text;
  for (const std::string& value : parameter.values) {
    text += (text.empty() ? "" : ", ") + toml_value(parameter.option, value);
  }
  return "[" + text + "]";
}

std::string toml_text(const Parameter& parameter) {
  if (parameter.kind == Parameter::Kind::choice) return fmt::format("{{ choice = {} }}", toml_list(parameter));
  const bool real = parameter.kind == Parameter::Kind::real;
  const char* kind =
      real ? (parameter.logarithmic ? "log_uniform" : "uniform") : (parameter.logarithmic ? "log_integer" : "integer");
  std::string text = fmt::format("{{ {} = [{}, {}]", kind, parameter.low, parameter.high);
  if (!parameter.values.empty()) text += fmt::format(", or = {}, share = {}", toml_list(parameter), parameter.share);
  return text + " }";
}

}  // namespace

void SearchSpace::validate() const {
  Options scratch;
  for (const auto& [name, value] : options) {
    refuse_settings_of_a_run(name);
    try {
      set_option(scratch, name, value);
    } catch (const InputError& error) {
      throw InputError("space", without_place(error.what()));
    }
  }
  std::set<std::string> seen;
  for (const auto& [name, value] : options) {
    if (!seen.insert(name).second) throw InputError("space", fmt::format("{} is given twice", name));
  }
  for (const Parameter& parameter : parameters) {
    if (!seen.insert(parameter.option).second) {
      refuse(parameter, "it is given twice; take it out of the options or of the space");
    }
    check(parameter);
  }
}

std::string SearchSpace::text() const {
  std::string text;
  if (!options.empty()) text += "[options]\n";
  for (const auto& [name, value] : options) text += fmt::format("{} = {}\n", name, toml_value(name, value));
  if (!options.empty() && !parameters.empty()) text += '\n';
  if (!parameters.empty()) text += "[space]\n";
  for (const Parameter& parameter : parameters)
    text += fmt::format("{} = {}\n", parameter.option, toml_text(parameter));
  return text;
}

bool varies_recipe(const SearchSpace& space) {
  constexpr std::string_view kDeciding[] = {"method",        "task",        "projection",     "agreement",
                                            "decorrelation", "pretraining", "reconstruction", "prediction"};
  return std::any_of(space.parameters.begin(), space.parameters.end(), [&](const Parameter& parameter) {
    return std::find(std::begin(kDeciding), std::end(kDeciding), parameter.option) != std::end(kDeciding);
  });
}

SearchSpace restrict_space(const SearchSpace& space, const Method& method) {
  SearchSpace left{space.options, {}};
  if (varies_recipe(space)) return space;
  for (const Parameter& parameter : space.parameters) {
    if (has_effect(method, parameter.option)) left.parameters.push_back(parameter);
  }
  return left;
}

TrialSampler::TrialSampler(const SearchSpace& space, std::uint64_t seed, bool in_order) : space_(space), seed_(seed) {
  double combinations = 1;
  for (const Parameter& parameter : space.parameters) combinations *= count_of(parameter);
  if (combinations < 1 || combinations > kMostCombinations) return;
  size_ = static_cast<Index>(combinations);
  order_.resize(static_cast<std::size_t>(size_));
  std::iota(order_.begin(), order_.end(), Index{0});
  if (!in_order) Rng(seed).split("order of combinations").shuffle(order_);
}

NamedTexts TrialSampler::draw(Index trial) const {
  NamedTexts settings;
  if (size_ == 0) {
    const Rng rng = Rng(seed_).split("trial", static_cast<std::uint64_t>(trial));
    for (const Parameter& parameter : space_.parameters) {
      settings.emplace_back(parameter.option, draw_value(parameter, rng.split(parameter.option)));
    }
    return settings;
  }
  Index number = order_[static_cast<std::size_t>(trial % size_)];
  for (const Parameter& parameter : space_.parameters) {
    const auto count = static_cast<Index>(count_of(parameter));
    settings.emplace_back(parameter.option, value_at(parameter, number % count));
    number /= count;
  }
  return settings;
}

std::uint64_t TrialSampler::seed_of(Index trial) const {
  Rng rng = Rng(seed_).split("seed of trial", static_cast<std::uint64_t>(trial));
  return rng.bits();  // 32 bits: easy to type again
}

}  // namespace tocca

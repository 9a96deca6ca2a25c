#include "tocca/search/space_file.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>

#include "tocca/core/error.h"
#include "tocca/core/file.h"
#include "tocca/core/text.h"

namespace tocca {
namespace {

struct Place {
  const std::string& file;
  const std::string& option;
  toml::source_index line;

  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(fmt::format("{}:{}", file, line), fmt::format("{}: {}", option, what));
  }
};

std::string value_text(const Place& place, const toml::node& node) {
  if (node.is_string()) return node.as_string()->get();
  if (node.is_integer()) return fmt::format("{}", node.as_integer()->get());
  if (node.is_floating_point()) return fmt::format("{}", node.as_floating_point()->get());
  place.refuse("got something else, need a number or a text in quotes");
}

std::vector<std::string> value_list(const Place& place, const toml::node& node) {
  if (!node.is_array()) return {value_text(place, node)};
  std::vector<std::string> values;
  for (const toml::node& value : *node.as_array()) values.push_back(value_text(place, value));
  return values;
}

void set_range(const Place& place, const toml::node& node, Parameter& parameter) {
  const toml::array* const ends = node.as_array();
  if (ends == nullptr || ends->size() != 2 || !ends->get(0)->is_number() || !ends->get(1)->is_number()) {
    place.refuse("need the range as [LOW, HIGH], two numbers");
  }
  const bool whole = ends->get(0)->is_integer() && ends->get(1)->is_integer();
  if (parameter.kind == Parameter::Kind::integer && !whole) place.refuse("need the range as two whole numbers");
  parameter.low = *ends->get(0)->value<double>();
  parameter.high = *ends->get(1)->value<double>();
}

struct RangeKind {
  std::string_view name;
  Parameter::Kind kind;
  bool logarithmic;
};
constexpr RangeKind kRangeKinds[] = {{"log_uniform", Parameter::Kind::real, true},
                                     {"uniform", Parameter::Kind::real, false},
                                     {"integer", Parameter::Kind::integer, false},
                                     {"log_integer", Parameter::Kind::integer, true}};

constexpr double kUsualShare = 0.2;

// One key of a line such as { log_uniform = [1e-6, 1e-3], or = 0 }; true where it says what kind of range it is.
bool read_key(const Place& place, std::string_view key, const toml::node& node, Parameter& parameter) {
  for (const RangeKind& range : kRangeKinds) {
    if (key != range.name) continue;
    parameter.kind = range.kind;
    parameter.logarithmic = range.logarithmic;
    set_range(place, node, parameter);
    return true;
  }
  if (key == "choice" || key == "or") {
    parameter.values = value_list(place, node);
    return key == "choice";
  }
  if (key != "share") {
    place.refuse(unknown_name(
        "key", key,
        std::vector<std::string>{"log_uniform", "uniform", "integer", "log_integer", "choice", "or", "share"}));
  }
  if (!node.is_number()) place.refuse("share: need a number");
  parameter.share = *node.value<double>();
  return false;
}

Parameter read_parameter(const std::string& where, const std::string& option, const toml::node& node) {
  const Place place{where, option, node.source().begin.line};
  Parameter parameter{.option = option};
  if (node.is_array()) {
    parameter.values = value_list(place, node);
    return parameter;
  }
  const toml::table* const table = node.as_table();
  if (table == nullptr) place.refuse("need a list of values, or a range such as { uniform = [0, 0.5] }");
  parameter.share = table->contains("or") ? kUsualShare : 0;
  int kinds = 0;
  for (const auto& [key, value] : *table) kinds += read_key(place, key.str(), value, parameter) ? 1 : 0;
  if (kinds != 1) place.refuse("need one of log_uniform, uniform, integer, log_integer and choice");
  const bool choice = parameter.kind == Parameter::Kind::choice;
  if (choice && (table->contains("or") || table->contains("share"))) place.refuse("`or` and `share` go with a range");
  if (table->contains("share") && !table->contains("or")) place.refuse("share: there is no `or` that it is of");
  return parameter;
}

const toml::table& table_of(const std::string& where, const toml::key& key, const toml::node& node) {
  if (node.is_table()) return *node.as_table();
  throw InputError(fmt::format("{}:{}", where, key.source().begin.line),
                   fmt::format("{}: need [options] and [space], and everything in one of them", key.str()));
}

// What is wrong is said with the line of the option.
template <class Check>
void check_at(const std::string& where, const toml::key& key, Check check) {
  try {
    check();
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}:{}", where, key.source().begin.line), without_place(error.what()));
  }
}

void read_options(const std::string& where, const toml::table& table, SearchSpace& space) {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    const Place place{where, name, key.source().begin.line};
    space.options.emplace_back(name, value_text(place, node));
    check_at(where, key, [&] { SearchSpace{{space.options.back()}, {}}.validate(); });
  }
}

void read_parameters(const std::string& where, const toml::table& table, SearchSpace& space) {
  for (const auto& [key, node] : table) {
    space.parameters.push_back(read_parameter(where, std::string(key.str()), node));
    check_at(where, key, [&] { SearchSpace{{}, {space.parameters.back()}}.validate(); });
  }
}

}  // namespace

SearchSpace parse_space(const std::string& text, const std::string& where) {
  toml::table tables;
  try {
    tables = toml::parse(text, where);
  } catch (const toml::parse_error& error) {
    throw InputError(fmt::format("{}:{}", where, error.source().begin.line), std::string(error.description()));
  }
  SearchSpace space;
  for (const auto& [key, node] : tables) {
    const toml::table& table = table_of(where, key, node);
    if (key.str() == "options") {
      read_options(where, table, space);
    } else if (key.str() == "space") {
      read_parameters(where, table, space);
    } else {
      throw InputError(fmt::format("{}:{}", where, key.source().begin.line),
                       unknown_name("table", key.str(), std::vector<std::string>{"options", "space"}));
    }
  }
  if (space.parameters.empty()) throw InputError(where, "there is nothing in [space]: no option is varied");
  try {
    space.validate();  // of what is between options
  } catch (const InputError& error) {
    throw InputError(where, without_place(error.what()));
  }
  return space;
}

SearchSpace read_space(const std::string& path) { return parse_space(read_file(path), path); }

}  // namespace tocca

#include "tocca/methods/relevance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "tocca/core/error.h"
#include "tocca/methods/resolve.h"
#include "tocca/methods/test_fits.h"
#include "tocca/testing/two_views.h"

namespace tocca {
namespace {

using tocca::testing::make_shared;
using tocca::testing::quick;

// Another allowed value of an option.
std::string other_value(const OptionField& field, const Options& options) {
  if (const auto* const text = std::get_if<std::string Options::*>(&field.member)) {
    if (field.choices.empty()) return field.name == "keep" ? "2" : "1";
    const auto differs = [&](std::string_view choice) { return choice != options.*(*text); };
    return std::string(*std::find_if(field.choices.begin(), field.choices.end(), differs));
  }
  if (const auto* const whole = std::get_if<Index Options::*>(&field.member)) {
    return std::to_string(options.*(*whole) + 1);
  }
  const double value = options.*std::get<double Options::*>(field.member);
  return std::to_string(value == 0 ? 0.25 : value / 2);
}

// Projections and scores of some samples.
std::vector<Matrix<double>> outcome(const Dataset& training, const Options& options) {
  const FittedModel model = fit(training, nullptr, options, {}).model;
  const Views views = match_views(model, make_shared(30, 3, 0.3, 2).views, {});
  std::vector<Matrix<double>> found;
  for (Index v = 0; model.projects() && v < model.view_count(); ++v) {
    found.push_back(transform(model, views, v, samples_with_view(views, v), {}));
  }
  if (model.predicts()) found.push_back(predict(model, views, {}).scores);
  return found;
}

struct Case {
  std::string method, task;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.method << ", " << c.task; }

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Method& method : methods()) {
    all.push_back({std::string(method.name), "auto"});
    if (method.family != Family::deep) continue;
    for (const char* task : {"lda", "retrieval", "clustering"}) {
      Options options = quick(std::string(method.name));
      options.task = task;
      try {
        resolve(options, 2);
        all.push_back({options.method, task});
      } catch (const InputError&) {  // does not go together
      }
    }
  }
  return all;
}

class Relevance : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Table, Relevance, ::testing::ValuesIn(cases()), [](const auto& info) {
  std::string name = info.param.method + "_" + info.param.task;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// A search leaves such an option out, a store does not keep it, and users are told: results must really not depend on
// it.
TEST_P(Relevance, AnOptionWithoutEffectChangesNothing) {
  Dataset training = make_shared(60, 3, 0.3, 1);
  Options options = quick(GetParam().method);
  options.task = GetParam().task;
  options.hidden_size = 8;
  options.epochs = options.pretrain_epochs = 2;
  options.clusters = 3;
  if (options.task == "clustering") training.labels = {};
  const Method method = resolve(options, 2);
  const auto usual = outcome(training, options);
  ASSERT_FALSE(usual.empty());
  int tried = 0;
  for (const OptionField& field : option_fields()) {
    const bool idle = field.name == "threads" || field.name == "device" || field.name == "task";
    if (idle || has_effect(method, field.name)) continue;
    Options changed = options;
    set_option(changed, field.name, other_value(field, options));
    try {
      EXPECT_EQ(outcome(training, changed), usual) << field.name;
      ++tried;
    } catch (const InputError&) {  // refused, which is no silence
    }
  }
  EXPECT_GT(tried, 0);
}

}  // namespace
}  // namespace tocca

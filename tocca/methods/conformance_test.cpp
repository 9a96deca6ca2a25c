// What must hold for every method of the table.
#include <gtest/gtest.h>

#include <algorithm>

#include "tocca/methods/test_fits.h"
#include "tocca/testing/temp_dir.h"
#include "tocca/testing/two_views.h"

namespace tocca {
namespace {

using tocca::testing::make_shared;
using tocca::testing::quick;
using tocca::testing::test_accuracy;

class EveryMethod : public ::testing::TestWithParam<std::string> {};
std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const Method& method : methods()) names.emplace_back(method.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Table, EveryMethod, ::testing::ValuesIn(method_names()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_P(EveryMethod, LearnsAndItsFileTransformsToTheSameBits) {
  const Dataset training = make_shared(240, 3, 0.3, 1);
  const Dataset test = make_shared(200, 3, 0.3, 2);
  const FittedModel model = fit(training, nullptr, quick(GetParam()), make_context(2)).model;
  EXPECT_GT(test_accuracy(model, test), 0.7);
  const tocca::testing::TempDir dir;
  save_model(model, dir.file("m.safetensors"));
  const FittedModel loaded = load_model(dir.file("m.safetensors"));
  EXPECT_EQ(loaded.method, model.method);
  EXPECT_EQ(loaded.classes, model.classes);
  EXPECT_EQ(loaded.options, model.options);
  EXPECT_EQ(loaded.provenance, model.provenance);
  const Views views = match_views(loaded, test.views, {});
  EXPECT_EQ(predict(loaded, views, {}).scores, predict(model, views, make_context(2)).scores);
  for (Index v = 0; model.projects() && v < 2; ++v) {
    const auto samples = samples_with_view(views, v);
    EXPECT_EQ(transform(loaded, views, v, samples, {}), transform(model, views, v, samples, make_context(3)));
  }
}

TEST_P(EveryMethod, SameSeedGivesTheSameBitsForOneTwoAndFourThreads) {
  const Dataset training = make_shared(130, 3, 0.3, 1);
  Options options = quick(GetParam());
  options.epochs = 3;
  const auto scores = [&](int threads, std::uint64_t seed) {
    options.seed = seed;
    const FittedModel model = fit(training, nullptr, options, make_context(threads)).model;
    return predict(model, match_views(model, training.views, {}), {}).scores;
  };
  const Matrix<double> one = scores(1, 5);
  EXPECT_EQ(one, scores(2, 5));
  EXPECT_EQ(one, scores(4, 5));
  const bool random = find_method(GetParam()).family == Family::deep;
  EXPECT_TRUE(!random || one != scores(1, 6));
}

// Over several shuffles: a single one agrees with the classes by chance more or less, and so does its classifier.
TEST_P(EveryMethod, ShuffledLabelsGiveChance) {
  const Dataset training = make_shared(300, 3, 0.3, 1);
  const Dataset test = make_shared(400, 3, 0.3, 2);
  constexpr int kShuffles = 24;
  double mean = 0;
  for (std::uint64_t shuffle = 0; shuffle < kShuffles; ++shuffle) {
    Dataset shuffled = training;
    shuffled.labels = training.labels.select(Rng(shuffle).permutation(300));
    mean += test_accuracy(fit(shuffled, nullptr, quick(GetParam()), {}).model, test) / kShuffles;
  }
  EXPECT_NEAR(mean, 0.25, 0.07);
}

TEST_P(EveryMethod, TakesMissingLabelsAndMissingViews) {
  Dataset training = make_shared(300, 3, 0.3, 1);
  Rng rng(4);
  for (std::size_t i = 0; i < 300; ++i) {
    if (rng.uniform() < 0.3) training.labels.codes[i] = -1;
    if (rng.uniform() < 0.4) training.views.views[rng.below(2)].row_of_sample[i] = -1;
  }
  const FittedModel model = fit(training, nullptr, quick(GetParam()), {}).model;
  const Dataset test = make_shared(200, 3, 0.3, 2);
  EXPECT_GT(test_accuracy(model, test), 0.6);
  for (const std::size_t kept : {0U, 1U}) {  // one view alone
    Dataset half = test;
    half.views.views = {test.views.views[kept]};
    EXPECT_GT(test_accuracy(model, half), 0.5) << kept;
  }
}

}  // namespace
}  // namespace tocca

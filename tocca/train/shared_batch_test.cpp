// Batches whose work is shared between threads: large ones, which are cut into pieces, layers of small ones, which idle
// threads help with, and first layers of which other views' threads do parts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

#include "tocca/core/context.h"
#include "tocca/testing/matchers.h"
#include "tocca/train/input_layers.h"
#include "tocca/train/step.h"

namespace tocca {
namespace {

using tocca::testing::max_error;
using tocca::testing::random_matrix;

struct Size {
  const char* name;
  std::vector<Index> inputs;
  Index samples, hidden;
  bool shares_inputs = false;       // parts of first layers, of batches that are not cut
  std::vector<Index> lacking = {};  // so many samples lack each view
  bool reconstructs = false;
};

// For messages.
void PrintTo(const Size& size, std::ostream* out) { *out << size.name; }

const Size kSizes[] = {
    // Large enough to be cut, with pieces that are not full.
    {"OneView", {40}, 700, 130},
    {"TwoViews", {40, 41}, 2100, 130},
    {"UnequalAndCut", {410, 7}, 2100, 30, true},
    // In panels, but not cut; with a small view beside a large one.
    {"Large", {40, 60}, 300, 130},
    {"LargeAndSmall", {60, 50}, 200, 100, false, {100, 5}, true},
    // Layers that are worth sharing with threads that have no view.
    {"OneSmallBatch", {410}, 90, 200},
    // Views of which one is much wider.
    {"Unequal", {1100, 7}, 60, 140, true},
    {"UnequalAndLarger", {9, 610, 20}, 150, 60, true},
    {"UnequalInManyParts", {2000, 9, 20, 9}, 30, 50, true},
    {"UnequalWithGaps", {410, 7}, 50, 90, true, {20, 5}},
    {"WidestLeftOut", {410, 7}, 50, 90, true, {50, 0}},
    {"NarrowLeftOut", {410, 7}, 50, 90, true, {0, 50}},
    {"UnequalWithDecoders", {410, 7}, 50, 90, true, {}, true},
};

struct SharedProblem {
  NetworkShape shape;
  Objective objective;
  std::vector<Matrix<double>> x;
  Batch batch;

  explicit SharedProblem(const Size& size) {
    const Index samples = size.samples;
    const auto views = static_cast<Index>(size.inputs.size());
    Rng rng(static_cast<std::uint64_t>(views));
    shape.hidden_layers = 2;
    shape.hidden_size = size.hidden;
    shape.components = 5;
    shape.heads = {{TargetKind::classification, 3, -1}};
    objective.weight_decay = 1e-3;
    if (views == 1) objective.agreement = Agreement::none;
    shape.reconstructs = size.reconstructs;
    if (size.reconstructs) objective.reconstruction_weight = 0.5;
    std::vector<int> codes;
    for (Index i = 0; i < samples; ++i) codes.push_back(static_cast<int>(rng.below(3)));
    for (Index v = 0; v < views; ++v) {
      const Index columns = size.inputs[static_cast<std::size_t>(v)];
      shape.inputs.push_back(columns);
      x.push_back(random_matrix(rng, samples, columns));
      const Index lacking = size.lacking.empty() ? 0 : size.lacking[static_cast<std::size_t>(v)];
      std::vector<Index> present(static_cast<std::size_t>(samples - lacking));
      std::iota(present.begin(), present.end(), lacking);
      std::vector<Index> row_of(static_cast<std::size_t>(samples), -1);
      std::iota(row_of.begin() + lacking, row_of.end(), Index{0});
      batch.samples.push_back(present);
      batch.row_of.push_back(row_of);
      batch.labels.push_back(HeadTargets{{codes.begin() + lacking, codes.end()}, {}});
    }
  }

  template <class S>
  [[nodiscard]] RowReader<S> reader() const {
    return [this](Index view, std::span<const Index> samples, Index first, MatrixRef<S> out) {
      for (std::size_t i = 0; i < samples.size(); ++i) {
        const auto row = x[static_cast<std::size_t>(view)].row(samples[i]);
        out.row(static_cast<Index>(i)) = row.segment(first, out.cols()).template cast<S>();
      }
    };
  }

  template <class S>
  [[nodiscard]] Network<S> network() const {
    Network<S> result(shape);
    result.initialize(Rng(7));
    return result;
  }
  // A batch of the first third of the samples.
  [[nodiscard]] Batch smaller() const {
    const Index n = static_cast<Index>(batch.row_of[0].size()) / 3;
    Batch some = batch;
    for (std::size_t v = 0; v < x.size(); ++v) {
      std::erase_if(some.samples[v], [&](Index sample) { return sample >= n; });
      some.row_of[v].resize(static_cast<std::size_t>(n));
      some.labels[v].codes.resize(some.samples[v].size());
    }
    return some;
  }
  // More than this batch has.
  [[nodiscard]] Index capacity() const { return static_cast<Index>(batch.row_of[0].size()) + 5; }
};

class SharedBatch : public ::testing::TestWithParam<Size> {};
INSTANTIATE_TEST_SUITE_P(Sizes, SharedBatch, ::testing::ValuesIn(kSizes),
                         [](const auto& info) { return std::string(info.param.name); });

// Otherwise the tests below would not be of what they say.
TEST_P(SharedBatch, IsSharedAsItsSizeSays) {
  const SharedProblem p(GetParam());
  EXPECT_EQ(!share_inputs(p.shape, p.capacity()).empty(), GetParam().shares_inputs);
}

TEST_P(SharedBatch, GivesTheSameBitsForEveryNumberOfThreads) {
  SharedProblem p(GetParam());
  const auto after_steps = [&](int threads) {
    Network<float> network = p.network<float>();
    TrainingStep<float> step(network, p.objective, p.capacity(), make_context(threads));
    for (std::uint64_t i = 0; i < 3; ++i) step.step(i == 1 ? p.smaller() : p.batch, p.reader<float>(), Rng(i), {});
    return network;
  };
  for (const bool perturbed : {false, true}) {
    if (perturbed) p.objective.perturbation = {.dropout = 0.2, .input_dropout = 0.1};
    const Network<float> alone = after_steps(1);
    for (const int threads : {2, 3, 8}) {
      const Network<float> together = after_steps(threads);
      EXPECT_EQ(together.parameters.values(), alone.parameters.values()) << threads << " " << perturbed;
      EXPECT_EQ(together.statistics.values(), alone.statistics.values()) << threads << " " << perturbed;
    }
  }
}

TEST_P(SharedBatch, GradientAgreesWithCentralDifferences) {
  const SharedProblem p(GetParam());
  Objective objective = p.objective;
  objective.weight_decay = 0;
  const Network<double> network = p.network<double>();
  const auto loss = [&](const Network<double>& at) {
    Network<double> copy = at;
    TrainingStep<double> step(copy, objective, p.capacity(), make_context(2));
    return step.gradients(p.batch, p.reader<double>(), Rng()).total(objective);
  };
  Network<double> copy = network;
  TrainingStep<double> step(copy, objective, p.capacity(), make_context(2));
  step.gradients(p.batch, p.reader<double>(), Rng());
  Rng rng(9);
  for (const Slot& slot : network.parameter_layout.slots()) {
    const double largest = step.gradient()[slot].cwiseAbs().maxCoeff();
    // Some by chance, and the last, which is in the piece that is not full.
    std::vector<Index> chosen = {slot.size() - 1};
    for (int i = 0; i < 3; ++i)
      chosen.push_back(static_cast<Index>(rng.below(static_cast<std::uint64_t>(slot.size()))));
    for (const Index j : chosen) {
      const Index i = slot.offset + j;
      // A sample may pass a kink of ReLU within a step, and roundings weigh more in a smaller one.
      double error = std::numeric_limits<double>::infinity();
      for (const double h : {1e-6, 1e-7}) {
        Network<double> up = network;
        Network<double> down = network;
        up.parameters.values()(i) += h;
        down.parameters.values()(i) -= h;
        const double difference = (loss(up) - loss(down)) / (2 * h);
        error = std::min(error, std::abs(step.gradient().values()(i) - difference));
      }
      EXPECT_LT(error, 1e-6 * largest + 1e-9) << slot.name << " " << j;
    }
  }
}

// Two steps, since what the first does depends on little but the gradient's sign.
void expect_nadam_with_the_gradient(const SharedProblem& p) {
  Network<double> stepped = p.network<double>(), expected = p.network<double>();
  TrainingStep<double> step(stepped, p.objective, p.capacity(), make_context(2));
  TrainingStep<double> written(expected, p.objective, p.capacity(), make_context(1));
  Buffer<double> first(expected.parameter_layout), second(expected.parameter_layout);
  NadamSchedule schedule;
  for (int i = 0; i < 2; ++i) {
    step.step(p.batch, p.reader<double>(), Rng(), {});
    written.gradients(p.batch, p.reader<double>(), Rng());
    const NadamCoefficients coefficients = schedule.next({});
    for (const Slot& slot : expected.parameter_layout.slots()) {
      const auto at = [&](Buffer<double>& buffer) { return buffer.values().data() + slot.offset; };
      const double* const gradient = written.gradient().values().data() + slot.offset;
      nadam_update({{}, coefficients, slot.decays ? 2 * p.objective.weight_decay : 0},
                   NadamArrays<double>{at(expected.parameters), at(first), at(second)},
                   std::span(gradient, static_cast<std::size_t>(slot.size())));
      EXPECT_LT(max_error(stepped.parameters[slot], expected.parameters[slot]), 1e-12) << slot.name << " " << i;
    }
  }
}

TEST_P(SharedBatch, StepIsNadamWithTheGradient) { expect_nadam_with_the_gradient(SharedProblem(GetParam())); }

// Rows of weights that are too long for one pass over both gradients.
TEST(TrainingStep, OfLongRowsIsNadamWithTheGradient) {
  expect_nadam_with_the_gradient(SharedProblem({"LongRows", {20, 21}, 16, 2100}));
}

// Rows are changed as a whole, whoever reads and multiplies which of their columns.
TEST_P(SharedBatch, IsTheSameWithRowsChangedBeforeOrAfterReading) {
  const SharedProblem p(GetParam());
  SharedProblem reversed = p;
  for (Matrix<double>& x : reversed.x) x.rowwise().reverseInPlace();
  const auto after_step = [&](const SharedProblem& problem, const RowChange<float>& change) {
    Network<float> network = p.network<float>();
    TrainingStep<float> step(network, p.objective, p.capacity(), make_context(2));
    step.step(p.batch, problem.reader<float>(), Rng(1), {}, change);
    return network;
  };
  const RowChange<float> reverse = [&](Index view, std::span<const Index> samples, MatrixRef<float> rows,
                                       const Rng& rng) {
    EXPECT_EQ(rows.rows(), static_cast<Index>(samples.size()));
    EXPECT_EQ(rows.cols(), p.shape.inputs[static_cast<std::size_t>(view)]);
    EXPECT_EQ(rng.key(), Rng(1).split("augment").key());
    rows.rowwise().reverseInPlace();
  };
  EXPECT_EQ(after_step(p, reverse).parameters.values(), after_step(reversed, {}).parameters.values());
}

}  // namespace
}  // namespace tocca

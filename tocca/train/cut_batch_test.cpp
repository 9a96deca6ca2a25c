// Batches that are cut into pieces for several threads, and layers that are shared with idle ones.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

#include "tocca/core/context.h"
#include "tocca/testing/matchers.h"
#include "tocca/train/step.h"

namespace tocca {
namespace {

using tocca::testing::max_error;
using tocca::testing::random_matrix;

struct Size {
  const char* name;
  std::vector<Index> inputs;
  Index samples, hidden;
  Index lacking = 0;  // so many samples lack the first view
  bool reconstructs = false;
};

// For messages.
void PrintTo(const Size& size, std::ostream* out) { *out << size.name; }

// Large enough to be cut, whatever the number of views, with pieces that are not full; and small batches, with layers
// that are worth sharing among threads that have no view of their own, or a small one.
const Size kOneView{"OneView", {40}, 700, 130}, kTwoViews{"TwoViews", {40, 41}, 2100, 130},
    kOneSmallBatch{"OneSmallBatch", {410}, 90, 200}, kUnequalViews{"UnequalViews", {1100, 7}, 60, 140},
    kUnequalAndLarger{"UnequalAndLarger", {9, 610, 20}, 150, 60},
    kUnequalWithGaps{"UnequalWithGaps", {410, 7}, 50, 90, 20}, kUnequalLeftOut{"UnequalLeftOut", {410, 7}, 50, 90, 50},
    kUnequalWithDecoders{"UnequalWithDecoders", {410, 7}, 50, 90, 0, true};

struct CutProblem {
  NetworkShape shape;
  Objective objective;
  std::vector<Matrix<double>> x;
  Batch batch;

  explicit CutProblem(const Size& size) {
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
    std::vector<int> codes;
    for (Index i = 0; i < samples; ++i) codes.push_back(static_cast<int>(rng.below(3)));
    for (Index v = 0; v < views; ++v) {
      const Index columns = size.inputs[static_cast<std::size_t>(v)];
      shape.inputs.push_back(columns);
      x.push_back(random_matrix(rng, samples, columns));
      const Index lacking = v == 0 ? size.lacking : 0;
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
  [[nodiscard]] Index capacity() const { return static_cast<Index>(batch.row_of[0].size()); }
};

class CutBatch : public ::testing::TestWithParam<Size> {};
std::string name_of(const ::testing::TestParamInfo<Size>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Views, CutBatch,
                         ::testing::Values(kOneView, kTwoViews, kOneSmallBatch, kUnequalViews, kUnequalAndLarger,
                                           kUnequalWithGaps, kUnequalLeftOut, kUnequalWithDecoders),
                         name_of);

TEST_P(CutBatch, GivesTheSameBitsForEveryNumberOfThreads) {
  CutProblem p(GetParam());
  const auto after_steps = [&](int threads) {
    Network<float> network = p.network<float>();
    TrainingStep<float> step(network, p.objective, p.capacity(), make_context(threads));
    for (std::uint64_t i = 0; i < 3; ++i) step.step(p.batch, p.reader<float>(), Rng(i), {});
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

TEST_P(CutBatch, GradientAgreesWithCentralDifferences) {
  const CutProblem p(GetParam());
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
      constexpr double kStep = 1e-6;
      const Index i = slot.offset + j;
      Network<double> up = network;
      Network<double> down = network;
      up.parameters.values()(i) += kStep;
      down.parameters.values()(i) -= kStep;
      const double difference = (loss(up) - loss(down)) / (2 * kStep);
      EXPECT_NEAR(step.gradient().values()(i), difference, 1e-5 * largest + 1e-9) << slot.name << " " << j;
    }
  }
}

TEST_P(CutBatch, StepIsNadamWithTheGradient) {
  const CutProblem p(GetParam());
  Network<double> stepped = p.network<double>(), expected = p.network<double>();
  TrainingStep<double> step(stepped, p.objective, p.capacity(), make_context(2));
  step.step(p.batch, p.reader<double>(), Rng(), {});
  TrainingStep<double> other(expected, p.objective, p.capacity(), make_context(1));
  other.gradients(p.batch, p.reader<double>(), Rng());
  Buffer<double> first(expected.parameter_layout), second(expected.parameter_layout);
  NadamSchedule schedule;
  const NadamCoefficients coefficients = schedule.next({});
  for (const Slot& slot : expected.parameter_layout.slots()) {
    const auto at = [&](Buffer<double>& buffer) { return buffer.values().data() + slot.offset; };
    const double* const gradient = other.gradient().values().data() + slot.offset;
    nadam_update({{}, coefficients, slot.decays ? 2 * p.objective.weight_decay : 0},
                 NadamArrays<double>{at(expected.parameters), at(first), at(second)},
                 std::span(gradient, static_cast<std::size_t>(slot.size())));
    EXPECT_LT(max_error(stepped.parameters[slot], expected.parameters[slot]), 1e-11) << slot.name;
  }
}

// Rows are changed as a whole, whoever reads and multiplies which of their columns.
TEST_P(CutBatch, IsTheSameWithRowsChangedBeforeOrAfterReading) {
  const CutProblem p(GetParam());
  CutProblem reversed = p;
  for (Matrix<double>& x : reversed.x) x.rowwise().reverseInPlace();
  const auto after_step = [&](const CutProblem& problem, const RowChange<float>& change) {
    Network<float> network = p.network<float>();
    TrainingStep<float> step(network, p.objective, p.capacity(), make_context(2));
    step.step(p.batch, problem.reader<float>(), Rng(1), {}, change);
    return network;
  };
  const RowChange<float> reverse = [](Index, std::span<const Index>, MatrixRef<float> rows, const Rng&) {
    rows.rowwise().reverseInPlace();
  };
  EXPECT_EQ(after_step(p, reverse).parameters.values(), after_step(reversed, {}).parameters.values());
}

}  // namespace
}  // namespace tocca

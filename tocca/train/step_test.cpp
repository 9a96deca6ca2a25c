// The training step of the whole network against an independent program.
#include "tocca/train/step.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tocca/core/context.h"
#include "tocca/testing/golden.h"
#include "tocca/testing/gradient_check.h"
#include "tocca/testing/matchers.h"
#include "tocca/train/test_problem.h"

namespace tocca {
namespace {

using tocca::testing::dataset;
using tocca::testing::Golden;
using tocca::testing::GradientCase;
using tocca::testing::kAllHeads;
using tocca::testing::max_error;
using tocca::testing::max_gradient_error;
using tocca::testing::Problem;
using tocca::testing::random_matrix;
using tocca::testing::random_problem;
using tocca::testing::with_heads;

Problem problem_of(const Golden& c) {
  Problem p;
  const std::string kind = c.text("decorrelation");
  p.shape.inputs = c.get<std::vector<Index>>("dims");
  p.shape.hidden_layers = c.get<Index>("hidden_layers");
  p.shape.hidden_size = c.get<Index>("hidden_size");
  p.shape.components = c.get<Index>("n_components");
  p.shape.heads = class_heads(c.get<Index>("classes"));
  p.shape.projection = kind == "whiten" ? Projection::whiten : Projection::identity;
  p.shape.decorrelated = kind == "soft";
  p.shape.momentum = c.number("momentum");
  p.shape.whitening = {.epsilon = c.number("whitening_epsilon"), .running = c.text("covariance") == "running"};
  p.objective.agreement_weight = c.number("agreement_weight");
  p.objective.decorrelation_weight = kind == "soft" ? c.number("decorrelation_weight") : 0;
  p.objective.weight_decay = c.number("weight_decay");
  for (const auto& rows : c.get<std::vector<std::vector<std::vector<double>>>>("X")) {
    Matrix<double> x(static_cast<Index>(rows.size()), static_cast<Index>(rows[0].size()));
    for (std::size_t i = 0; i < rows.size(); ++i)
      x.row(static_cast<Index>(i)) = RowVector<double>::Map(rows[i].data(), x.cols());
    p.x.push_back(x);
  }
  p.data = dataset(c.get<std::vector<std::vector<int>>>("presence"), c.integers("labels"), c.get<int>("classes"));
  p.batches = c.get<std::vector<std::vector<Index>>>("batches");
  return p;
}

Network<double> initial_network(const Problem& p, const Golden& c) {
  Network<double> network(p.shape);
  const Golden initial = c.group("initial_parameters");
  for (const Slot& slot : network.parameter_layout.slots()) network.parameters[slot] = initial.matrix(slot.name);
  return network;
}

class ReferenceRun : public ::testing::TestWithParam<Golden> {};
INSTANTIATE_TEST_SUITE_P(Cases, ReferenceRun, ::testing::ValuesIn(Golden::cases("train_reference.json")),
                         [](const auto& info) { return info.param.text("name"); });

TEST_P(ReferenceRun, FirstGradientIsTheSame) {
  const Golden& c = GetParam();
  const Problem p = problem_of(c);
  Network<double> network = initial_network(p, c);
  TrainingStep<double> step(network, p.objective, 24, make_context(2));
  step.gradients(make_batch(p.data, p.batches[0]), p.reader(), Rng());
  const Golden first = c.group("first_gradient");
  for (const Slot& slot : network.parameter_layout.slots()) {
    Matrix<double> gradient = step.gradient()[slot];
    if (slot.decays) gradient += 2 * p.objective.weight_decay * network.parameters[slot];
    EXPECT_LT(max_error(gradient, first.matrix(slot.name)), 1e-9) << slot.name;
  }
}

TEST_P(ReferenceRun, TwentyStepsGiveTheSameLossesAndParameters) {
  const Golden& c = GetParam();
  const Problem p = problem_of(c);
  Network<double> network = initial_network(p, c);
  const NadamOptions nadam{.learning_rate = c.number("learning_rate")};
  TrainingStep<double> step(network, p.objective, 24, make_context(2));
  const auto expected = c.list("steps");
  for (std::size_t k = 0; k < p.batches.size(); ++k) {
    const LossTerms terms = step.step(make_batch(p.data, p.batches[k]), p.reader(), Rng(), nadam);
    EXPECT_NEAR(terms.task, expected[k].number("task"), 1e-9 * std::max(1.0, terms.task));
    EXPECT_NEAR(terms.agreement, expected[k].number("agreement"), 1e-9 * std::max(1.0, terms.agreement));
    if (p.shape.decorrelated) {
      EXPECT_NEAR(terms.decorrelation, expected[k].number("decorrelation"), 1e-9 * std::max(1.0, terms.decorrelation));
    }
  }
  const Golden final = c.group("final_parameters");
  for (const Slot& slot : network.parameter_layout.slots()) {
    EXPECT_LT(max_error(network.parameters[slot], final.matrix(slot.name)), 1e-9) << slot.name;
  }
  const auto z = c.get<std::vector<std::vector<std::vector<double>>>>("projections");
  for (std::size_t v = 0; v < p.x.size(); ++v) {
    const Matrix<double> projected = project<double>(network, static_cast<Index>(v), p.x[v]);
    for (Index i = 0; i < projected.rows(); ++i) {
      if (!p.data.views.views[v].has(i)) continue;
      const auto& row = z[v][static_cast<std::size_t>(i)];
      EXPECT_LT(max_error(projected.row(i), RowVector<double>::Map(row.data(), projected.cols())), 1e-8);
    }
  }
}

// Weight decay alone would wear it away: Nadam turns the smallest gradient into a whole step.
TEST(TrainingStep, AHeadWithoutATaskStaysAsItWasDrawn) {
  Rng rng(3);
  Problem p = random_problem({"", Projection::identity, false, 2, 16, false, 1}, rng);
  p.objective.task = Task::none;
  p.objective.weight_decay = 1e-3;
  Network<double> network(p.shape);
  network.initialize(rng);
  const Network<double> before = network;
  std::vector<Index> all(16);
  std::iota(all.begin(), all.end(), 0);
  TrainingStep<double> step(network, p.objective, 16, Context{});
  step.step(make_batch(p.data, all), p.reader(), Rng(1), {});
  const Slot& head = network.heads[0].weight;
  EXPECT_EQ(Matrix<double>(network.parameters[head]), Matrix<double>(before.parameters[head]));
  const Slot& output = network.encoder(0).output_weight;
  EXPECT_NE(Matrix<double>(network.parameters[output]), Matrix<double>(before.parameters[output]));
}

TEST(TrainingStep, PerturbsTheInputsOfEachViewAnew) {
  Rng rng(3);
  Problem p = random_problem({"", Projection::identity, false, 2, 200, false, 1}, rng);
  std::vector<Index> all(200);
  std::iota(all.begin(), all.end(), 0);
  const Batch batch = make_batch(p.data, all);
  Network<double> network(p.shape);
  network.initialize(rng);
  const auto inputs = [&](Perturbation perturbation, std::uint64_t seed) {
    p.objective.perturbation = perturbation;
    TrainingStep<double> step(network, p.objective, 200, Context{});
    step.gradients(batch, p.reader(), Rng(seed));
    return Matrix<double>(step.view(0).input());
  };
  EXPECT_EQ(inputs({}, 1), p.x[0]);
  const Matrix<double> thinned = inputs({.input_dropout = 0.25}, 1);
  const auto kept = (thinned.array() != 0).cast<double>();
  EXPECT_LT(max_error(thinned, Matrix<double>(p.x[0].array() * kept / 0.75)), 1e-15);
  EXPECT_NEAR(kept.mean(), 0.75, 0.06);  // four standard errors of 800 draws
  EXPECT_EQ(inputs({.input_dropout = 0.25}, 1), thinned);
  EXPECT_NE(inputs({.input_dropout = 0.25}, 2), thinned);
  const Matrix<double> noise = inputs({.input_noise = 0.5}, 1) - p.x[0];
  EXPECT_NEAR(noise.mean(), 0, 4 * 0.5 / std::sqrt(800));
  EXPECT_NEAR(noise.squaredNorm() / 800, 0.25, 4 * 0.25 * std::sqrt(2.0 / 800));
}

TEST(TrainingStep, AMixedRowAndItsTargetsStandForTheirSharesOfBoth) {
  Rng rng(3);
  GradientCase c = with_heads({"", Projection::identity, false, 2, 16, false, 1}, kAllHeads);
  Problem p = random_problem(c, rng);
  p.objective.perturbation = {};
  std::vector<Index> all(16);
  std::iota(all.begin(), all.end(), 0);
  Batch batch = make_batch(p.data, all);
  Network<double> network(p.shape);
  network.initialize(rng);
  const auto run = [&](Matrix<double>* inputs) {
    Network<double> fresh = network;
    TrainingStep<double> step(fresh, p.objective, 16, Context{});
    const double loss = step.gradients(batch, p.reader(), Rng(1)).total(p.objective);
    if (inputs != nullptr) *inputs = step.view(0).input();
    return loss;
  };
  const double unmixed = run(nullptr);
  batch.partner.assign(2, std::vector<Index>(all.rbegin(), all.rend()));
  batch.own_share = 1;
  EXPECT_NEAR(run(nullptr), unmixed, 1e-12);
  batch.own_share = 0;  // every row is its partner: the same batch in another order
  EXPECT_NEAR(run(nullptr), unmixed, 1e-12);
  batch.own_share = 0.25;
  Matrix<double> inputs;
  EXPECT_GT(std::abs(run(&inputs) - unmixed), 1e-3);
  EXPECT_LT(max_error(inputs, Matrix<double>(0.25 * p.x[0] + 0.75 * p.x[0].colwise().reverse())), 1e-15);
}

TEST(TrainingStep, TheTaskIsTheWeightedSumOfTheHeads) {
  Rng rng(3);
  Problem p = random_problem(with_heads({"", Projection::identity, false, 2, 16, false, 1}, kAllHeads), rng);
  p.objective.perturbation = {};
  std::vector<Index> all(16);
  std::iota(all.begin(), all.end(), 0);
  const Batch batch = make_batch(p.data, all);
  Network<double> network(p.shape);
  network.initialize(rng);
  const auto task = [&](const std::vector<double>& weights, std::size_t silent) {
    p.objective.head_weights = weights;
    Network<double> fresh = network;
    TrainingStep<double> step(fresh, p.objective, 16, Context{});
    const double loss = step.gradients(batch, p.reader(), Rng(1)).task;
    if (silent < weights.size()) {
      EXPECT_EQ(step.gradient()[fresh.heads[silent].weight].cwiseAbs().maxCoeff(), 0);
    }
    return loss;
  };
  double sum = 0;
  for (std::size_t h = 0; h < kAllHeads.size(); ++h) {
    std::vector<double> alone(kAllHeads.size(), 0);
    alone[h] = 1;
    sum += static_cast<double>(h + 2) * task(alone, h == 0 ? 1 : 0);
  }
  EXPECT_NEAR(task({2, 3, 4, 5, 6}, 5), sum, 1e-12 * sum);
}

TEST(TrainingStep, FloatFollowsDouble) {
  Rng rng(3);
  const Problem p = random_problem({"", Projection::whiten, false, 2, 16, false, 1}, rng);
  Network<double> network(p.shape);
  network.initialize(rng);
  Network<float> single(p.shape);
  single.parameters.values() = network.parameters.values().cast<float>();
  std::vector<Index> all(16);
  std::iota(all.begin(), all.end(), 0);
  const Batch batch = make_batch(p.data, all);
  TrainingStep<double> a(network, p.objective, 16, Context{});
  TrainingStep<float> b(single, p.objective, 16, Context{});
  const RowReader<float> read = [&](Index view, std::span<const Index> samples, Index first, MatrixRef<float> out) {
    Matrix<double> rows(out.rows(), out.cols());
    p.reader()(view, samples, first, rows);
    out = rows.cast<float>();
  };
  a.gradients(batch, p.reader(), Rng(1));
  b.gradients(batch, read, Rng(1));
  EXPECT_LT((a.gradient().values() - b.gradient().values().cast<double>()).cwiseAbs().maxCoeff(), 1e-4);
}

}  // namespace
}  // namespace tocca

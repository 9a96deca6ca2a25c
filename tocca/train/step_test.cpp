// The training step of the whole network against an independent program and central differences.
#include "tocca/train/step.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tocca/core/context.h"
#include "tocca/testing/golden.h"
#include "tocca/testing/gradient_check.h"
#include "tocca/testing/matchers.h"

namespace tocca {
namespace {

using tocca::testing::Golden;
using tocca::testing::max_error;
using tocca::testing::max_gradient_error;
using tocca::testing::random_matrix;

struct Problem {
  NetworkShape shape;
  Objective objective;
  std::vector<Matrix<double>> x;
  Dataset data;
  std::vector<std::vector<Index>> batches;

  [[nodiscard]] RowReader<double> reader() const {
    return [this](Index view, std::span<const Index> samples, MatrixRef<double> out) {
      for (std::size_t i = 0; i < samples.size(); ++i) {
        out.row(static_cast<Index>(i)) = x[static_cast<std::size_t>(view)].row(samples[i]);
      }
    };
  }
};

// Views whose rows are the samples' numbers; `present` says which sample has which view.
Dataset dataset(const std::vector<std::vector<int>>& present, const std::vector<int>& labels, int classes) {
  Dataset data;
  data.views.samples.resize(labels.size());
  for (const auto& mask : present) {
    View view;
    for (std::size_t i = 0; i < mask.size(); ++i)
      view.row_of_sample.push_back(mask[i] != 0 ? static_cast<Index>(i) : -1);
    data.views.views.push_back(view);
  }
  data.labels = {labels, std::vector<std::string>(static_cast<std::size_t>(classes))};
  return data;
}

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

struct GradientCase {
  std::string name;
  Projection projection;
  bool decorrelated;
  Index views, batch;
  bool gaps;
  double labelled;
  bool shared_head = true;
  Task task = Task::heads;
  Agreement agreement = Agreement::l2;
  std::vector<HeadShape> heads = class_heads(3);
  double mixup = 0;
  Index private_components = -1;  // −1: and no decoder
};

// A head of every kind; the data set has the targets of those in use, in this order.
const std::vector<HeadShape> kAllHeads = {{TargetKind::classification, 3, -1},
                                          {TargetKind::regression, 2, 0},
                                          {TargetKind::survival, 1, 1},
                                          {TargetKind::multilabel, 2, 2},
                                          {TargetKind::classification, 2, 3}};

GradientCase with_decoder(GradientCase c, Index private_components) {
  c.private_components = private_components;
  return c;
}

GradientCase with_heads(GradientCase c, std::vector<HeadShape> heads, double mixup = 0) {
  c.heads = std::move(heads);
  c.mixup = mixup;
  return c;
}

constexpr Agreement kTraceNorm = Agreement::trace_norm;

// Cases of their own beside the product below.
std::vector<GradientCase> special_cases() {
  return {
      GradientCase{"w_batch_of_two", Projection::whiten, false, 2, 2, false, 1},
      GradientCase{"sd_unlabelled", Projection::identity, true, 2, 6, false, 0},
      GradientCase{"one_view", Projection::whiten, false, 1, 8, false, 1},
      GradientCase{"softcca", Projection::identity, true, 2, 9, false, 0, true, Task::none},
      GradientCase{"dcca", Projection::identity, false, 2, 9, false, 0, true, Task::none, kTraceNorm},
      GradientCase{"dcca_three_views_gaps", Projection::identity, false, 3, 12, true, 0, true, Task::none, kTraceNorm},
      with_decoder({"dccae", Projection::identity, false, 2, 9, false, 0, true, Task::none, kTraceNorm}, 0),
      with_decoder({"w_decoder_gaps", Projection::whiten, false, 3, 14, true, 0.7}, 0),
      with_decoder({"w_private", Projection::whiten, false, 2, 9, false, 1}, 2),
      with_decoder({"sd_private_gaps", Projection::identity, true, 3, 14, true, 0.7}, 2),
      with_decoder({"ccal_private", Projection::cca, false, 2, 9, false, 1, true, Task::heads, Agreement::none}, 1),
      with_decoder({"nn_private", Projection::identity, false, 2, 9, false, 1, false}, 1),
      with_heads({"w_all_three_views_gaps", Projection::whiten, false, 3, 16, true, 0.6}, kAllHeads),
      with_heads({"nn_all_gaps", Projection::identity, false, 2, 14, true, 0.8, false}, kAllHeads),
      with_heads({"ccal_all", Projection::cca, false, 2, 12, false, 1, true, Task::heads, Agreement::none}, kAllHeads),
      with_heads({"w_nothing_known", Projection::whiten, false, 2, 9, false, 0}, kAllHeads),
      with_heads({"w_mixup_all_gaps", Projection::whiten, false, 3, 16, true, 0.8}, kAllHeads, 0.5),
  };
}

// Every recipe with every task, for two and three views, complete and with missing views and labels.
std::vector<GradientCase> gradient_cases() {
  const std::vector<GradientCase> recipes = {
      {"w", Projection::whiten, false, 0, 0, false, 0},
      {"sd", Projection::identity, true, 0, 0, false, 0},
      {"nd", Projection::identity, false, 0, 0, false, 0},
      {"nn", Projection::identity, false, 0, 0, false, 0, false, Task::heads, Agreement::none},
      {"ccal", Projection::cca, false, 0, 0, false, 0, true, Task::heads, Agreement::none},
      {"trace_norm", Projection::identity, false, 0, 0, false, 0, true, Task::heads, kTraceNorm},
      {"w_trace_norm", Projection::whiten, false, 0, 0, false, 0, true, Task::heads, kTraceNorm}};
  struct TaskCase {
    const char* name;
    Task task;
    std::vector<HeadShape> heads;
  };
  const std::vector<TaskCase> tasks = {{"classification", Task::heads, {kAllHeads[0]}},
                                       {"regression", Task::heads, {kAllHeads[1]}},
                                       {"survival", Task::heads, {kAllHeads[2]}},
                                       {"multilabel", Task::heads, {kAllHeads[3]}},
                                       {"lda", Task::lda, {}},
                                       {"ranking", Task::ranking, {}}};
  std::vector<GradientCase> cases = special_cases();
  for (const GradientCase& recipe : recipes) {
    for (const TaskCase& task : tasks) {
      for (const Index views : {2, 3}) {
        for (const bool gaps : {false, true}) {
          if (recipe.projection == Projection::cca && views != 2) continue;
          if (!recipe.shared_head && task.task == Task::ranking) continue;
          GradientCase c = recipe;
          c.name += std::string("_") + task.name + (views == 3 ? "_three_views" : "") + (gaps ? "_gaps" : "");
          c.views = views;
          c.batch = gaps ? 16 : 12;
          // The CCA layer takes its weights as constants for a row whose sample lacks the other view.
          c.gaps = gaps && recipe.projection != Projection::cca;
          c.labelled = gaps ? 0.7 : 1;
          c.task = task.task;
          c.heads = task.heads;
          cases.push_back(c);
        }
      }
    }
  }
  return cases;
}

// Without it the name of a test has the bytes of its case.
void PrintTo(const GradientCase& c, std::ostream* out) { *out << c.name; }

class NetworkGradient : public ::testing::TestWithParam<GradientCase> {};
INSTANTIATE_TEST_SUITE_P(Recipes, NetworkGradient, ::testing::ValuesIn(gradient_cases()),
                         [](const auto& info) { return info.param.name; });

Target random_target(const HeadShape& head, const GradientCase& c, Rng& rng) {
  Target target{head.kind, {}, {}, {}};
  if (head.kind == TargetKind::classification) {
    for (Index i = 0; i < c.batch; ++i) {
      target.labels.codes.push_back(rng.uniform() < c.labelled ? static_cast<int>(rng.below(2)) : -1);
    }
    return target;
  }
  const bool flags = head.kind == TargetKind::multilabel;
  target.values = random_matrix(rng, c.batch, head.kind == TargetKind::survival ? 2 : head.outputs);
  for (Index i = 0; i < target.values.rows(); ++i) {
    for (Index j = 0; j < target.values.cols(); ++j) {
      double& value = target.values(i, j);
      if (flags || (head.kind == TargetKind::survival && j == 1)) value = value > 0 ? 1 : 0;
      if (head.kind == TargetKind::survival && j == 0) value = std::floor(3 * std::abs(value));  // some are tied
      if (rng.uniform() >= c.labelled) value = std::nan("");
    }
  }
  return target;
}

Problem random_problem(const GradientCase& c, Rng& rng) {
  Problem p;
  p.shape = {.inputs = {4, 3, 5}, .hidden_layers = 2, .hidden_size = 5, .components = 3, .heads = c.heads};
  p.shape.inputs.resize(static_cast<std::size_t>(c.views));
  p.shape.projection = c.projection;
  p.shape.decorrelated = c.decorrelated;
  p.shape.shared_head = c.shared_head;
  p.shape.paired = c.agreement == Agreement::trace_norm || c.task == Task::ranking;
  if (c.task != Task::heads) p.shape.heads.clear();
  p.shape.reconstructs = c.private_components >= 0;
  p.shape.private_components = std::max<Index>(c.private_components, 0);
  p.shape.momentum = 0.7;
  p.objective = {.task = c.task,
                 .agreement = c.agreement,
                 .agreement_weight = c.shared_head ? 0.4 : 0,
                 .decorrelation_weight = c.decorrelated ? 0.2 : 0,
                 .reconstruction_weight = 0.7,
                 .private_weight = 0.6,
                 .perturbation = {.dropout = 0.2, .input_dropout = 0.1, .input_noise = 0.1}};
  std::vector<std::vector<int>> present(p.shape.inputs.size());
  std::vector<int> labels;
  for (Index i = 0; i < c.batch; ++i) {
    labels.push_back(rng.uniform() < c.labelled ? static_cast<int>(rng.below(3)) : -1);
    for (auto& mask : present) mask.push_back(c.gaps && rng.uniform() < 0.3 ? 0 : 1);
  }
  for (const Index d : p.shape.inputs) p.x.push_back(random_matrix(rng, c.batch, d));
  p.data = dataset(present, labels, 3);
  for (HeadShape& head : p.shape.heads) {
    if (head.target < 0) continue;
    head.target = static_cast<int>(p.data.targets.size());
    p.data.targets.push_back(random_target(head, c, rng));
  }
  for (std::size_t h = 0; h < p.shape.heads.size(); ++h)
    p.objective.head_weights.push_back(0.5 + static_cast<double>(h));
  return p;
}

TEST_P(NetworkGradient, OfEveryParameterAgreesWithCentralDifferences) {
  Rng rng(11);
  const Problem p = random_problem(GetParam(), rng);
  Network<double> network(p.shape);
  network.initialize(rng.split("weights"));
  for (double& value : network.parameters.values()) value += 0.1 * rng.normal();
  std::vector<Index> all(p.data.views.samples.size());
  std::iota(all.begin(), all.end(), 0);
  const Batch batch = make_batch(p.data, all, {.mixup = GetParam().mixup}, Rng(5));
  // Two earlier batches, so that the running statistics are not the batch's own.
  TrainingStep<double> warm_up(network, p.objective, 24, Context{});
  for (std::uint64_t i = 0; i < 2; ++i) warm_up.gradients(batch, p.reader(), Rng(i));
  const auto run = [&](Network<double> at, Buffer<double>* gradient) {
    TrainingStep<double> step(at, p.objective, 24, Context{});
    const LossTerms terms = step.gradients(batch, p.reader(), Rng(7));
    if (gradient != nullptr) *gradient = step.gradient();
    return terms.total(p.objective);
  };
  Buffer<double> gradient;
  run(network, &gradient);
  for (const Slot& slot : network.parameter_layout.slots()) {
    const auto loss = [&](const Matrix<double>& value) {
      Network<double> moved = network;
      moved.parameters[slot] = value;
      return run(moved, nullptr);
    };
    EXPECT_LT(max_gradient_error(loss, network.parameters[slot], gradient[slot]), 2e-6) << slot.name;
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
    return Matrix<double>(step.view(0).input(200));
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
    if (inputs != nullptr) *inputs = step.view(0).input(16);
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
  const RowReader<float> read = [&](Index view, std::span<const Index> samples, MatrixRef<float> out) {
    Matrix<double> rows(out.rows(), out.cols());
    p.reader()(view, samples, rows);
    out = rows.cast<float>();
  };
  a.gradients(batch, p.reader(), Rng(1));
  b.gradients(batch, read, Rng(1));
  EXPECT_LT((a.gradient().values() - b.gradient().values().cast<double>()).cwiseAbs().maxCoeff(), 1e-4);
}

}  // namespace
}  // namespace tocca

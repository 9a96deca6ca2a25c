// Gradients of the whole network, for every recipe and task, against central differences.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tocca/core/context.h"
#include "tocca/testing/gradient_check.h"
#include "tocca/train/test_problem.h"

namespace tocca {
namespace {

using tocca::testing::GradientCase;
using tocca::testing::kAllHeads;
using tocca::testing::max_gradient_error;
using tocca::testing::Problem;
using tocca::testing::random_problem;
using tocca::testing::with_heads;

GradientCase with_decoder(GradientCase c, Index private_components) {
  c.private_components = private_components;
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
      // Large batches lie in panels, and those of some views may not be large.
      with_heads({"w_large", Projection::whiten, false, 2, 140, false, 1}, kAllHeads),
      with_decoder({"sd_private_large_with_gaps", Projection::identity, true, 3, 180, true, 0.7}, 2),
      with_decoder({"dccae_large", Projection::identity, false, 2, 133, false, 0, true, Task::none, kTraceNorm}, 0),
      with_heads({"w_mixup_all_gaps", Projection::whiten, false, 3, 16, true, 0.8}, kAllHeads, 0.5),
  };
}

// Every recipe with every task, for two and three views, complete and with missing views and labels.
std::vector<GradientCase> gradient_cases() {
  std::vector<GradientCase> recipes = {
      {"w", Projection::whiten, false, 0, 0, false, 0},
      {"sd", Projection::identity, true, 0, 0, false, 0},
      {"nd", Projection::identity, false, 0, 0, false, 0},
      {"nn", Projection::identity, false, 0, 0, false, 0, false, Task::heads, Agreement::none},
      {"ccal", Projection::cca, false, 0, 0, false, 0, true, Task::heads, Agreement::none},
      {"trace_norm", Projection::identity, false, 0, 0, false, 0, true, Task::heads, kTraceNorm},
      {"w_trace_norm", Projection::whiten, false, 0, 0, false, 0, true, Task::heads, kTraceNorm},
      {"ccal_canonical", Projection::cca, false, 0, 0, false, 0, true, Task::heads, Agreement::none}};
  recipes.back().basis = CcaBasis::canonical;
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

class NetworkGradient : public ::testing::TestWithParam<GradientCase> {};
INSTANTIATE_TEST_SUITE_P(Recipes, NetworkGradient, ::testing::ValuesIn(gradient_cases()),
                         [](const auto& info) { return info.param.name; });

TEST_P(NetworkGradient, OfEveryParameterAgreesWithCentralDifferences) {
  Rng rng(11);
  const Problem p = random_problem(GetParam(), rng);
  Network<double> network(p.shape);
  network.initialize(rng.split("weights"));
  for (double& value : network.parameters.values()) value += 0.1 * rng.normal();
  std::vector<Index> all(p.data.views.samples.size());
  std::iota(all.begin(), all.end(), 0);
  const Batch batch = make_batch(p.data, all, {.mixup = GetParam().mixup}, Rng(5));
  const Index capacity = std::max<Index>(24, GetParam().batch);
  // Two earlier batches, so that the running statistics are not the batch's own.
  TrainingStep<double> warm_up(network, p.objective, capacity, Context{});
  for (std::uint64_t i = 0; i < 2; ++i) warm_up.gradients(batch, p.reader(), Rng(i));
  const auto run = [&](Network<double> at, Buffer<double>* gradient) {
    TrainingStep<double> step(at, p.objective, capacity, Context{});
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

}  // namespace
}  // namespace tocca

#include "tocca/train/validation.h"

#include <gtest/gtest.h>

#include "tocca/ops/lda_loss.h"
#include "tocca/testing/two_views.h"
#include "tocca/train/test_training_data.h"

namespace tocca {
namespace {

// Two views of 60 samples of four classes, and a network that nobody trained.
struct Untrained {
  explicit Untrained(std::vector<HeadShape> heads) : network(shape(std::move(heads))) { network.initialize(Rng(3)); }
  static NetworkShape shape(std::vector<HeadShape> heads) {
    NetworkShape s;
    s.inputs = {8, 6};
    s.hidden_layers = 1;
    s.hidden_size = 7;
    s.components = 4;
    s.heads = std::move(heads);
    s.whitening.epsilon = 1e5;  // beside activations that running statistics have not scaled yet
    return s;
  }
  [[nodiscard]] Matrix<float> rows(Index view) const {
    const View& own = data.views.views[static_cast<std::size_t>(view)];
    Matrix<double> values(data.views.size(), own.columns());
    own.values.read_rows(own.row_of_sample, values);
    return values.cast<float>();
  }
  [[nodiscard]] EpochRecord record(const Objective& objective) const {
    EpochRecord found;
    validate_epoch(network, objective, testing::unstandardized(data), RecentActivations(2, 4), {}, found);
    return found;
  }
  Dataset data = testing::make_shared(60, 3, 0.3, 1);
  Network<float> network;
};

TEST(Validation, LossWeighsClassesAsTrainingDoesAndDoesNotSmooth) {
  const Untrained u(class_heads(4));
  SoftmaxOptions weights;
  weights.class_weights = RowVector<double>{{4, 1, 1, 0.25}};
  double expected = 0, plain = 0;
  for (Index view = 0; view < 2; ++view) {
    const Matrix<float> z = project<float>(u.network, view, u.rows(view));
    Matrix<double> outputs = head_outputs<float>(u.network, 0, view, z).cast<double>(), again = outputs;
    expected += softmax_cross_entropy<double>(u.data.labels.codes, weights, outputs);
    plain += softmax_cross_entropy<double>(u.data.labels.codes, again);
  }
  ASSERT_GT(std::abs(expected - plain), 0.01);
  HeadLossOptions options{weights, CoxTies::efron};
  options.softmax.label_smoothing = 0.2;
  EXPECT_NEAR(u.record({.head_options = {options}}).validation_loss, expected, 1e-6);
  EXPECT_NEAR(u.record({}).validation_loss, plain, 1e-6);
}

TEST(Validation, SeparationHasTheRidgeOfTraining) {
  const Untrained u({});
  double expected = 0, other = 0;
  for (Index view = 0; view < 2; ++view) {
    const Matrix<double> z = project<float>(u.network, view, u.rows(view)).cast<double>();
    Matrix<double> unused = Matrix<double>::Zero(z.rows(), z.cols());
    LdaLossScratch scratch;
    expected += lda_loss<double>(z, u.data.labels.codes, {.ridge = 1e5}, 0, unused, scratch);
    other += lda_loss<double>(z, u.data.labels.codes, {}, 0, unused, scratch);
  }
  ASSERT_GT(std::abs(expected - other), 0.01);
  const Objective objective{.task = Task::lda, .agreement = Agreement::none};
  EXPECT_NEAR(u.record(objective).validation_loss, expected, 1e-5);
}

}  // namespace
}  // namespace tocca

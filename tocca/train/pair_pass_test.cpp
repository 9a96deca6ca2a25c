#include "tocca/train/pair_pass.h"

#include <gtest/gtest.h>

#include "tocca/testing/matchers.h"

namespace tocca {
namespace {

using tocca::testing::max_error;
using tocca::testing::random_matrix;

// Ten samples, of which the fourth lacks the second view and the last two the first.
TEST(PairPass, ARowWithoutAPartnerIsProjectedWithTheSameWeightsAndTakesThemAsConstants) {
  NetworkShape shape;
  shape.inputs = {5, 4};
  shape.hidden_layers = 1;
  shape.hidden_size = 6;
  shape.components = 3;
  shape.projection = Projection::cca;
  Network<double> network(shape);
  network.initialize(Rng(1));
  Rng rng(2);
  std::vector<ViewPass<double>> views;
  for (const Index view : {0, 1}) {
    const Index rows = view == 0 ? 8 : 9;
    views.emplace_back(network, view, 10);
    views.back().begin(rows) = random_matrix(rng, rows, shape.inputs[static_cast<std::size_t>(view)]);
    views.back().forward(network, 0, Rng(3));
  }
  PairPass<double> pair(network, 0, 10);
  const BatchRows row_of = {{0, 1, 2, 3, 4, 5, 6, 7, -1, -1}, {0, 1, 2, -1, 3, 4, 5, 6, 7, 8}};
  ASSERT_EQ(pair.match(row_of, views[0], views[1]), 7);
  pair.cca_forward(network, CcaBasis::aligned, views[0], views[1]);
  const PairSlots& slots = network.pairs[0];
  const Matrix<double> w1 = network.statistics[slots.weights1], w2 = network.statistics[slots.weights2];
  const RowVector<double> centre1 = network.statistics[slots.centre1].row(0);
  EXPECT_LT(max_error(views[0].z(), (views[0].a().rowwise() - centre1) * w1), 1e-12);

  const Matrix<double> d1 = random_matrix(rng, 8, 3), d2 = random_matrix(rng, 9, 3);
  views[0].dz() = d1;
  views[1].dz() = d2;
  pair.cca_backward(network, views[0], views[1]);
  EXPECT_LT(max_error(views[0].dz().row(3), d1.row(3) * w1.transpose()), 1e-12);
  EXPECT_LT(max_error(views[1].dz().bottomRows(2), d2.bottomRows(2) * w2.transpose()), 1e-12);
  // A row with a partner moves the weights, too.
  EXPECT_GT(max_error(views[0].dz().row(0), d1.row(0) * w1.transpose()), 1e-3);
}

}  // namespace
}  // namespace tocca

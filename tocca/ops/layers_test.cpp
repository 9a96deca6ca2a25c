// Dense, ReLU, batch norm and dropout against central differences and their definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tocca/core/context.h"
#include "tocca/ops/batch_norm.h"
#include "tocca/ops/columns.h"
#include "tocca/ops/dense.h"
#include "tocca/ops/dropout.h"
#include "tocca/testing/gradient_check.h"
#include "tocca/testing/matchers.h"

namespace tocca {
namespace {

using tocca::testing::max_error;
using tocca::testing::max_gradient_error;
using tocca::testing::random_matrix;

class LayerShapes : public ::testing::TestWithParam<std::pair<Index, Index>> {
 protected:
  Index m = GetParam().first;
  Index d = GetParam().second;
  Rng rng{static_cast<std::uint64_t>(m + 100 * d)};
};
// 300 rows are more than one block of the column sums, 61 columns are whole strips, vectors and single columns.
INSTANTIATE_TEST_SUITE_P(Shapes, LayerShapes,
                         ::testing::Values(std::pair{2, 1}, std::pair{2, 5}, std::pair{7, 4}, std::pair{300, 3},
                                           std::pair{40, 61}));

TEST_P(LayerShapes, DenseGradientsAgreeWithCentralDifferences) {
  const Matrix<double> x = random_matrix(rng, m, d);
  const Matrix<double> w = random_matrix(rng, d, 3);
  const Matrix<double> b = random_matrix(rng, 1, 3);
  const Matrix<double> g = random_matrix(rng, m, 3);
  const auto loss = [&](const Matrix<double>& x_, const Matrix<double>& w_, const Matrix<double>& b_) {
    Matrix<double> y(m, 3);
    dense_forward<double>(x_, w_, b_.row(0), y);
    return y.cwiseProduct(g).sum();
  };
  Matrix<double> dx(m, d), dw(d, 3), db(1, 3);
  dense_backward_input<double>(g, w, dx);
  Workspace work;
  dense_backward_weight<double>(x, g, dw, work);
  dense_backward_bias<double>(g, db.row(0));
  EXPECT_LT(max_gradient_error([&](const auto& v) { return loss(v, w, b); }, x, dx), 1e-6);
  EXPECT_LT(max_gradient_error([&](const auto& v) { return loss(x, v, b); }, w, dw), 1e-6);
  EXPECT_LT(max_gradient_error([&](const auto& v) { return loss(x, w, v); }, b, db), 1e-6);
}

TEST_P(LayerShapes, ReluAndBatchNormGradientsAgreeWithCentralDifferences) {
  const Matrix<double> x = random_matrix(rng, m, d);
  const Matrix<double> scale = random_matrix(rng, 1, d);
  const Matrix<double> shift = random_matrix(rng, 1, d);
  const Matrix<double> bias = random_matrix(rng, 1, d);
  const Matrix<double> g = random_matrix(rng, m, d);
  BatchNormCache<double> cache;
  // From the definitions, one layer after the other.
  const auto loss = [&](const Matrix<double>& xw, const Matrix<double>& bias_, const Matrix<double>& scale_,
                        const Matrix<double>& shift_) {
    BatchNormCache<double> unused;
    Matrix<double> y = xw.rowwise() + bias_.row(0), out(m, d);
    relu_forward<double>(y);
    batch_norm_forward<double>(y, scale_.row(0), shift_.row(0), unused, out);
    return out.cwiseProduct(g).sum();
  };
  Matrix<double> y = x, out(m, d), dx = g, dscale(1, d), dshift(1, d), dbias(1, d);
  cache.resize(d);
  relu_batch_norm_forward<double>(y, 0, d, bias.row(0), scale.row(0), shift.row(0), cache, out);
  EXPECT_NEAR(out.cwiseProduct(g).sum(), loss(x, bias, scale, shift), 1e-11);
  relu_batch_norm_backward<double>(y, 0, d, scale.row(0), cache, dx, dscale.row(0), dshift.row(0), dbias.row(0));
  EXPECT_LT(max_gradient_error([&](const auto& v) { return loss(v, bias, scale, shift); }, x, dx), 1e-6);
  EXPECT_LT(max_gradient_error([&](const auto& v) { return loss(x, v, scale, shift); }, bias, dbias), 1e-6);
  EXPECT_LT(max_gradient_error([&](const auto& v) { return loss(x, bias, v, shift); }, scale, dscale), 1e-6);
  EXPECT_LT(max_gradient_error([&](const auto& v) { return loss(x, bias, scale, v); }, shift, dshift), 1e-6);
}

TEST_P(LayerShapes, PlainBatchNormGradientAgreesWithCentralDifferences) {
  const RowVector<double> none;
  RowVector<double> no_gradient;
  const Matrix<double> x = random_matrix(rng, m, d);
  const Matrix<double> g = random_matrix(rng, m, d);
  const auto loss = [&](const Matrix<double>& v) {
    BatchNormCache<double> unused;
    Matrix<double> out(m, d);
    batch_norm_forward<double>(v, none, none, unused, out);
    return out.cwiseProduct(g).sum();
  };
  BatchNormCache<double> cache;
  Matrix<double> out(m, d), dx = g;
  batch_norm_forward<double>(x, none, none, cache, out);
  batch_norm_backward<double>(x, none, cache, dx, no_gradient, no_gradient);
  EXPECT_LT(max_gradient_error(loss, x, dx), 1e-6);
}

// Every kind of piece: full ones, and a smaller one at the end of the rows and of the columns.
TEST(Pieces, CutLayersGiveTheSameAsWholeOnes) {
  Rng rng(11);
  const Context context = make_context(3);
  const Pieces whole, cut{&context, 5, 4};
  const Matrix<double> x = random_matrix(rng, 37, 6), w = random_matrix(rng, 6, 11), g = random_matrix(rng, 37, 11);
  const Matrix<double> bias = random_matrix(rng, 1, 11), scale = random_matrix(rng, 1, 11);
  const Matrix<double> shift = random_matrix(rng, 1, 11);
  const auto layer = [&](const Pieces& pieces) {
    BatchNormCache<double> norm, plain;
    Matrix<double> y(37, 11), out(37, 11), normalized(37, 11), d = g, d_plain = g, dx(37, 6);
    Matrix<double> gradients = Matrix<double>::Zero(5, 11);
    dense_forward<double>(x, w, RowVector<double>(), y, pieces);
    batch_norm_forward<double>(y, scale.row(0), shift.row(0), plain, normalized, pieces);
    batch_norm_backward<double>(y, scale.row(0), plain, d_plain, gradients.row(0), gradients.row(1), pieces);
    norm.resize(11);
    pieces.over_columns(11, [&](Index first, Index count) {
      relu_batch_norm_forward<double>(y, first, count, bias.row(0), scale.row(0), shift.row(0), norm, out);
      relu_batch_norm_backward<double>(y, first, count, scale.row(0), norm, d, gradients.row(2), gradients.row(3),
                                       gradients.row(4));
    });
    dense_backward_input<double>(d, w, dx, pieces);
    return std::vector<Matrix<double>>{y, normalized, d_plain, out, d, dx, gradients, norm.mean, norm.variance};
  };
  const auto want = layer(whole), got = layer(cut);
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_LT(max_error(got[i], want[i]), 1e-14) << i;
}

// Where numbers lie changes nothing: the same bits in panels as row by row.
TEST(Panels, LayersGiveTheSameAsRowByRow) {
  Rng rng(12);
  const Index m = 150, d = 70;
  const Matrix<double> y = random_matrix(rng, m, d), g = random_matrix(rng, m, d), vectors = random_matrix(rng, 3, d);
  std::vector<double> memory;
  const auto layers = [&](bool in_panels) {
    Matrix<double> activated = y, out(m, d), normalized(m, d), gradient = g, plain_gradient = g;
    std::vector<std::vector<double>> places;
    const auto place = [&](Matrix<double>& rows) -> PanelMap<double> {
      if (!in_panels) return rows;
      places.emplace_back(static_cast<std::size_t>(PanelMap<double>::room(m, d)));
      const auto panels = PanelMap<double>::in_panels(places.back().data(), m, d);
      copy_panels<double>(rows, panels);
      return panels;
    };
    BatchNormCache<double> cache, plain;
    RowVector<double> none, dscale(d), dshift(d), dbias(d);
    const PanelMap<double> a = place(activated), o = place(out), n = place(normalized), da = place(gradient);
    const PanelMap<double> dn = place(plain_gradient);
    cache.resize(d);
    // In two parts, of which the second begins and ends inside panels.
    for (const auto& [first, count] : {std::pair<Index, Index>{0, 24}, {24, d - 24}}) {
      relu_batch_norm_forward<double>(a, first, count, vectors.row(0), vectors.row(1), vectors.row(2), cache, o);
      dropout<double>(o, first, count, 0.3, 5);
      relu_batch_norm_backward<double>(a, first, count, vectors.row(1), cache, da, dscale, dshift, dbias);
    }
    batch_norm_forward<double>(a, none, none, plain, n);
    batch_norm_backward<double>(a, none, plain, dn, none, none);
    std::vector<Matrix<double>> results = {dscale, dshift, dbias, cache.mean, plain.variance};
    for (const PanelMap<double>& result : {a, o, n, da, dn}) {
      results.emplace_back(m, d);
      copy_panels<double>(result, results.back());
    }
    return results;
  };
  const auto rows = layers(false), panels = layers(true);
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_TRUE(rows[i] == panels[i]) << i;
}

// A large batch that is not cut, one that is, one too large for the cache, and a small one.
TEST(Panels, ProductsHandOverEveryColumnOnceWhenItIsThere) {
  const Context context = make_context(3);
  Workspace work;
  for (const auto& [m, pieces] : {std::pair<Index, Pieces>{200, {}}, {200, {&context, 60}}, {1500, {}}, {90, {}}}) {
    Rng rng(13);
    const Matrix<double> x = random_matrix(rng, m, 30), w = random_matrix(rng, 30, 203), want = x * w;
    Workspace memory;
    const PanelMap<double> from = BatchPanels<double>(memory, m, 30).top(m);
    const PanelMap<double> y = BatchPanels<double>(memory, m, 203).top(m);
    const PanelMap<double> dx = BatchPanels<double>(memory, m, 30).top(m);
    copy_panels<double>(x, from);
    std::vector<int> times(203, 0), times_back(30, 0);
    std::vector<double> errors(203, 0);
    dense_forward<double>(from, w, y, work, pieces, [&](Index first, Index count) {
      for (Index j = first; j < first + count; ++j) {
        ++times[static_cast<std::size_t>(j)];
        for (Index i = 0; i < m; ++i)
          errors[static_cast<std::size_t>(j)] += std::abs(*y.at(i, j) - want(i, j)) / static_cast<double>(m);
      }
    });
    dense_backward_input<double>(y, w, dx, work, pieces, [&](Index first, Index count) {
      for (Index j = first; j < first + count; ++j) ++times_back[static_cast<std::size_t>(j)];
    });
    EXPECT_EQ(times, std::vector<int>(203, 1)) << m;
    EXPECT_EQ(times_back, std::vector<int>(30, 1)) << m;
    EXPECT_LT(*std::max_element(errors.begin(), errors.end()), 1e-13) << m;
    Matrix<double> got(m, 30);
    copy_panels<double>(dx, got);
    EXPECT_LT(max_error(got, want * w.transpose()), 1e-12) << m;
  }
}

TEST(BatchNorm, OutputHasMeanZeroAndUnitVarianceAndInferenceAgreesInTheLongRun) {
  Rng rng(5);
  const RowVector<double> none;
  const Matrix<double> x = (3 * random_matrix(rng, 1000, 2)).array() + 7;
  BatchNormCache<double> cache;
  Matrix<double> out(1000, 2);
  batch_norm_forward<double>(x, none, none, cache, out);
  EXPECT_LT(out.colwise().mean().cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_NEAR(out.col(0).squaredNorm() / 1000, 1, 1e-3);
  Matrix<double> mean = Matrix<double>::Zero(1, 2), variance = mean;
  batch_norm_update<double>(cache, 1000, 0, 1, mean, variance);
  Matrix<double> inferred(1000, 2);
  batch_norm_infer<double>(x, none, none, mean, variance, inferred);
  EXPECT_LT(max_error(inferred, out), 1e-2);
  EXPECT_NEAR(variance(0, 0) / cache.variance(0), 1000.0 / 999, 1e-12);
}

TEST(BatchNorm, AConstantColumnGivesFiniteNumbers) {
  const RowVector<double> none;
  RowVector<double> no_gradient;
  BatchNormCache<double> cache;
  const Matrix<double> x = Matrix<double>::Constant(4, 2, 3.0);
  Matrix<double> out(4, 2), d = Matrix<double>::Ones(4, 2);
  batch_norm_forward<double>(x, none, none, cache, out);
  batch_norm_backward<double>(x, none, cache, d, no_gradient, no_gradient);
  EXPECT_TRUE(out.isZero(1e-12));
  EXPECT_TRUE(d.isZero(1e-12));
}

TEST(Columns, LongFloatSumsKeepTheirDigits) {
  const Matrix<float> x = Matrix<float>::Constant(200000, 1, 0.1F);
  RowVector<float> sum(1);
  column_sums<float>(x, sum);
  EXPECT_NEAR(sum(0), 20000, 1);  // one running float sum is off by about 160
}

TEST(Dropout, DropsTheRateScalesTheRestAndIsItsOwnWayBack) {
  Matrix<double> x = Matrix<double>::Ones(400, 50);
  dropout<double>(x, 0.3, 17);
  EXPECT_NEAR((x.array() == 0).cast<double>().mean(), 0.3, 0.01);
  EXPECT_NEAR(x.maxCoeff(), 1 / 0.7, 1e-12);
  Matrix<double> gradient = Matrix<double>::Ones(400, 50);
  dropout<double>(gradient, 0.3, 17);
  EXPECT_EQ(gradient, x);
  Matrix<double> other = Matrix<double>::Ones(400, 50);
  dropout<double>(other, 0.3, 18);
  EXPECT_NE(other, x);
}

}  // namespace
}  // namespace tocca

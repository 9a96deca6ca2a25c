#include "tocca/linalg/svd.h"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <limits>
#include <tuple>

#include "tocca/core/error.h"
#include "tocca/core/rng.h"
#include "tocca/testing/gradient_check.h"

namespace tocca {
namespace {

Matrix<double> random(Index rows, Index cols, const char* name) {
  Rng rng = Rng(9).split(name);
  return Matrix<double>::NullaryExpr(rows, cols, [&] { return rng.normal(); });
}

Matrix<double> orthonormal(Index rows, Index cols, const char* name) {
  const Matrix<double> q = random(rows, rows, name).householderQr().householderQ();
  return q.leftCols(cols);
}

double largest(const Matrix<double>& m) { return m.size() == 0 ? 0 : m.cwiseAbs().maxCoeff(); }

class ThinSvdTest : public ::testing::TestWithParam<std::tuple<Index, Index>> {};
INSTANTIATE_TEST_SUITE_P(Shapes, ThinSvdTest,
                         ::testing::Values(std::tuple{5, 5}, std::tuple{7, 3}, std::tuple{3, 7}, std::tuple{1, 4},
                                           std::tuple{4, 1}, std::tuple{1, 1}, std::tuple{120, 6}, std::tuple{6, 120}));

TEST_P(ThinSvdTest, RecoversChosenValuesRepeatedAndZeroOnesIncluded) {
  const auto [n, d] = GetParam();
  const Index r = std::min(n, d);
  Vector<double> values(r);
  for (Index i = 0; i < r; ++i) values(i) = i == 0 ? 4 : i <= 2 ? 1.5 : 0;
  const Matrix<double> x = orthonormal(n, r, "left") * values.asDiagonal() * orthonormal(d, r, "right").transpose();
  const ThinSvd svd = thin_svd(x);
  EXPECT_LT(largest(svd.values - values), 1e-14);
  EXPECT_LT(largest(svd.left * svd.values.asDiagonal() * svd.right_t - x), 1e-14);
  EXPECT_LT(largest(svd.left.transpose() * svd.left - Matrix<double>::Identity(r, r)), 1e-14);
  EXPECT_LT(largest(svd.right_t * svd.right_t.transpose() - Matrix<double>::Identity(r, r)), 1e-14);
}

TEST_P(ThinSvdTest, ItsLeftSideCanBeHadAlone) {
  const auto [n, d] = GetParam();
  const Matrix<double> x = random(n, d, "x");
  const ThinSvd whole = thin_svd(x);
  const LeftSvd svd = left_svd(x);
  EXPECT_LT(largest(svd.values - whole.values), 1e-13);
  const Matrix<double> same = svd.left.transpose() * whole.left;
  EXPECT_LT(largest(same.cwiseAbs() - Matrix<double>::Identity(same.rows(), same.cols())), 1e-12);
}

TEST(LeftSvd, KeepsSmallValuesOverManyBlocksOfColumns) {
  // Over 5000 columns, and down to 1e-10 of the largest value, where a Gram matrix knows nothing any more.
  const Index n = 6, d = 5000;
  const Matrix<double> right = random(d, n, "right").householderQr().householderQ() * Matrix<double>::Identity(d, n);
  const Vector<double> values = (Vector<double>(n) << 1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10).finished();
  const Matrix<double> left = orthonormal(n, n, "left");
  const LeftSvd svd = left_svd(left * values.asDiagonal() * right.transpose());
  EXPECT_LT(largest((svd.values - values).cwiseQuotient(values)), 1e-5);
  EXPECT_LT(largest((svd.left.transpose() * left).cwiseAbs() - Matrix<double>::Identity(n, n)), 1e-5);
}

TEST(LeftSvd, RefusesWhatIsNotFinite) {
  Matrix<double> x = random(2, 9, "x");
  x(1, 8) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(left_svd(x), Error);
  EXPECT_EQ(left_svd(Matrix<double>(0, 4)).values.size(), 0);
}

TEST(ThinSvd, OfNothingIsNothing) {
  const ThinSvd svd = thin_svd(Matrix<double>(3, 0));
  EXPECT_EQ(svd.values.size(), 0);
  EXPECT_EQ(svd.left.rows(), 3);
  EXPECT_EQ(svd.left.cols(), 0);
}

TEST(ThinSvd, RefusesWhatIsNotFinite) {
  Matrix<double> x = Matrix<double>::Ones(3, 2);
  x(1, 1) = std::numeric_limits<double>::infinity();
  EXPECT_THROW(thin_svd(x), Error);
}

// X (n × d) with these singular values.
Matrix<double> with_values(Index n, Index d, const std::vector<double>& values) {
  const auto r = static_cast<Index>(values.size());
  return orthonormal(n, r, "left") * Vector<double>::Map(values.data(), r).asDiagonal() *
         orthonormal(d, r, "right").transpose();
}

// A loss of the decomposition that does not feel the signs of the components: Σ W₁ ∘ U∘U + Σ w ∘ σ + Σ W₂ ∘ V∘V + Σ W₃
// ∘ U∘U₀(V), the last one mixing both sides.
struct BlindToSigns {
  explicit BlindToSigns(Index n, Index d)
      : w1(random(n, std::min(n, d), "w1")), w2(random(std::min(n, d), d, "w2")), w(random(std::min(n, d), 1, "w")) {}
  [[nodiscard]] double value(const ThinSvd& s) const {
    return w1.cwiseProduct(s.left.cwiseAbs2()).sum() + w2.cwiseProduct(s.right_t.cwiseAbs2()).sum() + w.dot(s.values) +
           s.left.row(0).dot(s.right_t.col(0));
  }
  [[nodiscard]] ThinSvd gradient(const ThinSvd& s) const {
    ThinSvd g{2 * w1.cwiseProduct(s.left), w, 2 * w2.cwiseProduct(s.right_t)};
    g.left.row(0) += s.right_t.col(0).transpose();
    g.right_t.col(0) += s.left.row(0).transpose();
    return g;
  }
  Matrix<double> w1, w2;
  Vector<double> w;
};

Matrix<double> adjoint(const ThinSvd& svd, const ThinSvd& g) {
  return thin_svd_adjoint(svd, {g.left, g.values, g.right_t});
}

TEST_P(ThinSvdTest, AdjointAgreesWithCentralDifferences) {
  const auto [n, d] = GetParam();
  const BlindToSigns loss(n, d);
  const Matrix<double> x = random(n, d, "x");
  const ThinSvd svd = thin_svd(x);
  const Matrix<double> gradient = adjoint(svd, loss.gradient(svd));
  EXPECT_LT(testing::max_gradient_error([&](const Matrix<double>& y) { return loss.value(thin_svd(y)); }, x, gradient),
            1e-7);
}

// Σ C ∘ (U D^power Vᵀ) does not depend on the basis of a tied space. Power 0, the polar factor, is a loss of U and V
// alone; with power 3 zero singular values do no harm.
void check_invariant(const Matrix<double>& x, int power) {
  const Matrix<double> c = random(x.rows(), x.cols(), "c");
  const auto phi = [power](const Vector<double>& values) { return Vector<double>(values.array().pow(power)); };
  const auto loss = [&](const Matrix<double>& y) {
    const ThinSvd s = thin_svd(y);
    return c.cwiseProduct(s.left * phi(s.values).asDiagonal() * s.right_t).sum();
  };
  const ThinSvd s = thin_svd(x);
  const Matrix<double> cv = c * s.right_t.transpose();
  const Vector<double> slope =
      power == 0 ? Vector<double>::Zero(s.values.size()) : Vector<double>(power * s.values.array().pow(power - 1));
  const Matrix<double> gradient =
      adjoint(s, {cv * phi(s.values).asDiagonal(), slope.cwiseProduct((s.left.transpose() * cv).diagonal()),
                  phi(s.values).asDiagonal() * s.left.transpose() * c});
  ASSERT_TRUE(gradient.allFinite());
  EXPECT_LT(testing::max_gradient_error(loss, x, gradient, 1e-5), 1e-7);
}

TEST(ThinSvdAdjoint, TiedValuesOfAnInvariantLoss) {
  check_invariant(with_values(5, 4, {2, 1.5, 1.5, 1.5}), 0);
  check_invariant(with_values(4, 4, {2, 2, 1, 1}), 0);
  check_invariant(with_values(3, 6, {1, 1 + 1e-12, 1}), 0);
  check_invariant(Matrix<double>::Identity(4, 4), 0);
  check_invariant(with_values(4, 6, {1.5, 1.2, 1, 0.5}), 3);
}

TEST(ThinSvdAdjoint, ZeroValuesOfAnInvariantLoss) {
  check_invariant(with_values(5, 4, {2, 1.5, 0, 0}), 3);
  check_invariant(Matrix<double>::Zero(3, 4), 3);
}

TEST(ThinSvdAdjoint, TiesStayFiniteWhateverTheLoss) {
  for (const Matrix<double>& x :
       {with_values(5, 4, {2, 2, 0, 0}), Matrix<double>(Matrix<double>::Identity(5, 4)),
        Matrix<double>(Matrix<double>::Zero(5, 4)), Matrix<double>(1e-200 * random(5, 4, "x")),
        Matrix<double>(1e-310 * random(5, 4, "x"))}) {
    const ThinSvd svd = thin_svd(x);
    EXPECT_TRUE(adjoint(svd, BlindToSigns(5, 4).gradient(svd)).allFinite());
  }
}

// Σ C ∘ P against central differences, and P itself: orthogonal, and X = P S with S symmetric and nowhere negative.
void check_polar_factor(const Matrix<double>& x) {
  const ThinSvd svd = thin_svd(x);
  const Matrix<double> p = polar_factor(svd), s = p.transpose() * x, c = random(x.rows(), x.cols(), "c");
  EXPECT_LT(largest(p.transpose() * p - Matrix<double>::Identity(x.cols(), x.cols())), 1e-13);
  EXPECT_LT(largest(s - s.transpose()), 1e-13);
  EXPECT_NEAR(s.trace(), svd.values.sum(), 1e-12);
  const auto loss = [&](const Matrix<double>& y) { return c.cwiseProduct(polar_factor(thin_svd(y))).sum(); };
  EXPECT_LT(testing::max_gradient_error(loss, x, polar_factor_adjoint(svd, c), 1e-5), 1e-7);
}

TEST(PolarFactor, AdjointAgreesWithCentralDifferencesTiedOrNot) {
  check_polar_factor(random(5, 5, "x"));
  check_polar_factor(with_values(4, 4, {2, 1.5, 1.5, 1.5}));
  check_polar_factor(with_values(3, 3, {1, 1 - 1e-12, 0.5}));
  check_polar_factor(Matrix<double>::Identity(4, 4));
  check_polar_factor(Matrix<double>::Constant(1, 1, -2));
}

TEST(PolarFactor, ZeroValuesStayFiniteAndShapesMustAgree) {
  for (const Matrix<double>& x : {with_values(4, 4, {2, 1, 0, 0}), Matrix<double>(Matrix<double>::Zero(4, 4)),
                                  Matrix<double>(1e-310 * random(4, 4, "x"))}) {
    EXPECT_TRUE(polar_factor_adjoint(thin_svd(x), random(4, 4, "c")).allFinite());
  }
  EXPECT_EQ(polar_factor_adjoint(thin_svd(Matrix<double>(0, 0)), Matrix<double>(0, 0)).size(), 0);
  EXPECT_THROW(polar_factor(thin_svd(random(4, 3, "x"))), InputError);
  EXPECT_THROW(polar_factor(thin_svd(random(3, 4, "x"))), InputError);
  EXPECT_THROW(polar_factor_adjoint(thin_svd(random(4, 3, "x")), random(4, 3, "c")), InputError);
  EXPECT_THROW(polar_factor_adjoint(thin_svd(random(3, 4, "x")), random(3, 4, "c")), InputError);
  EXPECT_THROW(polar_factor_adjoint(thin_svd(random(3, 3, "x")), random(3, 2, "c")), InputError);
}

TEST(ThinSvdAdjoint, OfNothingIsNothingAndShapesMustAgree) {
  const ThinSvd nothing = thin_svd(Matrix<double>(3, 0));
  EXPECT_EQ(adjoint(nothing, nothing).size(), 0);
  EXPECT_THROW(adjoint(thin_svd(random(3, 2, "x")), nothing), InputError);
}

}  // namespace
}  // namespace tocca

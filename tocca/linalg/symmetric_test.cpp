#include "tocca/linalg/symmetric.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "tocca/core/denormals.h"
#include "tocca/core/error.h"
#include "tocca/core/rng.h"
#include "tocca/linalg/small_eigen.h"
#include "tocca/testing/gradient_check.h"

namespace tocca {
namespace {

Matrix<double> random(Index rows, Index cols, const char* name) {
  Rng rng = Rng(5).split(name);
  return Matrix<double>::NullaryExpr(rows, cols, [&] { return rng.normal(); });
}

Vector<double> vector(const std::vector<double>& values) {
  return Vector<double>::Map(values.data(), static_cast<Index>(values.size()));
}

/// Q diag(values) Qᵀ for a random rotation Q.
Matrix<double> with_eigenvalues(const Vector<double>& values) {
  const Index d = values.size();
  const Matrix<double> q = random(d, d, "rotation").householderQr().householderQ();
  const Matrix<double> s = q * values.asDiagonal() * q.transpose();
  return 0.5 * (s + s.transpose());
}

double largest(const Matrix<double>& m) { return m.cwiseAbs().maxCoeff<Eigen::PropagateNaN>(); }

constexpr auto kSmall = static_cast<Index>(detail::kSmallEigen);

class SymmetricTest : public ::testing::TestWithParam<std::vector<double>> {};
INSTANTIATE_TEST_SUITE_P(ChosenEigenvalues, SymmetricTest,
                         ::testing::Values(std::vector<double>{3}, std::vector<double>{1, 1, 1, 1},
                                           std::vector<double>{2, 2, 5}, std::vector<double>{-1, 0, 0, 4},
                                           std::vector<double>{1e-8, 1, 1e8}, std::vector<double>{0, 0},
                                           std::vector<double>{-3, 1e-12, 1, 1, 2, 7, 7, 7}));

TEST_P(SymmetricTest, RecoversValuesAndOrthonormalVectors) {
  const Vector<double> values = vector(GetParam());
  const Index d = values.size();
  const double scale = std::max(values.cwiseAbs().maxCoeff(), 1e-300);
  const Matrix<double> s = with_eigenvalues(values);
  const SymmetricEigen eigen = symmetric_eigen(s);
  EXPECT_LT(largest(eigen.values - values), 1e-13 * scale + 1e-300);
  EXPECT_LT(largest(s * eigen.vectors - eigen.vectors * eigen.values.asDiagonal()), 1e-13 * scale + 1e-300);
  EXPECT_LT(largest(eigen.vectors.transpose() * eigen.vectors - Matrix<double>::Identity(d, d)), 1e-13);
}

TEST_P(SymmetricTest, InverseSquareRootWhitens) {
  Vector<double> values = vector(GetParam());
  values.array() += 0.5 - values.minCoeff();
  const Index d = values.size();
  const Matrix<double> s = with_eigenvalues(values), u = inverse_sqrt(symmetric_eigen(s));
  EXPECT_EQ(u, Matrix<double>(u.transpose()));
  EXPECT_LT(largest(u * s * u - Matrix<double>::Identity(d, d)), 1e-14 * values.maxCoeff() / values.minCoeff());
}

class SymmetricOfSize : public ::testing::TestWithParam<Index> {};
INSTANTIATE_TEST_SUITE_P(AroundVectorsAndSolvers, SymmetricOfSize,
                         ::testing::Values(1, 2, 3, 7, 8, 9, 16, 17, 33, 50, 57, 111, 112, 113, 130));

// One solver up to kSmallEigen columns, another beyond: eigenvalues spread over ten orders of magnitude, repeated ones
// and zeros.
TEST_P(SymmetricOfSize, RecoversValuesAndOrthonormalVectors) {
  const Index d = GetParam();
  Vector<double> values(d);
  for (Index i = 0; i < d; ++i)
    values(i) = i % 4 == 3   ? 1
                : i % 5 == 4 ? 0
                             : std::pow(10, 5 - 10.0 * static_cast<double>(i) / static_cast<double>(d));
  std::sort(values.data(), values.data() + d);
  const Matrix<double> s = with_eigenvalues(values);
  const SymmetricEigen eigen = symmetric_eigen(s);
  EXPECT_LT(largest(eigen.values - values), 1e-13 * values.maxCoeff());
  EXPECT_LT(largest(s * eigen.vectors - eigen.vectors * eigen.values.asDiagonal()), 1e-13 * values.maxCoeff());
  EXPECT_LT(largest(eigen.vectors.transpose() * eigen.vectors - Matrix<double>::Identity(d, d)), 1e-13);
}

// The unit of measurement is a factor: with a power of two not a bit of the vectors changes.
TEST_P(SymmetricOfSize, DoesNotDependOnTheScale) {
  const Index d = std::min(GetParam(), kSmall);  // LAPACK does not scale so exactly
  const Matrix<double> s = with_eigenvalues(Vector<double>::LinSpaced(d, 0.5, 3));
  const SymmetricEigen eigen = symmetric_eigen(s);
  for (const int exponent : {-900, -400, 3, 400, 900}) {
    const double factor = std::ldexp(1.0, exponent);
    const SymmetricEigen scaled = symmetric_eigen(factor * s);
    EXPECT_EQ(scaled.vectors, eigen.vectors) << exponent;
    EXPECT_EQ(scaled.values, Vector<double>(factor * eigen.values)) << exponent;
  }
}

TEST_P(SymmetricOfSize, OfDiagonalAndTridiagonalMatricesIsExactlyOrdered) {
  const Index d = GetParam();
  Matrix<double> s = Matrix<double>::Zero(d, d);
  EXPECT_EQ(symmetric_eigen(s).values, Vector<double>::Zero(d));
  for (Index i = 0; i < d; ++i) s(i, i) = static_cast<double>((7 * i) % d);
  const SymmetricEigen diagonal = symmetric_eigen(s);
  EXPECT_TRUE(std::is_sorted(diagonal.values.data(), diagonal.values.data() + d));
  EXPECT_EQ(largest(diagonal.vectors.cwiseAbs().rowwise().sum() - Vector<double>::Ones(d)), 0);
  // The second difference: 2 − 2 cos(π k / (d + 1)).
  for (Index i = 0; i < d; ++i) s(i, i) = 2;
  for (Index i = 1; i < d; ++i) s(i, i - 1) = s(i - 1, i) = -1;
  const Vector<double> values = symmetric_eigen(s).values;
  for (Index k = 1; k <= d; ++k) {
    const double angle = std::acos(-1.0) * static_cast<double>(k) / static_cast<double>(d + 1);
    EXPECT_NEAR(values(k - 1), 2 - 2 * std::cos(angle), 1e-13);
  }
}

/// How far S V − V Λ and VᵀV − I are from zero, whichever is further, in ε √d (norms, the first in relation to that of
/// S).
double disorder(const Matrix<double>& s) {
  const SymmetricEigen eigen = symmetric_eigen(s);
  const Matrix<double>& v = eigen.vectors;
  const auto d = s.rows();
  const double residual = (s * v - v * eigen.values.asDiagonal()).stableNorm() / std::max(s.stableNorm(), 1e-300);
  const double angles = (v.transpose() * v - Matrix<double>::Identity(d, d)).norm();
  const double unit = std::numeric_limits<double>::epsilon() * std::sqrt(static_cast<double>(d));
  return std::isfinite(residual) && std::isfinite(angles) ? std::max(residual, angles) / unit
                                                          : std::numeric_limits<double>::infinity();
}
constexpr double kMostDisorder = 20;

// Most of such a matrix is rounding, of which each reflection leaves the rounding of rounding, down to underflow.
class OfLowRank : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) flush_.emplace();
  }
  std::optional<FlushDenormals> flush_;
};
INSTANTIATE_TEST_SUITE_P(WithDenormalsAndWithout, OfLowRank, ::testing::Bool());

TEST_P(OfLowRank, CovariancesOfFewSamples) {
  for (const Index d : {Index{17}, Index{50}, Index{80}, kSmall}) {
    for (const Index samples : {2, 3, 16, 32}) {
      for (const double ridge : {0.0, 1e-5, 1e-3, 0.1}) {
        for (int draw = 0; draw < 10; ++draw) {
          const Matrix<double> x = random(samples, d, fmt::format("{} {}", samples, draw).c_str());
          const Matrix<double> s =
              x.transpose() * x / static_cast<double>(samples) + ridge * Matrix<double>::Identity(d, d);
          EXPECT_LT(disorder(s), kMostDisorder) << d << " " << samples << " " << ridge;
        }
      }
    }
  }
}

TEST_P(OfLowRank, EqualColumnsAndSmallIntegers) {
  Rng rng(11);
  for (Index d = 1; d <= kSmall; ++d) {
    EXPECT_LT(disorder(Matrix<double>::Ones(d, d)), kMostDisorder) << d;
    const Vector<double> u = Vector<double>::NullaryExpr(d, [&] { return static_cast<double>(rng.below(3)); });
    EXPECT_LT(disorder(u * u.transpose()), kMostDisorder) << d;
    const Vector<double> column = random(d, 1, "column");
    EXPECT_LT(disorder(column * column.transpose()), kMostDisorder) << d;
  }
}

TEST_P(OfLowRank, NumbersCloseToUnderflow) {
  Rng rng(12);
  for (int exponent = -170; exponent <= -140; ++exponent) {
    const double e = std::pow(10, exponent);
    EXPECT_LT(disorder((Matrix<double>(3, 3) << 1, e, e, e, 2, 0.5, e, 0.5, 3).finished()), kMostDisorder) << exponent;
    Matrix<double> tridiagonal = Matrix<double>::Zero(40, 40);
    const auto draw = [&] { return std::pow(10, exponent * rng.uniform()); };
    for (Index i = 0; i < 40; ++i) tridiagonal(i, i) = draw();
    for (Index i = 1; i < 40; ++i) tridiagonal(i, i - 1) = tridiagonal(i - 1, i) = draw();
    EXPECT_LT(disorder(tridiagonal), kMostDisorder) << exponent;
  }
}

// Tridiagonal matrices of small integers have zeros where they fall apart, repeated values, and shifts that are values;
// weak links between blocks vanish while the sweeps still work on what is above them.
TEST(Symmetric, TridiagonalMatricesThatFallApart) {
  Rng rng(13);
  for (Index d = 2; d <= kSmall; ++d) {
    for (const double link : {0.0, 1e-17, 1e-13, 1e-8, 1.0}) {
      Matrix<double> s = Matrix<double>::Zero(d, d);
      for (Index i = 0; i < d; ++i) s(i, i) = static_cast<double>(rng.below(5)) - 2;
      for (Index i = 1; i < d; ++i) {
        const auto draw = static_cast<double>(rng.below(3)) - 1;
        s(i, i - 1) = s(i - 1, i) = draw == 0 ? link : draw;
      }
      EXPECT_LT(disorder(s), kMostDisorder) << d << " " << link;
    }
  }
}

// Determinants of a hundred rows, each of which is as large as the shift.
TEST(Symmetric, ValuesOneOfWhichIsFarFromTheOthers) {
  for (const Index d : {Index{20}, Index{100}, kSmall}) {
    for (const double far : {1.0, 50.0, -1e3, 1e9}) {
      Vector<double> values = Vector<double>::LinSpaced(d, 1, 2);
      values(0) = far;
      EXPECT_LT(disorder(with_eigenvalues(values)), kMostDisorder) << d << " " << far;
      const Matrix<double> noise = random(d, d, "noise");
      EXPECT_LT(disorder(Matrix<double>::Constant(d, d, far) + noise + noise.transpose()), kMostDisorder)
          << d << " " << far;
    }
  }
}

/// Wilkinson's matrix W⁺ of odd size: pairs of eigenvalues that are nearly equal.
Matrix<double> wilkinson(Index d) {
  Matrix<double> s = Matrix<double>::Zero(d, d);
  for (Index i = 0; i < d; ++i) s(i, i) = std::abs(static_cast<double>(i - d / 2));
  for (Index i = 1; i < d; ++i) s(i, i - 1) = s(i - 1, i) = 1;
  return s;
}

// Sweeps turn the same rows a hundred times and more: errors of the rotations must not all go one way.
TEST(Symmetric, VectorsStayOrthonormalOverManyRotations) {
  for (Index d = 3; d <= kSmall; d += 2) EXPECT_LT(disorder(wilkinson(d)), kMostDisorder) << d;
}

// Blocks with the same eigenvalues and next to nothing between them fall apart in the middle, while a sweep goes on
// above.
TEST(Symmetric, GluedBlocks) {
  for (Index block = 3; block <= 21; block += 2) {
    for (const double link : {1e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-8}) {
      const Index blocks = kSmall / block, d = blocks * block;
      Matrix<double> s = Matrix<double>::Zero(d, d);
      for (Index b = 0; b < blocks; ++b) s.block(b * block, b * block, block, block) = wilkinson(block);
      for (Index i = block; i < d; i += block) s(i, i - 1) = s(i - 1, i) = link;
      EXPECT_LT(disorder(s), kMostDisorder) << block << " " << link;
    }
  }
}

TEST(Symmetric, ReadsOnlyTheLowerTriangle) {
  Matrix<double> s = with_eigenvalues(vector({1, 2, 3}));
  const Vector<double> values = symmetric_eigen(s).values;
  s(0, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(symmetric_eigen(s).values, values);
}

TEST(Symmetric, OfNothingIsNothing) {
  const SymmetricEigen eigen = symmetric_eigen(Matrix<double>(0, 0));
  EXPECT_EQ(eigen.values.size(), 0);
  EXPECT_EQ(inverse_sqrt(eigen).size(), 0);
}

TEST(Symmetric, KnownInverseSquareRoot) {
  const Matrix<double> s = (Matrix<double>(2, 2) << 5, 4, 4, 5).finished();  // eigenvalues 1 and 9
  const Matrix<double> want = (Matrix<double>(2, 2) << 2, -1, -1, 2).finished() / 3;
  EXPECT_LT(largest(inverse_sqrt(symmetric_eigen(s)) - want), 1e-15);
}

/// loss(S) = Σ W ∘ (sym S)^{-1/2}, so that entries of S may be perturbed one by one.
void check_adjoint(const Matrix<double>& s) {
  const Matrix<double> w = random(s.rows(), s.rows(), "loss");
  const auto loss = [&](const Matrix<double>& x) {
    return w.cwiseProduct(inverse_sqrt(symmetric_eigen(0.5 * (x + x.transpose())))).sum();
  };
  const Matrix<double> gradient = inverse_sqrt_adjoint(symmetric_eigen(s), w);
  ASSERT_TRUE(gradient.allFinite());
  EXPECT_EQ(gradient, Matrix<double>(gradient.transpose()));
  EXPECT_LT(testing::max_gradient_error(loss, s, gradient), 1e-8);
}

TEST(InverseSqrtAdjoint, DistinctEigenvalues) { check_adjoint(with_eigenvalues(vector({0.5, 1, 2, 3.5}))); }
TEST(InverseSqrtAdjoint, OneDimension) { check_adjoint(Matrix<double>::Constant(1, 1, 1.7)); }
TEST(InverseSqrtAdjoint, Identity) { check_adjoint(Matrix<double>::Identity(4, 4)); }
TEST(InverseSqrtAdjoint, ExactlyRepeatedEigenvalue) { check_adjoint(vector({2, 2, 5}).asDiagonal()); }
TEST(InverseSqrtAdjoint, NearlyRepeatedEigenvalue) { check_adjoint(with_eigenvalues(vector({2, 2 + 1e-13, 5}))); }

TEST(InverseSqrtAdjoint, OfTheIdentityIsMinusHalf) {
  const Matrix<double> w = random(3, 3, "loss");
  const Matrix<double> got = inverse_sqrt_adjoint(symmetric_eigen(Matrix<double>::Identity(3, 3)), w);
  EXPECT_LT(largest(got + 0.25 * (w + w.transpose())), 1e-15);
}

TEST(Symmetric, RefusesBadInput) {
  using ::testing::StrEq;
  using ::testing::ThrowsMessage;
  Matrix<double> s = Matrix<double>::Identity(3, 3);
  EXPECT_THAT(
      [] { symmetric_eigen(Matrix<double>(2, 3)); },
      ThrowsMessage<InputError>(StrEq("[symmetric_eigen] shape: got 2 x 3, need a square matrix; pass a covariance")));
  EXPECT_THAT([&] { inverse_sqrt_adjoint(symmetric_eigen(s), Matrix<double>(2, 3)); },
              ThrowsMessage<InputError>(
                  StrEq("[inverse_sqrt_adjoint] shape of the gradient: got 2 x 3, need 3 x 3; pass dL/dU")));
  Workspace work;
  Matrix<double> other(2, 2);
  EXPECT_THAT([&] { inverse_sqrt_adjoint(symmetric_eigen(s), s, other, work); },
              ThrowsMessage<InputError>(
                  StrEq("[inverse_sqrt_adjoint] shape of the adjoint: got 2 x 2, need 3 x 3; resize it")));
  EXPECT_THAT(
      [&] { inverse_sqrt_differences(symmetric_eigen(s), other, work); },
      ThrowsMessage<InputError>(StrEq("[inverse_sqrt_differences] shape of m: got 2 x 2, need 3 x 3; resize it")));
  s(2, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT([&] { symmetric_eigen(s); },
              ThrowsMessage<Error>(StrEq("[symmetric_eigen] entry (2, 1): got nan, need a finite number; check the "
                                         "data, or lower the learning rate")));
  EXPECT_THAT([] { inverse_sqrt(symmetric_eigen(Matrix<double>::Zero(2, 2))); },
              ThrowsMessage<Error>(StrEq("[inverse_sqrt] smallest eigenvalue: got 0, need more than 0; look for "
                                         "outliers, or add a ridge (whitening_epsilon)")));
}

}  // namespace
}  // namespace tocca

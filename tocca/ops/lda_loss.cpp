#include "tocca/ops/lda_loss.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "tocca/linalg/blas.h"
#include "tocca/linalg/covariance.h"
#include "tocca/linalg/symmetric.h"

namespace tocca {
namespace {

/// The labelled rows of one class: which they are, and their values minus the mean of the class (n × d).
struct ClassRows {
  std::vector<Index> rows;
  Matrix<double> centred;
};

std::vector<ClassRows> by_class(const Matrix<double>& h, std::span<const int> labels) {
  std::map<int, std::vector<Index>> rows_of;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] >= 0) rows_of[labels[i]].push_back(static_cast<Index>(i));
  }
  std::vector<ClassRows> classes;
  for (auto& [label, rows] : rows_of) {
    Matrix<double> centred = centre(h(rows, Eigen::all)).rows;
    classes.push_back({std::move(rows), std::move(centred)});
  }
  return classes;
}

/// S_t of the labelled rows, S_w, and what their gradients need.
struct Scatters {
  std::vector<Index> labelled;
  Matrix<double> centred;     // labelled rows minus their mean
  Index with_covariance = 0;  // classes with two rows or more
  Matrix<double> total, within;
};

Scatters scatters_of(const Matrix<double>& h, const std::vector<ClassRows>& classes) {
  const Index d = h.cols();
  Scatters s{{}, {}, 0, Matrix<double>(d, d), Matrix<double>::Zero(d, d)};
  for (const ClassRows& c : classes) {
    s.labelled.insert(s.labelled.end(), c.rows.begin(), c.rows.end());
    if (c.rows.size() < 2) continue;
    ++s.with_covariance;
    multiply_at_a<double>(c.centred, s.within, 1 / static_cast<double>(c.rows.size() - 1), 1);
  }
  s.centred = centre(h(s.labelled, Eigen::all)).rows;
  multiply_at_a<double>(s.centred, s.total, 1 / static_cast<double>(s.labelled.size() - 1));
  if (s.with_covariance > 0) s.within /= static_cast<double>(s.with_covariance);
  return s;
}

/// The eigenvalues that count (n), ascending, and their vectors (d × n) in columns, vᵀ (S_w + rI) v = 1.
struct Separation {
  Vector<double> values;
  Matrix<double> vectors;
};

Separation smallest_separations(const Scatters& s, Index classes, const LdaLossOptions& options) {
  const Index d = s.total.rows();
  const Matrix<double> ridged = s.within + options.ridge * Matrix<double>::Identity(d, d);
  const Matrix<double> root = inverse_sqrt(symmetric_eigen(ridged));
  Matrix<double> half(d, d), whitened(d, d);
  multiply<double>(root, s.total - s.within, half);
  multiply<double>(half, root, whitened);
  const SymmetricEigen eigen = symmetric_eigen(whitened);
  const Index kept = std::min(classes - 1, d);
  const auto largest = eigen.values.tail(kept);
  const Index n = (largest.array() <= largest(0) + options.threshold).count();
  Separation chosen{largest.head(n), Matrix<double>(d, n)};
  multiply<double>(root, eigen.vectors.middleCols(d - kept, n), chosen.vectors);
  return chosen;
}

/// scale · X V diag(factors) Vᵀ for rows X: from the gradient with respect to XᵀX to that with respect to X.
Matrix<double> through_scatter(const Matrix<double>& x, const Matrix<double>& v, const Vector<double>& factors,
                               double scale) {
  Matrix<double> inner(x.rows(), v.cols()), gradient(x.rows(), x.cols());
  multiply<double>(x, v, inner);
  inner *= factors.asDiagonal();
  multiply_a_bt<double>(inner, v, gradient, scale);
  return gradient;
}

}  // namespace

template <class S>
double lda_loss(ConstMatrixRef<S> h, std::span<const int> labels, const LdaLossOptions& options, double weight,
                MatrixRef<S> d) {
  const Matrix<double> rows = h.template cast<double>();
  const std::vector<ClassRows> classes = by_class(rows, labels);
  if (classes.size() < 2) return 0;
  const Scatters s = scatters_of(rows, classes);
  if (s.with_covariance == 0) return 0;
  const Separation chosen = smallest_separations(s, static_cast<Index>(classes.size()), options);
  const auto count = static_cast<double>(chosen.values.size());
  const auto add = [&](const std::vector<Index>& which, const Matrix<double>& gradient) {
    for (std::size_t i = 0; i < which.size(); ++i)
      d.row(which[i]) += gradient.row(static_cast<Index>(i)).template cast<S>();
  };
  const double total_scale = -2 * weight / (count * static_cast<double>(s.labelled.size() - 1));
  add(s.labelled, through_scatter(s.centred, chosen.vectors, Vector<double>::Ones(chosen.values.size()), total_scale));
  const Vector<double> factors = 1 + chosen.values.array();
  for (const ClassRows& c : classes) {
    if (c.rows.size() < 2) continue;
    const double freedom = static_cast<double>(s.with_covariance) * static_cast<double>(c.rows.size() - 1);
    add(c.rows, through_scatter(c.centred, chosen.vectors, factors, 2 * weight / (count * freedom)));
  }
  return -chosen.values.mean();
}

template double lda_loss<float>(ConstMatrixRef<float>, std::span<const int>, const LdaLossOptions&, double,
                                MatrixRef<float>);
template double lda_loss<double>(ConstMatrixRef<double>, std::span<const int>, const LdaLossOptions&, double,
                                 MatrixRef<double>);

}  // namespace tocca

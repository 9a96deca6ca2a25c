#include "tocca/ops/lda_loss.h"

#include <algorithm>

#include "tocca/linalg/blas.h"

namespace tocca {
namespace {

/// The labelled rows, class after class.
struct Classes {
  std::span<Index> rows;
  std::span<std::size_t> ends;  ///< of each class among them

  [[nodiscard]] std::size_t begin(std::size_t c) const { return c == 0 ? 0 : ends[c - 1]; }
  [[nodiscard]] std::size_t size(std::size_t c) const { return ends[c] - begin(c); }
};

Classes by_class(std::span<const int> labels, Workspace& work) {
  Classes classes{work.array<Index>(labels.size()), work.array<std::size_t>(labels.size())};
  std::size_t labelled = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] >= 0) classes.rows[labelled++] = static_cast<Index>(i);
  }
  classes.rows = classes.rows.first(labelled);
  const auto label = [&](Index row) { return labels[static_cast<std::size_t>(row)]; };
  std::sort(classes.rows.begin(), classes.rows.end(),
            [&](Index a, Index b) { return label(a) != label(b) ? label(a) < label(b) : a < b; });
  std::size_t count = 0;
  for (std::size_t i = 0; i < labelled; ++i) {
    if (i + 1 == labelled || label(classes.rows[i]) != label(classes.rows[i + 1])) classes.ends[count++] = i + 1;
  }
  classes.ends = classes.ends.first(count);
  return classes;
}

/// Takes the mean off, measured from the first row: large offsets cost few digits.
void take_off_mean(MatrixRef<double> rows, Workspace& work) {
  const Workspace::Frame frame(work);
  MatrixMap<double> shift = work.matrix<double>(1, rows.cols());
  shift = rows.row(0);
  rows.rowwise() -= shift.row(0);
  shift = rows.colwise().mean();
  rows.rowwise() -= shift.row(0);
}

/// S_t of the labelled rows, S_w, and what their gradients need.
struct Scatters {
  MatrixMap<double> of_class;  // labelled rows minus the mean of their class (n × d)
  MatrixMap<double> of_all;    // minus the mean of all (n × d)
  Index with_covariance = 0;   // classes with two rows or more
  MatrixMap<double> total, within;
};

template <class S>
Scatters scatters_of(ConstMatrixRef<S> h, const Classes& classes, Workspace& work) {
  const auto n = static_cast<Index>(classes.rows.size()), d = h.cols();
  Scatters s{work.matrix<double>(n, d), work.matrix<double>(n, d), 0, work.matrix<double>(d, d),
             work.matrix<double>(d, d)};
  for (Index i = 0; i < n; ++i)
    s.of_all.row(i) = h.row(classes.rows[static_cast<std::size_t>(i)]).template cast<double>();
  s.of_class = s.of_all;
  s.within.setZero();
  for (std::size_t c = 0; c < classes.ends.size(); ++c) {
    if (classes.size(c) < 2) continue;
    ++s.with_covariance;
    auto rows = s.of_class.middleRows(static_cast<Index>(classes.begin(c)), static_cast<Index>(classes.size(c)));
    take_off_mean(rows, work);
    multiply_at_a<double>(rows, s.within, 1 / static_cast<double>(classes.size(c) - 1), 1);
  }
  take_off_mean(s.of_all, work);
  multiply_at_a<double>(s.of_all, s.total, 1 / static_cast<double>(n - 1));
  if (s.with_covariance > 0) s.within /= static_cast<double>(s.with_covariance);
  return s;
}

/// The eigenvalues that count (n), ascending, and their vectors (d × n) in columns, vᵀ (S_w + rI) v = 1.
struct Separation {
  Eigen::Map<Vector<double>> values;
  MatrixMap<double> vectors;
};

Separation smallest_separations(const Scatters& s, Index classes, const LdaLossOptions& options,
                                LdaLossScratch& scratch) {
  Workspace& work = scratch.work;
  const Index d = s.total.rows();
  MatrixMap<double> half = work.matrix<double>(d, d), whitened = work.matrix<double>(d, d);
  scratch.within.vectors = s.within;
  scratch.within.vectors.diagonal().array() += options.ridge;
  symmetric_eigen_in_place(scratch.within, work);
  scratch.root.resize(d, d);
  inverse_sqrt(scratch.within, scratch.root, work);
  whitened = s.total - s.within;
  multiply<double>(scratch.root, whitened, half);
  scratch.whitened.vectors.resize(d, d);
  multiply<double>(half, scratch.root, scratch.whitened.vectors);
  symmetric_eigen_in_place(scratch.whitened, work);
  const Index kept = std::min(classes - 1, d);
  const auto largest = scratch.whitened.values.tail(kept);
  const Index n = (largest.array() <= largest(0) + options.threshold).count();
  Separation chosen{work.vector<double>(n), work.matrix<double>(d, n)};
  chosen.values = largest.head(n);
  MatrixMap<double> vectors = work.matrix<double>(d, n);
  vectors = scratch.whitened.vectors.middleCols(d - kept, n);
  multiply<double>(scratch.root, vectors, chosen.vectors);
  return chosen;
}

/// Adds scale · X V diag(factors) Vᵀ, X (n × d), to those rows of d: from the gradient with respect to XᵀX to that with
/// respect to X.
template <class S, class Factors>
void add_through_scatter(ConstMatrixRef<double> x, const MatrixMap<double>& v, const Factors& factors, double scale,
                         std::span<const Index> rows, MatrixRef<S> d, Workspace& work) {
  const Workspace::Frame frame(work);
  MatrixMap<double> inner = work.matrix<double>(x.rows(), v.cols()), gradient = work.matrix<double>(x.rows(), x.cols());
  multiply<double>(x, v, inner);
  for (Index j = 0; j < inner.cols(); ++j) inner.col(j) *= factors(j);
  multiply_a_bt<double>(inner, v, gradient, scale);
  for (std::size_t i = 0; i < rows.size(); ++i)
    d.row(rows[i]) += gradient.row(static_cast<Index>(i)).template cast<S>();
}

}  // namespace

template <class S>
double lda_loss(ConstMatrixRef<S> h, std::span<const int> labels, const LdaLossOptions& options, double weight,
                MatrixRef<S> d, LdaLossScratch& scratch) {
  Workspace& work = scratch.work;
  const Workspace::Frame frame(work);
  const Classes classes = by_class(labels, work);
  if (classes.ends.size() < 2) return 0;
  const Scatters s = scatters_of<S>(h, classes, work);
  if (s.with_covariance == 0) return 0;
  const Separation chosen = smallest_separations(s, static_cast<Index>(classes.ends.size()), options, scratch);
  const auto count = static_cast<double>(chosen.values.size());
  const double total_scale = -2 * weight / (count * static_cast<double>(classes.rows.size() - 1));
  add_through_scatter<S>(
      s.of_all, chosen.vectors, [](Index) { return 1.0; }, total_scale, classes.rows, d, work);
  for (std::size_t c = 0; c < classes.ends.size(); ++c) {
    if (classes.size(c) < 2) continue;
    const double freedom = static_cast<double>(s.with_covariance) * static_cast<double>(classes.size(c) - 1);
    add_through_scatter<S>(
        s.of_class.middleRows(static_cast<Index>(classes.begin(c)), static_cast<Index>(classes.size(c))),
        chosen.vectors, [&](Index j) { return 1 + chosen.values(j); }, 2 * weight / (count * freedom),
        classes.rows.subspan(classes.begin(c), classes.size(c)), d, work);
  }
  return -chosen.values.mean();
}

#define TOCCA_INSTANTIATE(S)                                                                                        \
  template double lda_loss<S>(ConstMatrixRef<S>, std::span<const int>, const LdaLossOptions&, double, MatrixRef<S>, \
                              LdaLossScratch&);
TOCCA_INSTANTIATE(float)
TOCCA_INSTANTIATE(double)
#undef TOCCA_INSTANTIATE

}  // namespace tocca

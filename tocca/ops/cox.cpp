#include "tocca/ops/cox.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tocca {
namespace {

constexpr double kLogZero = -std::numeric_limits<double>::infinity();

/// log(eᵃ + eᵇ)
double log_add(double a, double b) {
  const double top = std::max(a, b);
  return top == kLogZero ? kLogZero : top + std::log1p(std::exp(std::min(a, b) - top));
}

/// The samples of one time: [first, last) in the order of the samples.
struct Tie {
  std::size_t first = 0, last = 0;
  double events = 0;
  double log_risk = kLogZero;      // log Σ e^η of everyone at risk but this time's events: log(R − D)
  double log_deaths = kLogZero;    // log D
  double log_hazard = kLogZero;    // log Σ_l 1 / (R − f D)
  double log_discount = kLogZero;  // log Σ_l f / (R − f D)
};

/// The samples that count, from the latest to the earliest.
class Cohort {
 public:
  Cohort(std::span<const double> times, std::span<const int> events, std::span<const double> log_hazard,
         Workspace& work)
      : times_(times), events_(events), log_hazard_(log_hazard), order_(work.array<std::size_t>(times.size())) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (!std::isnan(times[i]) && events[i] >= 0) order_[count++] = i;
    }
    order_ = order_.first(count);
    std::sort(order_.begin(), order_.end(),
              [&](std::size_t i, std::size_t j) { return times[i] != times[j] ? times[i] > times[j] : i < j; });
  }

  [[nodiscard]] double events() const {
    return static_cast<double>(std::count_if(order_.begin(), order_.end(), [&](std::size_t i) { return died(i); }));
  }
  /// The sum of the negative log likelihood; fills `gradient` (m), which comes in as zeros.
  double loss(CoxTies ties, std::span<double> gradient, Workspace& work) const;

 private:
  [[nodiscard]] bool died(std::size_t i) const { return events_[i] > 0; }
  /// The samples that share the time of the one at `first`; log_risk: of all later ones.
  [[nodiscard]] Tie gather(std::size_t first, double log_risk) const;

  std::span<const double> times_;
  std::span<const int> events_;
  std::span<const double> log_hazard_;
  std::span<std::size_t> order_;  // latest first
};

Tie Cohort::gather(std::size_t first, double log_risk) const {
  Tie tie{.first = first, .last = first, .log_risk = log_risk};
  for (; tie.last < order_.size() && times_[order_[tie.last]] == times_[order_[first]]; ++tie.last) {
    const std::size_t i = order_[tie.last];
    double& sum = died(i) ? tie.log_deaths : tie.log_risk;
    sum = log_add(sum, log_hazard_[i]);
    tie.events += died(i) ? 1 : 0;
  }
  return tie;
}

/// Σ_l log(R − f D), and on the way the sums that the gradient needs.
double add_terms(CoxTies ties, Tie& tie) {
  double terms = 0;
  for (double l = 0; l < tie.events; ++l) {
    const double f = ties == CoxTies::efron ? l / tie.events : 0;
    const double denominator = log_add(tie.log_risk, tie.log_deaths + std::log1p(-f));
    terms += denominator;
    tie.log_hazard = log_add(tie.log_hazard, -denominator);
    tie.log_discount = log_add(tie.log_discount, std::log(f) - denominator);
  }
  return terms;
}

double Cohort::loss(CoxTies ties, std::span<double> gradient, Workspace& work) const {
  double loss = 0, log_risk = kLogZero;
  std::span<Tie> all = work.array<Tie>(order_.size());
  std::size_t count = 0;
  for (std::size_t first = 0; first < order_.size(); first = all[count++].last) {
    Tie& tie = all[count];
    tie = gather(first, log_risk);
    loss += add_terms(ties, tie);
    log_risk = log_add(tie.log_risk, tie.log_deaths);
  }
  // From the earliest time on: a sample's gradient collects the ties at whose time it was still at risk.
  double log_cumulative = kLogZero;
  all = all.first(count);
  for (auto tie = all.rbegin(); tie != all.rend(); ++tie) {
    log_cumulative = log_add(log_cumulative, tie->log_hazard);
    for (std::size_t p = tie->first; p < tie->last; ++p) {
      const std::size_t i = order_[p];
      gradient[i] = std::exp(log_hazard_[i] + log_cumulative);
      if (!died(i)) continue;
      gradient[i] -= 1 + std::exp(log_hazard_[i] + tie->log_discount);
      loss -= log_hazard_[i];
    }
  }
  return loss;
}

}  // namespace

template <class S>
double cox_loss(std::span<const double> times, std::span<const int> events, CoxTies ties, MatrixRef<S> log_hazard,
                Workspace& work) {
  const Workspace::Frame frame(work);
  const auto m = static_cast<std::size_t>(log_hazard.rows());
  const std::span<double> eta = work.array<double>(m), gradient = work.array<double>(m);
  for (std::size_t i = 0; i < m; ++i) eta[i] = static_cast<double>(log_hazard(static_cast<Index>(i), 0));
  std::fill(gradient.begin(), gradient.end(), 0.0);
  const Cohort cohort(times, events, eta, work);
  const double count = cohort.events();
  log_hazard.setZero();
  if (count == 0) return 0;
  const double loss = cohort.loss(ties, gradient, work);
  for (std::size_t i = 0; i < m; ++i) log_hazard(static_cast<Index>(i), 0) = static_cast<S>(gradient[i] / count);
  return loss / count;
}

#define TOCCA_INSTANTIATE(S) \
  template double cox_loss<S>(std::span<const double>, std::span<const int>, CoxTies, MatrixRef<S>, Workspace&);
TOCCA_INSTANTIATE(float)
TOCCA_INSTANTIATE(double)
#undef TOCCA_INSTANTIATE

}  // namespace tocca

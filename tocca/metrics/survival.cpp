#include "tocca/metrics/survival.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tocca/metrics/checks.h"

namespace tocca {
namespace {

struct Sample {
  double time = 0, risk = 0;
  bool event = false;
  std::size_t place = 0;  // of the risk among the distinct risks, from the lowest
};

std::vector<Sample> known_samples(std::span<const double> risk, std::span<const double> times,
                                  std::span<const int> events) {
  constexpr const char* kWhere = "concordance_index";
  detail::require_one_for_each(kWhere, "risks", risk.size(), "time", times.size());
  detail::require_one_for_each(kWhere, "events", events.size(), "time", times.size());
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < times.size(); ++i) {
    detail::require_flag(kWhere, "event", i, events[i]);
    if (std::isnan(times[i]) || events[i] < 0) continue;
    detail::require_number(kWhere, "risk", i, risk[i]);
    samples.push_back({times[i], risk[i], events[i] > 0});
  }
  return samples;
}

/// Fills in `place`; returns how many distinct risks there are.
std::size_t rank_risks(std::vector<Sample>& samples) {
  std::vector<double> risks;
  risks.reserve(samples.size());
  for (const Sample& s : samples) risks.push_back(s.risk);
  std::sort(risks.begin(), risks.end());
  risks.erase(std::unique(risks.begin(), risks.end()), risks.end());
  for (Sample& s : samples)
    s.place = static_cast<std::size_t>(std::lower_bound(risks.begin(), risks.end(), s.risk) - risks.begin());
  return risks.size();
}

/// How many samples were added at each place, with sums over the places before one in O(log) (a Fenwick tree).
class PlaceCounts {
 public:
  explicit PlaceCounts(std::size_t places) : sums_(places + 1, 0) {}

  void add(std::size_t place) {
    ++total_;
    for (std::size_t node = place + 1; node < sums_.size(); node += node & (~node + 1)) ++sums_[node];
  }
  [[nodiscard]] std::int64_t before(std::size_t place) const {
    std::int64_t sum = 0;
    for (std::size_t node = place; node > 0; node &= node - 1) sum += sums_[node];
    return sum;
  }
  [[nodiscard]] std::int64_t total() const { return total_; }

 private:
  std::vector<std::int64_t> sums_;
  std::int64_t total_ = 0;
};

}  // namespace

double concordance_index(std::span<const double> risk, std::span<const double> times, std::span<const int> events) {
  std::vector<Sample> samples = known_samples(risk, times, events);
  PlaceCounts longer(rank_risks(samples));
  // From the longest survival to the shortest: of one time first those censored.
  std::sort(samples.begin(), samples.end(),
            [](const Sample& a, const Sample& b) { return a.time != b.time ? a.time > b.time : a.event < b.event; });
  std::int64_t comparable = 0, half_concordant = 0;
  for (std::size_t first = 0; first < samples.size();) {
    std::size_t last = first;
    // Samples of one time that are alike in their event are not compared with each other.
    for (; last < samples.size() && samples[last].time == samples[first].time &&
           samples[last].event == samples[first].event;
         ++last) {
      if (!samples[last].event) continue;
      comparable += longer.total();
      half_concordant += longer.before(samples[last].place) + longer.before(samples[last].place + 1);
    }
    for (; first < last; ++first) longer.add(samples[first].place);
  }
  if (comparable == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(half_concordant) / 2 / static_cast<double>(comparable);
}

}  // namespace tocca

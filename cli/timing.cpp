#include "cli/timing.h"

#include <algorithm>

#include "tocca/linalg/blas.h"

namespace tocca::cli {

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

template <class S>
double measure_peak(const Context& context) {
  constexpr Index kSize = 768;
  const Index threads = context.workers ? context.workers->threads() : 1;
  std::vector<Matrix<S>> a(static_cast<std::size_t>(threads), Matrix<S>::Constant(kSize, kSize, S(0.5)));
  std::vector<Matrix<S>> c = a;
  double best = 0;
  for (int round = 0; round < 8; ++round) {
    const auto start = Clock::now();
    context.parallel(threads, [&](Index t) {
      const auto i = static_cast<std::size_t>(t);
      // Aᵀ B is OpenBLAS's on every processor: what our own products are measured against.
      for (int repeat = 0; repeat < 2; ++repeat) multiply_at_b<S>(a[i], a[i], c[i]);
    });
    const double flop = 2.0 * 2.0 * static_cast<double>(threads) * kSize * kSize * kSize;
    best = std::max(best, flop / seconds_since(start) * 1e-9);
  }
  return best;
}

template double measure_peak<float>(const Context&);
template double measure_peak<double>(const Context&);

}  // namespace tocca::cli

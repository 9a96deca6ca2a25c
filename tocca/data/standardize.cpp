#include "tocca/data/standardize.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/data/text.h"

namespace tocca {
namespace {

constexpr std::array<std::pair<std::string_view, Standardize>, 4> kModes = {{{"zscore", Standardize::zscore},
                                                                             {"scale", Standardize::scale},
                                                                             {"center", Standardize::center},
                                                                             {"none", Standardize::none}}};
constexpr std::array<std::pair<std::string_view, MissingValues>, 3> kPolicies = {
    {{"error", MissingValues::error}, {"mean", MissingValues::mean}, {"drop", MissingValues::drop}}};

template <class Words>
auto parse_word(const Words& words, std::string_view option, std::string_view text) {
  std::vector<std::string> known;
  for (const auto& [word, value] : words) {
    if (word == text) return value;
    known.emplace_back(word);
  }
  throw InputError(option, fmt::format("unknown value: got '{}', need one of {}; check the spelling", text,
                                       name_some(known, known.size())));
}

template <class Words, class Value>
std::string_view word_of(const Words& words, Value wanted) {
  return std::find_if(words.begin(), words.end(), [&](const auto& word) { return word.second == wanted; })->first;
}

std::string place(const Views& views, const View& view, Index sample) {
  return fmt::format("view '{}', sample '{}'", view.name, views.samples[static_cast<std::size_t>(sample)]);
}

[[noreturn]] void refuse_value(const Views& views, const View& view, Index sample, Index column, double value) {
  const std::string where =
      fmt::format("{}, column '{}'", place(views, view, sample), view.features[static_cast<std::size_t>(column)]);
  if (std::isnan(value)) {
    throw InputError(where,
                     "missing value: got NaN, need a finite number; fill it in, or fit with --missing mean or "
                     "--missing drop");
  }
  if (std::isinf(value)) {
    throw InputError(where, fmt::format("infinite value: got {}, need a finite number; correct it, or clear it and fit "
                                        "with --missing mean or --missing drop",
                                        value));
  }
  throw InputError(where, fmt::format("value is too large: got {}, need one that can be computed with; correct it, or "
                                      "put the column on a smaller scale",
                                      value));
}

Index row_of(const Views& views, const View& view, Index sample) {
  const Index row = view.row_of_sample[static_cast<std::size_t>(sample)];
  if (row >= 0) return row;
  throw InputError(place(views, view, sample),
                   "view is missing: got no row, need one; read only samples that have the view");
}

template <class T, class Stride, class S>
void convert(const T* in, Stride stride, const double* shift, const double* scale, S* out, Index columns) {
  for (Index j = 0; j < columns; ++j) {
    out[j] = static_cast<S>((static_cast<double>(in[j * stride]) - shift[j]) * scale[j]);
  }
}

template <class S>
bool all_finite(const S* values, Index count) {
  using Bits = std::conditional_t<sizeof(S) == 4, std::uint32_t, std::uint64_t>;
  constexpr Bits kExponent = std::bit_cast<Bits>(std::numeric_limits<S>::infinity());
  Bits bad = 0;
  for (Index j = 0; j < count; ++j) bad |= (std::bit_cast<Bits>(values[j]) & kExponent) == kExponent ? 1 : 0;
  return bad == 0;
}

/// Puts what stands for a missing value where a standardised row is not finite, or refuses the value.
template <class S>
void fill_missing(const Standardizer& by, const Views& views, const View& view, Index sample, Index first,
                  RowRef<S> out) {
  for (Index j = first; j < first + out.size(); ++j) {
    if (std::isfinite(out(j - first))) continue;
    const double x = view.values.at(row_of(views, view, sample), j);
    if (!std::isnan(x) || by.missing != MissingValues::mean) refuse_value(views, view, sample, j, x);
    out(j - first) = static_cast<S>((by.mean(j) - by.shift(j)) * by.scale(j));
  }
}

/// Finds the first value in the samples that the policy does not allow and refuses it.
void refuse_first(const Views& views, const View& view, std::span<const Index> samples, MissingValues missing) {
  for (const Index sample : samples) {
    for (Index j = 0; j < view.columns(); ++j) {
      const double x = view.values.at(row_of(views, view, sample), j);
      if (std::isfinite(x) || (std::isnan(x) && missing == MissingValues::mean)) continue;
      refuse_value(views, view, sample, j, x);
    }
  }
}

/// Refuses the value of largest size in a column whose moments overflow.
void refuse_largest(const Views& views, const View& view, std::span<const Index> samples, Index column) {
  const auto size = [&](Index sample) { return std::abs(view.values.at(row_of(views, view, sample), column)); };
  const auto smaller = [&](Index a, Index b) { return size(a) < size(b); };
  const Index sample = *std::max_element(samples.begin(), samples.end(), smaller);
  refuse_value(views, view, sample, column, view.values.at(row_of(views, view, sample), column));
}

void check_moments(const Views& views, const View& view, std::span<const Index> samples, const ColumnMoments& moments,
                   MissingValues missing) {
  const bool complete = (moments.count.array() == static_cast<double>(samples.size())).all();
  if ((complete || missing == MissingValues::mean) && moments.squares.allFinite()) return;
  refuse_first(views, view, samples, missing);
  for (Index j = 0; j < view.columns(); ++j) {
    if (!std::isfinite(moments.squares(j))) refuse_largest(views, view, samples, j);
  }
}

/// A column whose variation is no more than what rounding its mean leaves behind.
bool is_constant(double variance, double mean) {
  constexpr double kRounding = 1e-12;
  const double deviation = std::sqrt(variance);
  return deviation <= kRounding * std::abs(mean) || deviation < std::numeric_limits<double>::min();
}

/// 1 / the root mean variance of the columns, of which `constant` ones count as 0.
double common_scale(const RowVector<double>& variance, const std::vector<Index>& constant) {
  RowVector<double> counted = variance;
  for (const Index j : constant) counted(j) = 0;
  const double mean = counted.mean();
  return mean > 0 ? 1 / std::sqrt(mean) : 0;
}

void set_scale(Standardizer& standardizer, const RowVector<double>& variance) {
  standardizer.scale.setOnes(variance.size());
  if (standardizer.mode == Standardize::zscore) standardizer.scale = variance.array().rsqrt();
  if (standardizer.mode == Standardize::scale) {
    standardizer.scale.setConstant(common_scale(variance, standardizer.constant));
  }
  for (const Index j : standardizer.constant) standardizer.scale(j) = 0;
}

}  // namespace

Standardize parse_standardize(std::string_view text) { return parse_word(kModes, "standardize", text); }
std::string_view name_of(Standardize mode) { return word_of(kModes, mode); }
MissingValues parse_missing_values(std::string_view text) { return parse_word(kPolicies, "missing", text); }
std::string_view name_of(MissingValues policy) { return word_of(kPolicies, policy); }

template <class S>
void Standardizer::read(const Views& views, Index v, std::span<const Index> samples, Index first,
                        MatrixRef<S> out) const {
  const View& view = views.views[static_cast<std::size_t>(v)];
  const Index columns = view.columns();
  if (columns != scale.size()) {
    throw InputError(
        fmt::format("view '{}'", view.name),
        fmt::format("wrong number of columns: got {}, need {} as in training; check the file", columns, scale.size()));
  }
  const Index count = out.cols();
  if (first < 0 || count > columns - first) {
    throw InputError(
        fmt::format("view '{}'", view.name),
        fmt::format("columns: got {} from {} on, the view has {}; read some of them", count, first, columns));
  }
  view.values.visit([&](const auto* values, Index row_stride, Index column_stride) {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto* in = values + first * column_stride + row_of(views, view, samples[i]) * row_stride;
      S* to = out.data() + static_cast<Index>(i) * out.outerStride();
      // A stride known to be 1 is what lets the compiler vectorise.
      if (column_stride == 1) {
        convert(in, std::integral_constant<Index, 1>(), shift.data() + first, scale.data() + first, to, count);
      } else {
        convert(in, column_stride, shift.data() + first, scale.data() + first, to, count);
      }
      if (!all_finite(to, count)) {
        fill_missing<S>(*this, views, view, samples[i], first, out.row(static_cast<Index>(i)));
      }
    }
  });
}

template void Standardizer::read<float>(const Views&, Index, std::span<const Index>, Index, MatrixRef<float>) const;
template void Standardizer::read<double>(const Views&, Index, std::span<const Index>, Index, MatrixRef<double>) const;

Standardizer fit_standardizer(const Views& views, Index v, Standardize mode, MissingValues missing,
                              const Context& context) {
  const View& view = views.views[static_cast<std::size_t>(v)];
  std::vector<Index> samples;
  std::vector<Index> rows;
  for (Index s = 0; s < views.size(); ++s) {
    if (!view.has(s)) continue;
    samples.push_back(s);
    rows.push_back(view.row_of_sample[static_cast<std::size_t>(s)]);
  }
  if (samples.empty()) {
    throw InputError(fmt::format("view '{}'", view.name),
                     "no sample has the view: got 0 samples, need at least 1; check the ids, or leave the view out");
  }
  const ColumnMoments moments = column_moments(view.values, rows, context);
  check_moments(views, view, samples, moments, missing);
  return standardizer_of(moments, mode, missing);
}

Standardizer standardizer_of(const ColumnMoments& moments, Standardize mode, MissingValues missing) {
  const RowVector<double> variance = moments.squares.array() / (moments.count.array() - 1).max(1);
  Standardizer fitted{mode, missing, moments.mean, moments.mean, {}, {}};
  if (mode == Standardize::none) fitted.shift.setZero();
  for (Index j = 0; j < variance.size(); ++j) {
    if (is_constant(variance(j), moments.mean(j))) fitted.constant.push_back(j);
  }
  set_scale(fitted, variance);
  return fitted;
}

std::vector<Index> complete_samples(const Views& views, MissingValues missing) {
  std::vector<Index> complete;
  for (Index s = 0; s < views.size(); ++s) {
    const auto is_cut = [&](const View& view) {
      return view.has(s) && has_missing(view.values, view.row_of_sample[static_cast<std::size_t>(s)]);
    };
    const bool drop = missing == MissingValues::drop && std::any_of(views.views.begin(), views.views.end(), is_cut);
    if (!drop) complete.push_back(s);
  }
  return complete;
}

}  // namespace tocca

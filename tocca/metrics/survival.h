/// How well risks order survival times.
#pragma once

#include <span>

namespace tocca {

/// Harrell's C: the share of comparable pairs of samples in which the one with the shorter survival has the higher
/// risk; equal risks count ½. 1 is perfect, ½ chance, 0 reversed. Only the order of the risks matters.
///
/// F. Harrell, R. Califf, D. Pryor, K. Lee, R. Rosati, Evaluating the yield of medical tests, JAMA 247, 1982; F.
/// Harrell, K. Lee, D. Mark, Multivariable prognostic models, Statistics in Medicine 15, 1996.
///
/// A pair is comparable if its smaller time is an event: the other sample is known to have lived longer. Of two equal
/// times it is comparable if exactly one is an event, which then counts as the shorter: who is censored at a time was
/// alive at it. Two events at one time are not compared, whatever their risks. These are the conventions of lifelines
/// and of scikit-survival's concordance_index_censored (which takes risks within 1e-8 for equal by default; here they
/// are equal only if they are the same number).
///
/// risk (n): the higher, the sooner the event; a log hazard for instance. times (n): NaN where missing. events (n): 1
/// the event was seen, 0 censored at that time, −1 missing. Samples with a missing time or event are left out. NaN if
/// no pair is comparable. Throws InputError for sizes that differ, other events, and a risk of NaN of a sample that
/// counts. O(n log n).
double concordance_index(std::span<const double> risk, std::span<const double> times, std::span<const int> events);

}  // namespace tocca

/// Small shifts of pictures, which leave their classes as they are: augmentation of training batches.
#pragma once

#include <span>

#include "tocca/core/rng.h"
#include "tocca/data/standardize.h"

namespace tocca {

/// Shifts each row of `rows` (m × d), a picture of d / width rows of `width` pixels, by whole pixels drawn evenly from
/// −most to most in either direction. Pixels that come in from outside repeat the picture's edge. Rows are standardised
/// by `standardizer`, and what is shifted are the pixels before that. How far a sample is shifted depends on `rng` and
/// its number alone, so that all views of a sample are shifted alike. d is a multiple of width; most ≥ 0.
template <class S>
void shift_images(const Standardizer& standardizer, Index width, Index most, std::span<const Index> samples,
                  const Rng& rng, MatrixRef<S> rows);

}  // namespace tocca

/// Data that the library carries with it, for the demonstration, the examples and the tests.
#pragma once

#include <span>

namespace tocca {

/// The bytes of data/digits.csv.gz: 1,797 images of handwritten digits as gzip-compressed CSV without a header, each
/// line 64 pixels (8 × 8, row by row, 0 ... 16) and the digit.
///
/// E. Alpaydin, C. Kaynak, Optical Recognition of Handwritten Digits, UCI Machine Learning Repository, 1998, CC BY 4.0.
std::span<const unsigned char> embedded_digits();

}  // namespace tocca

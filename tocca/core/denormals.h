/// Numbers too small for a normal representation slow arithmetic down a hundredfold; the moments of an optimiser decay
/// into them. While one of these lives, its thread treats them as zero (on x86; elsewhere it does nothing).
#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace tocca {

class FlushDenormals {
 public:
#if defined(__SSE2__)
  FlushDenormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040U); }
  ~FlushDenormals() { _mm_setcsr(before_); }
#else
  FlushDenormals() = default;
  ~FlushDenormals() = default;
#endif
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
#if defined(__SSE2__)
  unsigned before_;
#endif
};

}  // namespace tocca

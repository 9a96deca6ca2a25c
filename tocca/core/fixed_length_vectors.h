/// To be included before Highway by kernels that keep vectors in arrays: it leaves out the instruction sets whose
/// vectors have a length that the compiler does not know, for which the processor's next best is taken at run time
/// (NEON on Arm).
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

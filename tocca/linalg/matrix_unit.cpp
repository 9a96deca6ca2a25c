#include "tocca/linalg/matrix_unit.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tocca/core/error.h"

#if defined(TOCCA_HAS_MATRIX_UNIT) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tocca::detail {
namespace {

#if defined(TOCCA_HAS_MATRIX_UNIT) && defined(__linux__)
// The processor multiplies tiles of bfloat16, the system saves tiles, and lets this process have some: their content is
// large, so that Linux wants to be asked.
bool find_matrix_unit() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kBfloat16 = 1U << 22, kTiles = 1U << 24;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & kBfloat16) == 0 || (d & kTiles) == 0) return false;
  constexpr unsigned kOsxsave = 1U << 27;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kOsxsave) == 0) return false;
  constexpr std::uint32_t kSaved = 3U << 17;  // configuration and content of tiles
  std::uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if ((low & kSaved) != kSaved) return false;
  constexpr long kRequestPermission = 0x1023, kTileContent = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileContent) == 0;
}
#else
bool find_matrix_unit() { return false; }
#endif

MatrixUnit& current() {
  static MatrixUnit unit = [] {
    const char* const name = std::getenv("TOCCA_MATRIX_UNIT");
    return matrix_unit_named(name != nullptr && *name != '\0' ? name : "auto");
  }();
  return unit;
}

}  // namespace

bool has_matrix_unit() {
  static const bool has = find_matrix_unit();
  return has;
}

MatrixUnit matrix_unit_named(std::string_view name) {
  if (name == "auto") return has_matrix_unit() ? MatrixUnit::kProcessor : MatrixUnit::kNone;
  if (name == "off") return MatrixUnit::kNone;
  if (name == "emulated") return MatrixUnit::kEmulated;
  throw InputError("environment",
                   fmt::format("TOCCA_MATRIX_UNIT: got '{}', need auto, off or emulated; correct or unset it", name));
}

MatrixUnit matrix_unit() { return current(); }

UseMatrixUnit::UseMatrixUnit(MatrixUnit unit) : before_(current()) { current() = unit; }
UseMatrixUnit::~UseMatrixUnit() { current() = before_; }

#if defined(TOCCA_HAS_MATRIX_UNIT)
namespace {
thread_local int users = 0;  // of the calling thread's registers
}

UnitTiles::UnitTiles() {
  if (users++ > 0) return;
  // All eight as large as they can be.
  struct alignas(64) Configuration {
    std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
    std::uint16_t bytes_of_row[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  };
  static constexpr Configuration kWhole;
  static_assert(sizeof(Configuration) == 64);
  asm volatile("ldtilecfg %0" ::"m"(kWhole));
}

UnitTiles::~UnitTiles() {
  if (--users == 0) asm volatile("tilerelease" ::: "memory");
}
#endif

}  // namespace tocca::detail

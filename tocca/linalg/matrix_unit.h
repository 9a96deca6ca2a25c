/// The matrix unit of a processor (AMX of x86-64, since Sapphire Rapids): registers that hold a tile each, 16 rows of
/// 64 bytes, and an instruction that multiplies two tiles of bfloat16 numbers and adds the product to one of float. How
/// products in single precision are made of it: linalg/split_inl.h.
#pragma once

#include <cstddef>
#include <string_view>

namespace tocca::detail {

inline constexpr std::size_t kUnitRows = 16;  ///< of a tile
/// 32-bit words in a row of a tile: floats, or pairs of bfloat16.
inline constexpr std::size_t kUnitWords = 16;
inline constexpr std::size_t kUnitTile = kUnitRows * kUnitWords;  ///< words
/// Terms of the sums that one instruction makes.
inline constexpr std::size_t kUnitTerms = 2 * kUnitWords;

/// Rows or columns of a block of tiles: four of sums stay in registers, with two of each factor.
inline constexpr std::size_t kUnitBlock = 2 * kUnitRows;

enum class MatrixUnit {
  kNone,  ///< vectors do all
  kProcessor,
  kEmulated,  ///< the same instructions on tiles in memory: slow, the same bits
};

/// Whether this processor has one and the system lets this process use it. From the first call on, Linux wants signal
/// stacks of sigaltstack() to have room for tiles, getauxval(AT_MINSIGSTKSZ) bytes.
bool has_matrix_unit();
/// What TOCCA_MATRIX_UNIT in the environment stands for: `auto` for the processor's if there is one, `off` or
/// `emulated`. Throws InputError for anything else.
MatrixUnit matrix_unit_named(std::string_view name);
/// What products in single precision use: the one that the environment names, `auto` without a name (or an empty one).
/// Throws InputError for names that there are not.
MatrixUnit matrix_unit();

/// Another one while it lives; for tests, while no other thread multiplies. How much room products need depends on it.
class UseMatrixUnit {
 public:
  explicit UseMatrixUnit(MatrixUnit unit);
  ~UseMatrixUnit();
  UseMatrixUnit(const UseMatrixUnit&) = delete;
  UseMatrixUnit& operator=(const UseMatrixUnit&) = delete;

 private:
  MatrixUnit before_;
};

#if defined(__x86_64__)
#define TOCCA_HAS_MATRIX_UNIT 1

/// The registers of the calling thread, while it lives. Nothing is known of their content at first, nor after another
/// one has lived in between. The order of the instructions is that of the calls: compilers keep that of volatile ones.
class UnitTiles {
 public:
  UnitTiles();
  ~UnitTiles();
  UnitTiles(const UnitTiles&) = delete;
  UnitTiles& operator=(const UnitTiles&) = delete;

  /// Tile t ← 0.
  template <int t>
  void zero() {
    asm volatile("tilezero %%tmm%c0" ::"i"(t));
  }
  /// Tile t ← rows that begin `stride` words after each other.
  template <int t>
  void load(const void* from, std::size_t stride) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(stride * 4), "i"(t) : "memory");
  }
  template <int t>
  void store(float* to, std::size_t stride) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(stride * 4), "i"(t) : "memory");
  }
  /// Tile c ← tile c + A B: row r of A has numbers 2 k and 2 k + 1 of row r in word k, column j of B has them in word j
  /// of row k. Even numbers and odd ones are summed apart, then both are added.
  template <int c, int a, int b>
  void add_product() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(c), "i"(a), "i"(b));
  }
};
#endif

}  // namespace tocca::detail

// A training step allocates nothing once its buffers are there: counted, with every allocation of this program and of
// the libraries that it calls.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "tocca/train/step.h"

namespace {

std::atomic<bool> counting{false};
std::atomic<long> allocations{0};

void count() {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

// The C library's own allocator under the names that it has for those who stand before it.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t bytes) {
  count();
  return __libc_malloc(bytes);
}
void* calloc(std::size_t items, std::size_t bytes) {
  count();
  return __libc_calloc(items, bytes);
}
void* realloc(void* old, std::size_t bytes) {
  count();
  return __libc_realloc(old, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  count();
  *memory = __libc_memalign(alignment, bytes);
  return *memory == nullptr ? 12 : 0;  // ENOMEM
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  count();
  return __libc_memalign(alignment, bytes);
}
}

namespace {

using namespace tocca;

struct Case {
  const char* name;
  Projection projection;
  bool decorrelated;
  Index batch;
  int threads;
  Index views = 2;
};

constexpr Case kCases[] = {{"tocca-w", Projection::whiten, false, 32, 1},
                           {"tocca-w", Projection::whiten, false, 300, 2},
                           {"tocca-sd", Projection::identity, true, 32, 2},
                           {"tocca-sd", Projection::identity, true, 300, 1},
                           {"tocca-nd", Projection::identity, false, 32, 2},
                           {"tocca-nd", Projection::identity, false, 700, 2, 1},  // these two are cut into pieces
                           {"tocca-w", Projection::whiten, false, 2100, 4, 2}};

long allocations_of(const Case& c) {
  NetworkShape shape;
  shape.inputs = c.views == 1 ? std::vector<Index>{70} : std::vector<Index>{70, 41};
  shape.hidden_layers = 2;
  shape.hidden_size = 140;
  shape.components = 20;
  shape.heads = {{TargetKind::classification, 5, -1}};
  shape.projection = c.projection;
  shape.decorrelated = c.decorrelated;
  Network<float> network(shape);
  network.initialize(Rng(1));
  const Objective objective{.agreement = c.views == 1 ? Agreement::none : Agreement::l2,
                            .decorrelation_weight = c.decorrelated ? 0.1 : 0,
                            .weight_decay = 1e-4,
                            .perturbation = {.dropout = 0.2, .input_dropout = 0.1, .input_noise = 0.1}};
  const Context context = make_context(c.threads);
  TrainingStep<float> step(network, objective, c.batch, context);

  Rng rng(2);
  std::vector<Index> rows(static_cast<std::size_t>(c.batch));
  std::iota(rows.begin(), rows.end(), Index{0});
  std::vector<int> labels;
  for (Index i = 0; i < c.batch; ++i) labels.push_back(i % 7 == 0 ? -1 : static_cast<int>(i % 5));
  Batch batch;
  batch.samples.assign(static_cast<std::size_t>(c.views), rows);
  batch.row_of.assign(static_cast<std::size_t>(c.views), rows);
  batch.labels.assign(static_cast<std::size_t>(c.views), HeadTargets{labels, {}});
  const RowReader<float> read = [](Index view, std::span<const Index> samples, MatrixRef<float> out) {
    for (Index i = 0; i < static_cast<Index>(samples.size()); ++i) {
      for (Index j = 0; j < out.cols(); ++j) out(i, j) = static_cast<float>((i * 7 + j * (3 + view)) % 11) - 5;
    }
  };
  for (int i = 0; i < 3; ++i) step.step(batch, read, rng.split("warm up"), {});
  allocations = 0;
  counting = true;
  for (int i = 0; i < 5; ++i) step.step(batch, read, rng.split("counted"), {});
  counting = false;
  return allocations;
}

// Without this a counter that is not called at all would pass.
bool counts_what_it_should() {
  allocations = 0;
  counting = true;
  std::vector<double> v(100);
  Matrix<float> m = Matrix<float>::Ones(3, 3);
  counting = false;
  return v.size() == 100 && m.size() == 9 && allocations == 2;
}

}  // namespace

int main() {
  if (!counts_what_it_should()) {
    std::puts("the counter does not see a vector's and a matrix's allocation");
    return 1;
  }
  bool passed = true;
  for (const Case& c : kCases) {
    const long found = allocations_of(c);
    std::printf("%-9s batch %4ld, %d threads: %ld allocations in 5 steps\n", c.name, static_cast<long>(c.batch),
                c.threads, found);
    passed = passed && found == 0;
  }
  return passed ? 0 : 1;
}

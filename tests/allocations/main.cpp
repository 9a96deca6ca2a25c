// A training step allocates nothing once its buffers are there: counted, with every allocation of this program and of
// the libraries that it calls.
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "tocca/train/input_layers.h"
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
  Index batch = 32;
  int threads = 2;
  Index views = 2;
  Projection projection = Projection::identity;
  bool decorrelated = false;
  Agreement agreement = Agreement::l2;
  Task task = Task::heads;
  bool all_heads = false;
  bool decoders = false;
  double own_share = 1;  // below 1: mixup
  CcaBasis basis = CcaBasis::aligned;
  Index hidden = 140;
  Index first = 70;  // columns of the first view
  bool perturbed = true;
};

// Every projection, agreement, decorrelation, task and head, with mixup and decoders.
const Case kCases[] = {
    {.name = "tocca-w", .threads = 1, .projection = Projection::whiten},
    {.name = "tocca-w", .batch = 300, .projection = Projection::whiten},
    {.name = "tocca-sd", .decorrelated = true},
    {.name = "tocca-sd", .batch = 300, .threads = 1, .decorrelated = true},
    {.name = "tocca-nd"},
    // These two are cut into pieces.
    {.name = "nn", .batch = 700, .views = 1, .agreement = Agreement::none},
    {.name = "tocca-w", .batch = 2100, .threads = 4, .projection = Projection::whiten},
    // Of this one, layers are shared.
    {.name = "nn", .batch = 100, .threads = 3, .views = 1, .agreement = Agreement::none, .hidden = 300},
    // Of these, parts of the first view's layer.
    {.name = "unequal views", .first = 500},
    {.name = "unequal, undisturbed", .first = 500, .perturbed = false},
    {.name = "unequal, mixup", .decoders = true, .own_share = 0.7, .first = 500},
    {.name = "all heads", .all_heads = true},
    {.name = "all heads, mixup", .projection = Projection::whiten, .all_heads = true, .own_share = 0.7},
    {.name = "softcca", .decorrelated = true, .task = Task::none},
    {.name = "dcca", .agreement = Agreement::trace_norm, .task = Task::none},
    {.name = "dcca of three views", .threads = 3, .views = 3, .agreement = Agreement::trace_norm, .task = Task::none},
    {.name = "dccae, private components", .agreement = Agreement::trace_norm, .task = Task::none, .decoders = true},
    {.name = "dcca-deeplda", .agreement = Agreement::trace_norm, .task = Task::lda},
    {.name = "ccal-ce", .projection = Projection::cca, .agreement = Agreement::none},
    {.name = "ccal-ce", .batch = 2100, .projection = Projection::cca, .agreement = Agreement::none, .decoders = true},
    {.name = "ccal-ce, canonical",
     .projection = Projection::cca,
     .agreement = Agreement::none,
     .basis = CcaBasis::canonical},
    {.name = "ccal-rank", .projection = Projection::cca, .agreement = Agreement::none, .task = Task::ranking},
};

const std::vector<HeadShape> kAllHeads = {{TargetKind::classification, 5, -1},
                                          {TargetKind::regression, 2, 0},
                                          {TargetKind::survival, 1, 1},
                                          {TargetKind::multilabel, 3, 2}};

// Times and properties with gaps and ties, as values of a head of that shape.
HeadTargets targets_of(const HeadShape& head, Index rows) {
  HeadTargets targets;
  targets.values.resize(rows, head.kind == TargetKind::survival ? 2 : head.outputs);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < targets.values.cols(); ++j) {
      const bool flag = head.kind == TargetKind::multilabel || (head.kind == TargetKind::survival && j == 1);
      targets.values(i, j) = static_cast<double>((3 * i + j) % (flag ? 2 : 9));
    }
    if (i % 6 == 0) targets.values.row(i).setConstant(std::nan(""));
  }
  return targets;
}

NetworkShape shape_of(const Case& c) {
  NetworkShape shape;
  shape.inputs = {c.first, 41, 33};
  shape.inputs.resize(static_cast<std::size_t>(c.views));
  shape.hidden_layers = 2;
  shape.hidden_size = c.hidden;
  shape.components = 20;
  if (c.task == Task::heads) shape.heads = {kAllHeads.begin(), c.all_heads ? kAllHeads.end() : kAllHeads.begin() + 1};
  shape.projection = c.projection;
  shape.decorrelated = c.decorrelated;
  shape.paired = c.agreement == Agreement::trace_norm || c.task == Task::ranking;
  shape.reconstructs = c.decoders;
  shape.private_components = c.decoders ? 4 : 0;
  return shape;
}

// A batch of so many samples, of which every third lacks all views but the first, if there are gaps.
Batch batch_of(const Case& c, const NetworkShape& shape, Index samples, bool gaps) {
  const auto views = static_cast<std::size_t>(c.views);
  Batch batch;
  batch.row_of.resize(views);
  batch.samples.resize(views);
  for (std::size_t v = 0; v < views; ++v) {
    HeadTargets labels;
    for (Index i = 0; i < samples; ++i) {
      const bool present = v == 0 || !gaps || i % 3 != 2;
      batch.row_of[v].push_back(present ? static_cast<Index>(batch.samples[v].size()) : -1);
      if (!present) continue;
      batch.samples[v].push_back(i);
      labels.codes.push_back(i % 7 == 0 ? -1 : static_cast<int>(i % 5));
    }
    const auto rows = static_cast<Index>(batch.samples[v].size());
    batch.labels.push_back(labels);
    batch.targets.emplace_back();
    for (const HeadShape& head : shape.heads) {
      if (head.target >= 0) batch.targets.back().push_back(targets_of(head, rows));
    }
    if (c.own_share == 1) continue;
    batch.partner.emplace_back();
    for (Index i = 0; i < rows; ++i) batch.partner.back().push_back((i + 7) % rows);
  }
  batch.own_share = c.own_share;
  return batch;
}

long allocations_of(const Case& c) {
  const NetworkShape shape = shape_of(c);
  Network<float> network(shape);
  network.initialize(Rng(1));
  const Objective objective{.task = c.task,
                            .agreement = c.agreement,
                            .decorrelation_weight = c.decorrelated ? 0.1 : 0,
                            .weight_decay = 1e-4,
                            .perturbation = c.perturbed ? Perturbation{0.2, 0.1, 0.1} : Perturbation{},
                            .cca_basis = c.basis};
  const Context context = make_context(c.threads);
  TrainingStep<float> step(network, objective, c.batch, context);
  // As in an epoch: the last batch is smaller, and with missing views no two have the same number of rows.
  std::vector<Batch> batches;
  for (const bool gaps : {false, true}) {
    for (const Index samples : {c.batch, c.batch - 11}) batches.push_back(batch_of(c, shape, samples, gaps));
  }
  const RowReader<float> read = [](Index view, std::span<const Index> samples, Index first, MatrixRef<float> out) {
    for (Index i = 0; i < static_cast<Index>(samples.size()); ++i) {
      for (Index j = 0; j < out.cols(); ++j)
        out(i, j) = static_cast<float>((i * 7 + (first + j) * (3 + view)) % 11) - 5;
    }
  };
  Rng rng(2);
  const auto epoch = [&] {
    for (const Batch& batch : batches) step.step(batch, read, rng.split("step"), {});
  };
  for (int i = 0; i < 3; ++i) epoch();
  allocations = 0;
  counting = true;
  for (int i = 0; i < 2; ++i) epoch();
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
    if (c.first > 100 && share_inputs(shape_of(c), c.batch).empty()) {
      std::printf("%s: nothing is shared\n", c.name);
      passed = false;
    }
    const long found = allocations_of(c);
    std::printf("%-25s batch %4ld, %d threads: %ld allocations in 8 steps\n", c.name, static_cast<long>(c.batch),
                c.threads, found);
    passed = passed && found == 0;
  }
  return passed ? 0 : 1;
}

// Learns a shared space of two views, classifies one view by a classifier that has only seen the other, and saves
// the model.
//
//   example_two_views
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "tocca/core/rng.h"
#include "tocca/evaluate/protocol.h"
#include "tocca/methods/methods.h"

namespace {

// Two noisy non-linear measurements of the same angle; the class is the quarter of the circle it lies in.
tocca::Dataset circle(tocca::Index samples, std::uint64_t seed) {
  tocca::Rng rng(seed);
  tocca::Matrix<double> left(samples, 2);
  tocca::Matrix<double> right(samples, 3);
  std::vector<std::string> classes;
  tocca::Dataset data;
  for (tocca::Index i = 0; i < samples; ++i) {
    const double angle = 6.283185 * rng.uniform();
    const auto noise = [&] { return 0.2 * rng.normal(); };
    left.row(i) << std::cos(angle) + noise(), std::sin(angle) + noise();
    right.row(i) << std::sin(2 * angle) + noise(), std::cos(3 * angle) + noise(), std::sin(angle) + noise();
    classes.push_back(std::to_string(static_cast<int>(angle / 1.5707963)));
    data.views.samples.push_back(std::to_string(i));
  }
  std::vector<tocca::Index> rows(static_cast<std::size_t>(samples));
  std::iota(rows.begin(), rows.end(), 0);
  data.views.views = {{"left", {"x", "y"}, tocca::Table(std::move(left)), rows},
                      {"right", {"a", "b", "c"}, tocca::Table(std::move(right)), rows}};
  data.labels = tocca::make_labels(classes);
  return data;
}

}  // namespace

int main() {
  const tocca::Dataset training = circle(800, 1);
  const tocca::Dataset test = circle(400, 2);
  const tocca::Context context = tocca::make_context();
  tocca::Options options{.method = "tocca-sd", .n_components = 6, .hidden_size = 64, .epochs = 30};

  const auto [model, summary] = tocca::fit(training, nullptr, options, context);
  std::printf("%s\n", summary.message.c_str());
  bool good = true;
  for (const auto& score : tocca::cross_view_scores(model, training, test, {}, tocca::Rng(3), context)) {
    std::printf("%-5s -> %-5s  %.3f\n", score.train_view.c_str(), score.test_view.c_str(), score.value);
    good = good && score.value > 0.6;  // chance is 0.25
  }
  const auto path = std::filesystem::temp_directory_path() / "tocca_example.safetensors";
  tocca::save_model(model, path.string());
  std::filesystem::remove(path);
  return good ? 0 : 1;
}

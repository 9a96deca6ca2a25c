#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <initializer_list>
#include <memory>

#include "cli/command.h"
#include "cli/paper_experiment.h"
#include "tocca/core/error.h"
#include "tocca/core/text.h"
#include "tocca/methods/methods.h"

namespace tocca::cli {
namespace {

// What can be repeated. A new experiment is one file and one line.
struct Reproducible {
  std::string_view name;
  PaperExperiment (*make)(const ReproduceRequest&, const Session&, const Context&);  ///< null: run_runtime
};
constexpr Reproducible kReproducible[] = {
    {"mnist", mnist_experiment}, {"breast", breast_experiment}, {"xrmb", xrmb_experiment}, {"runtime", nullptr}};

const Reproducible& find_experiment(const std::string& name) {
  std::vector<std::string> names;
  for (const Reproducible& experiment : kReproducible) {
    if (experiment.name == name) return experiment;
    names.emplace_back(experiment.name);
  }
  throw InputError("reproduce", unknown_name("experiment", name, names));
}

// Options whose value does not tell whether they were given.
struct Given {
  const CLI::Option* frames;
  const CLI::Option* validation_images;
};

void check(const ReproduceRequest& request, const Given& options) {
  if (request.splits < 0 || request.splits > 1000) {
    throw InputError("--splits", fmt::format("got {}, need 1 to 1000", request.splits));
  }
  if (request.tune < 0) throw InputError("--tune", fmt::format("got {}, need 0 or more", request.tune));
  if (request.budget && !(*request.budget > 0)) {
    throw InputError("--budget", fmt::format("got {}, need hours, above 0", *request.budget));
  }
  const auto belongs = [&](bool given, const char* option, std::initializer_list<std::string_view> experiments) {
    if (!given || std::find(experiments.begin(), experiments.end(), request.experiment) != experiments.end()) return;
    throw InputError(option,
                     fmt::format("it has no place in {}, but in {}", request.experiment, join(experiments, ", ")));
  };
  belongs(!request.sizes.empty(), "--n", {"mnist"});
  belongs(!request.batch_sizes.empty(), "--batch-sizes", {"mnist"});
  belongs(!request.labels.empty(), "--labels", {"breast"});
  belongs(!request.fractions.empty(), "--fractions", {"xrmb"});
  belongs(request.synthetic, "--synthetic", {"xrmb"});
  belongs(options.frames->count() > 0, "--frames", {"xrmb"});
  belongs(options.validation_images->count() > 0, "--validation-images", {"mnist"});
  belongs(!request.data.empty(), "--data", {"mnist", "breast", "xrmb"});
  if (request.synthetic && !request.data.empty()) {
    throw InputError("--data", "--synthetic makes its own data; need one of the two");
  }
  if (!request.synthetic && options.frames->count() > 0) {
    throw InputError("--frames", "it is the number of frames that --synthetic makes; give both, or none");
  }
  belongs(request.budget.has_value(), "--budget", {"mnist", "breast", "xrmb"});
  belongs(request.tune > 0, "--tune", {"mnist", "breast", "xrmb"});
  belongs(request.splits > 0, "--splits", {"mnist", "breast", "xrmb"});
  belongs(!request.out.empty(), "--out", {"mnist", "breast", "xrmb"});
  for (const std::string& method : request.methods) find_method(method);
  const bool needs_data = request.experiment != "runtime" && !request.synthetic;
  if (needs_data && request.data.empty()) {
    throw InputError("reproduce", fmt::format("{}: need --data DIR, the folder with its files", request.experiment));
  }
}

int run_reproduce(const ReproduceRequest& request, const Given& given, Session& session) {
  const Reproducible& experiment = find_experiment(request.experiment);
  check(request, given);
  if (experiment.make == nullptr) return run_runtime(request, session);
  Context context = session.context();
  return run_paper_experiment(experiment.make(request, session, context), request, session);
}

}  // namespace

Action set_up_reproduce(CLI::App& app) {
  const auto request = std::make_shared<ReproduceRequest>();
  app.add_option("EXPERIMENT", request->experiment,
                 "mnist: halves of handwritten digits (Figure 2); breast: a second view in training only (Table 1); "
                 "xrmb: speech, joint and semi-supervised (Tables 2 and 3); runtime: training times (Table S3)")
      ->required();
  app.add_option("--data", request->data, "Folder with the published files")->type_name("DIR");
  app.add_option("--splits", request->splits, "Splits of each cell (default: as the paper has it)")->type_name("N");
  app.add_option("--tune", request->tune,
                 "Settings tried in a random search on validation samples; 0: settings as they are here")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--methods", request->methods, "Methods, separated by commas (default: the paper's)")
      ->type_name("A,B,C")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--budget", request->budget,
                 "Hours that it may take: settings, splits and cells are cut to fit, and it is said what is left out")
      ->type_name("HOURS");
  app.add_option("--n", request->sizes, "mnist: training images, drawn anew for each split (default 1000)")
      ->type_name("N,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--batch-sizes", request->batch_sizes, "mnist: a curve over batch sizes, with the first of --n")
      ->type_name("N,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  Given given{};
  given.validation_images =
      app.add_option(
             "--validation-images", request->validation_images,
             "mnist: of the 10,000 images kept for validation, how many are used: scoring all of them after each "
             "epoch costs more than training when n is small")
          ->type_name("N")
          ->capture_default_str();
  app.add_option("--labels", request->labels, "breast: columns of labels (default er, pr, subtype)")
      ->type_name("A,B")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--fractions", request->fractions, "xrmb: shares of the labels for Table 3 (default: none)")
      ->type_name("F,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_flag("--synthetic", request->synthetic, "xrmb: data made in the shape of the corpus instead of --data");
  given.frames = app.add_option("--frames", request->frames, "xrmb: frames of synthetic data")
                     ->type_name("N")
                     ->capture_default_str();
  add_set_option(app, request->settings);
  app.add_option("--out", request->out,
                 "Folder for report.html, tables, and results.db, from which the same command goes on")
      ->type_name("DIR");
  return [request, given](Session& session) { return run_reproduce(*request, given, session); };
}

}  // namespace tocca::cli

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/model_data.h"
#include "cli/outputs.h"
#include "cli/run.h"
#include "tocca/core/error.h"
#include "tocca/core/file.h"
#include "tocca/core/text.h"

namespace tocca::cli {
namespace {

struct PredictRequest {
  ModelRequest input;
  std::string out;
};

// Averaged log-probabilities no longer sum to one as probabilities; this makes them do so.
void normalize_probabilities(Matrix<double>& scores) {
  for (Index i = 0; i < scores.rows(); ++i) {
    const RowVector<double> p = (scores.row(i).array() - scores.row(i).maxCoeff()).exp().matrix();
    scores.row(i) = p / p.sum();
  }
}

void write_predictions(const std::string& path, const ModelData& loaded, const Prediction& prediction) {
  const bool probabilities = loaded.model.has_head();
  Matrix<double> scores = prediction.scores;
  if (probabilities) normalize_probabilities(scores);
  write_file(path, [&](std::ostream& out) {
    out << "sample,predicted";
    for (const std::string& name : loaded.model.classes) {
      out << ',' << csv_field((probabilities ? "p:" : "score:") + name);
    }
    out << '\n';
    for (Index i = 0; i < scores.rows(); ++i) {
      const int code = prediction.codes[static_cast<std::size_t>(i)];
      std::string line = csv_field(loaded.views.samples[static_cast<std::size_t>(i)]) + ',';
      if (code >= 0) line += csv_field(loaded.model.classes[static_cast<std::size_t>(code)]);
      for (Index c = 0; c < scores.cols(); ++c) line += code >= 0 ? fmt::format(",{}", scores(i, c)) : ",";
      out << line << '\n';
    }
  });
}

std::vector<Index> count_classes(const ModelData& loaded, const Prediction& prediction) {
  std::vector<Index> counts(loaded.model.classes.size(), 0);
  for (const int code : prediction.codes) {
    if (code >= 0) ++counts[static_cast<std::size_t>(code)];
  }
  return counts;
}

int run_predict(const PredictRequest& request, Session& session) {
  require_writable("--out", request.out);
  if (request.out.ends_with(".npy")) {
    throw InputError("--out",
                     fmt::format("got '{}', need a CSV file: predictions hold texts; give FILE.csv", request.out));
  }
  require_not_input("--out", request.out, input_files(request.input));
  const Context context = session.context();
  const ModelData loaded = load_model_and_data(request.input, session, context);
  const Prediction prediction = predict(loaded.model, loaded.views, context);
  write_predictions(request.out, loaded, prediction);
  const std::vector<Index> counts = count_classes(loaded, prediction);
  Index predicted = 0;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (std::size_t c = 0; c < counts.size(); ++c) {
    rows.push_back({{"class", loaded.model.classes[c]}, {"samples", counts[c]}});
    predicted += counts[c];
  }
  const Index without = loaded.views.size() - predicted;
  session.note(fmt::format("{} predictions in {}\n", predicted, request.out));
  if (without > 0) session.warn(fmt::format("{} samples have no view and no prediction", without));
  session.json(rows, loaded.seed,
               {{"method", loaded.model.method},
                {"out", request.out},
                {"samples", loaded.views.size()},
                {"without_view", without}});
  return kSuccess;
}

}  // namespace

Action set_up_predict(CLI::App& app) {
  const auto request = std::make_shared<PredictRequest>();
  add_model_options(app, request->input, LabelUse::none);
  app.add_option("--out", request->out,
                 "CSV file to write: sample, predicted, then p:CLASS (probabilities of a network) or score:CLASS "
                 "(decision values of a linear method); empty for a sample without any view")
      ->type_name("FILE.csv")
      ->required();
  return [request](Session& session) { return run_predict(*request, session); };
}

}  // namespace tocca::cli

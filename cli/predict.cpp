#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
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

// Columns of the output: numbers of each sample, or texts.
struct OutputColumn {
  std::string name;
  std::vector<std::string> cells;  ///< (n)
};

OutputColumn number_column(std::string name, const Matrix<double>& values, Index c, const std::vector<bool>& there) {
  OutputColumn column{std::move(name), {}};
  for (Index i = 0; i < values.rows(); ++i) {
    column.cells.push_back(there[static_cast<std::size_t>(i)] ? fmt::format("{}", values(i, c)) : "");
  }
  return column;
}

void add_classes(std::vector<OutputColumn>& columns, const std::string& suffix, const std::vector<std::string>& classes,
                 const std::vector<int>& codes, const Matrix<double>& scores, bool probabilities) {
  OutputColumn predicted{"predicted" + suffix, {}};
  std::vector<bool> there;
  for (const int code : codes) {
    there.push_back(code >= 0);
    predicted.cells.push_back(code >= 0 ? classes[static_cast<std::size_t>(code)] : "");
  }
  columns.push_back(std::move(predicted));
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const std::string name = (probabilities ? "p" : "score") + suffix + ":" + classes[c];
    columns.push_back(number_column(name, scores, static_cast<Index>(c), there));
  }
}

void add_target(std::vector<OutputColumn>& columns, const ModelTarget& target, const Matrix<double>& values) {
  std::vector<bool> there;
  for (Index i = 0; i < values.rows(); ++i) there.push_back(!std::isnan(values(i, 0)));
  if (target.kind == TargetKind::classification) {
    std::vector<int> codes = largest_column(values);
    for (std::size_t i = 0; i < codes.size(); ++i) {
      if (!there[i]) codes[i] = -1;
    }
    add_classes(columns, ":" + target.name(), target.classes, codes, values, true);
    return;
  }
  if (target.kind == TargetKind::survival) {
    columns.push_back(number_column("log_hazard:" + target.name(), values, 0, there));
    return;
  }
  const char* const what = target.kind == TargetKind::multilabel ? "p:" : "predicted:";
  for (Index c = 0; c < values.cols(); ++c) {
    columns.push_back(number_column(what + target.columns[static_cast<std::size_t>(c)], values, c, there));
  }
}

void write_columns(const std::string& path, const std::vector<std::string>& samples,
                   const std::vector<OutputColumn>& columns) {
  write_file(path, [&](std::ostream& out) {
    out << "sample";
    for (const OutputColumn& column : columns) out << ',' << csv_field(column.name);
    out << '\n';
    for (std::size_t i = 0; i < samples.size(); ++i) {
      out << csv_field(samples[i]);
      for (const OutputColumn& column : columns) out << ',' << csv_field(column.cells[i]);
      out << '\n';
    }
  });
}

std::string part_names(const FittedModel& model) {
  std::vector<std::string> names;
  for (const FusedPart& part : model.fused) names.push_back(part.name);
  return join(names, ", ");
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
  const FittedModel& model = loaded.model;
  Prediction prediction;
  std::vector<OutputColumn> columns;
  if (model.predicts() || model.targets.empty()) {
    prediction = predict(model, loaded.views, context);
    add_classes(columns, "", model.classes, prediction.codes, prediction.scores, model.has_probabilities());
  }
  for (std::size_t t = 0; t < model.targets.size(); ++t) {
    add_target(columns, model.targets[t], predict_target(model, t, loaded.views, context));
  }
  write_columns(request.out, loaded.views.samples, columns);
  const std::vector<Index> counts = count_classes(loaded, prediction);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (std::size_t c = 0; c < counts.size(); ++c) {
    rows.push_back({{"class", model.classes[c]}, {"samples", counts[c]}});
  }
  const Index without = loaded.views.size() - static_cast<Index>(loaded.views.with_any_view().size());
  session.note(fmt::format("{} predictions in {}\n", loaded.views.size() - without, request.out));
  if (without > 0 && model.fused.empty()) {
    session.warn(fmt::format("{} samples have no view and no prediction", without));
  } else if (without > 0) {
    session.warn(fmt::format("{} samples have no prediction: the model needs all of {} of a sample", without,
                             part_names(model)));
  }
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
  app.add_option(
         "--out", request->out,
         "CSV file to write: sample, predicted, then p:CLASS (probabilities) or score:CLASS (decision values of "
         "a linear SVM or spls-da); of other targets predicted:COLUMN, log_hazard:TIME,EVENT or p:COLUMN; empty "
         "for a sample without any view")
      ->type_name("FILE.csv")
      ->required();
  return [request](Session& session) { return run_predict(*request, session); };
}

}  // namespace tocca::cli

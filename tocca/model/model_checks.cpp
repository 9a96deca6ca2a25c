#include "tocca/model/model_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "tocca/core/error.h"

namespace tocca::detail {
namespace {

constexpr Index kMost = 100000000;

bool in_range(Index value, Index least, Index most) { return value >= least && value <= most; }

bool possible(const HeadShape& head) {
  const Index least = head.kind == TargetKind::classification ? 2 : 1;
  const Index most = head.kind == TargetKind::survival ? 1 : kMost;
  return in_range(head.outputs, least, most) && head.target >= -1;
}

bool possible(const NetworkShape& s, std::size_t views) {
  return s.inputs.size() == views && in_range(s.hidden_layers, 0, 1000) && in_range(s.hidden_size, 1, kMost) &&
         in_range(s.components, 1, kMost) && in_range(s.private_components, 0, kMost) && s.heads.size() <= 1000 &&
         s.momentum >= 0 && s.momentum < 1 && s.whitening.epsilon >= 0 &&
         std::all_of(s.heads.begin(), s.heads.end(), [](const HeadShape& head) { return possible(head); });
}

template <class S>
void require_shape(const Matrix<S>& tensor, const std::string& name, Index rows, Index columns) {
  if (tensor.rows() != rows || tensor.cols() != columns) damaged(fmt::format("tensor '{}' has another shape", name));
}

void check_encoders(const NetworkShape& s, const TensorFile& file) {
  for (std::size_t v = 0; v < s.inputs.size(); ++v) {
    Index in = s.inputs[v];
    for (Index l = 0; l <= s.hidden_layers; ++l) {
      const bool last = l == s.hidden_layers;
      const std::string name = fmt::format("view{}.{}.weight", v, last ? "output" : fmt::format("hidden{}", l));
      const Index out = last ? s.encoder_outputs() : s.hidden_size;
      require_shape(file.matrix_f(name), name, in, out);
      in = out;
    }
    if (!s.reconstructs) continue;
    const std::string name = fmt::format("view{}.decoder.output.weight", v);
    require_shape(file.matrix_f(name), name, s.hidden_layers > 0 ? s.hidden_size : s.encoder_outputs(), s.inputs[v]);
  }
}

// Tells of one model what does not fit together.
class ModelChecks {
 public:
  ModelChecks(const FittedModel& model, const std::string& path)
      : model_(model), path_(path), classes_(static_cast<Index>(model.classes.size())) {}

  void run() const {
    require(!model_.views.empty(), "it has no views");
    require(distinct(model_.classes), "a class occurs twice");
    check_heads();
    check_targets();
    check_combination();
    check_projections();
    check_classifiers();
    check_pairs();
    check_finite();
  }

 private:
  void require(bool holds, const char* what) const {
    if (!holds) throw InputError("load model", fmt::format("{}: {}; the file is damaged", path_, what));
  }

  static bool distinct(const std::vector<std::string>& names) {
    return std::set<std::string>(names.begin(), names.end()).size() == names.size();
  }

  [[nodiscard]] Index columns_of(const ViewSchema& view) const { return static_cast<Index>(view.features.size()); }

  void check_heads() const {
    require(model_.targets.empty() || model_.network, "targets without a network");
    if (!model_.network) return;
    const auto& heads = model_.network->shape.heads;
    require(heads.size() == model_.targets.size() + (model_.has_head() ? 1 : 0), "heads and targets do not match");
    require(!model_.has_head() || (heads[0].kind == TargetKind::classification && heads[0].outputs == classes_),
            "network and classes do not match");
    for (std::size_t t = 0; t < model_.targets.size(); ++t) {
      const HeadShape& head = heads[model_.head_of(t)];
      const ModelTarget& target = model_.targets[t];
      require(head.target == static_cast<int>(t) && head.kind == target.kind && !target.columns.empty() &&
                  head.outputs == outputs_for(target.kind, target.columns.size(), target.classes.size()),
              "heads and targets do not match");
    }
  }

  void check_targets() const {
    for (const ModelTarget& target : model_.targets) {
      require(distinct(target.classes) && distinct(target.columns), "a class or column of a target occurs twice");
      require(target.kind != TargetKind::survival || target.columns.size() == 2,
              "a survival target without two columns");
    }
  }

  void check_combination() const {
    const auto& weights = model_.combination.view_weights;
    require(weights.empty() || weights.size() == model_.views.size(), "weights and views do not match");
    for (const double weight : weights) require(weight >= 1e-9 && weight <= 1e9, "the weight of a view is impossible");
    std::vector<std::string> fused;
    for (const FusedPart& part : model_.fused) {
      require(distinct(part.features), "a fused column occurs twice");
      for (const std::string& feature : part.features) fused.push_back(part.name + ":" + feature);
    }
    require(model_.fused.empty() || (model_.views.size() == 1 && fused == model_.views[0].features),
            "fused columns and views do not match");
  }

  void check_projections() const {
    for (std::size_t v = 0; v < model_.views.size(); ++v) {
      const Index columns = columns_of(model_.views[v]);
      if (model_.network) require(model_.network->shape.inputs[v] == columns, "network and columns do not match");
      if (model_.weights.empty()) continue;
      const Index rows = model_.network ? model_.network->shape.components : columns;
      require(model_.weights.size() == model_.views.size() && model_.weights[v].rows() == rows,
              "weights and columns do not match");
      require(model_.weights[v].cols() == model_.weights[0].cols(), "weights of two views do not match");
    }
  }

  void check_classifier(const LinearClassifier& classifier, Index reads) const {
    require(classes_ >= 2 && classifier.weights.cols() == classes_, "classifier and classes do not match");
    require(classifier.weights.rows() == reads, "classifier and what it reads do not match");
  }

  void check_classifiers() const {
    const std::size_t count = model_.classifiers.size();
    const std::size_t views = model_.views.size();
    require(count == 0 || count == views || (count == 1 && model_.projects()), "classifiers and views do not match");
    for (std::size_t c = 0; c < count; ++c) {
      check_classifier(model_.classifiers[c], model_.projects() ? model_.components() : columns_of(model_.views[c]));
    }
    if (!model_.joint) return;
    require(model_.projects(), "a joint classifier without projections");
    Index reads = model_.view_count() * model_.components();
    for (const ViewSchema& view : model_.views) reads += columns_of(view);
    check_classifier(*model_.joint, reads);
  }

  void check_pairs() const {
    for (const CanonicalPair& pair : model_.pairs) {
      require(pair.u >= 0 && pair.u < pair.v && pair.v < model_.view_count(), "canonical pairs and views do not match");
      require(pair.weights_u.rows() == model_.components() && pair.weights_v.rows() == model_.components() &&
                  pair.weights_u.cols() == pair.weights_v.cols(),
              "canonical pairs and projections do not match");
    }
  }

  void check_finite() const {
    const auto finite = [&](const auto&... values) {
      require((values.allFinite() && ...), "one of its numbers is not finite");
    };
    require(!model_.network || model_.network->finite(), "a weight of its network is not finite");
    for (const ViewSchema& view : model_.views) {
      finite(view.standardizer.mean, view.standardizer.shift, view.standardizer.scale);
    }
    for (const auto& weights : model_.weights) finite(weights);
    for (const auto& centre : model_.centres) finite(centre);
    for (const LinearClassifier& classifier : model_.classifiers) finite(classifier.weights, classifier.bias);
    if (model_.joint) finite(model_.joint->weights, model_.joint->bias);
    for (const ModelTarget& target : model_.targets) finite(target.mean, target.scale);
    for (const CanonicalPair& pair : model_.pairs) {
      finite(pair.mean_u, pair.mean_v, pair.weights_u, pair.weights_v, pair.correlations);
    }
  }

  const FittedModel& model_;
  const std::string& path_;
  Index classes_;
};

}  // namespace

void damaged(const std::string& what) { throw InputError("load model", what + "; the file is damaged"); }

void check_shape(const NetworkShape& s, const TensorFile& file, std::size_t views) {
  if (!possible(s, views)) damaged("the shape of its network is impossible");
  check_encoders(s, file);
  const auto square = [&](const char* name) { require_shape(file.matrix_d(name), name, s.components, s.components); };
  if (s.keeps_pairs() && views > 1) square("statistics.pair0_1.covariance11");
  if (s.projection == Projection::whiten) square("statistics.view0.whitening.covariance");
  if (s.decorrelated) square("statistics.view0.decorrelation.cross");
  for (std::size_t h = 0; h < s.heads.size(); ++h) {
    const std::string number = h == 0 ? "" : std::to_string(h);
    const std::string name = fmt::format("{}head{}.weight", s.shared_head ? "" : "view0.", number);
    require_shape(file.matrix_f(name), name, s.components, s.heads[h].outputs);
  }
}

void check_consistent(const FittedModel& model, const std::string& path) { ModelChecks(model, path).run(); }

}  // namespace tocca::detail

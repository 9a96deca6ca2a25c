// The model file: safetensors with the model's texts as metadata. See docs/model-format.md.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/model/fitted_model.h"
#include "tocca/model/safetensors.h"

namespace tocca {
namespace {

using nlohmann::json;

constexpr int kFormatVersion = 2;
constexpr const char* kFormatName = "tocca-model";

std::string numbered(const char* what, std::size_t i) { return fmt::format("{}{}", what, i); }

template <class S>
void add_buffer(TensorFile& file, const std::string& prefix, const Layout& layout, const Buffer<S>& buffer) {
  for (const Slot& slot : layout.slots()) file.add(prefix + slot.name, Matrix<S>(buffer[slot]));
}

[[noreturn]] void damaged(const std::string& what) { throw InputError("load model", what + "; the file is damaged"); }

// A vector of the file, which says itself what shape it has.
RowVector<double> row(const TensorFile& file, const std::string& name, Index columns) {
  const Matrix<double>& values = file.matrix_d(name);
  if (values.rows() != 1 || values.cols() != columns) {
    damaged(fmt::format("tensor '{}': got {} × {}, need 1 × {}", name, values.rows(), values.cols(), columns));
  }
  return values.row(0);
}

const Matrix<float>& tensor(const TensorFile& file, const std::string& name, float) { return file.matrix_f(name); }
const Matrix<double>& tensor(const TensorFile& file, const std::string& name, double) { return file.matrix_d(name); }

template <class S>
void read_buffer(const TensorFile& file, const std::string& prefix, const Layout& layout, Buffer<S>& buffer) {
  for (const Slot& slot : layout.slots()) {
    const Matrix<S>& values = tensor(file, prefix + slot.name, S());
    if (values.rows() != slot.rows || values.cols() != slot.columns) {
      throw InputError("load model", fmt::format("tensor '{}': got {} × {}, need {} × {}; the file is damaged",
                                                 slot.name, values.rows(), values.cols(), slot.rows, slot.columns));
    }
    buffer[slot] = values;
  }
}

json pairs_to_json(const NamedTexts& texts) {
  json list = json::array();
  for (const auto& [name, text] : texts) list.push_back({name, text});
  return list;
}

NamedTexts pairs_from_json(const json& list) { return list.get<NamedTexts>(); }

constexpr std::pair<std::string_view, Projection> kProjections[] = {
    {"identity", Projection::identity}, {"whiten", Projection::whiten}, {"cca", Projection::cca}};

std::string_view word_of(Projection projection) {
  const auto same = [&](const auto& entry) { return entry.second == projection; };
  return std::find_if(std::begin(kProjections), std::end(kProjections), same)->first;
}

Projection parse_projection(const std::string& text) {
  for (const auto& [word, projection] : kProjections) {
    if (text == word) return projection;
  }
  damaged(fmt::format("unknown projection '{}'", text));
}

constexpr std::pair<std::string_view, Link> kLinks[] = {
    {"none", Link::none}, {"softmax", Link::softmax}, {"one-vs-rest", Link::one_vs_rest}};

std::string_view word_of(Link link) {
  const auto same = [&](const auto& entry) { return entry.second == link; };
  return std::find_if(std::begin(kLinks), std::end(kLinks), same)->first;
}

Link parse_link(const std::string& text) {
  for (const auto& [word, link] : kLinks) {
    if (text == word) return link;
  }
  damaged(fmt::format("unknown link '{}'", text));
}

json heads_to_json(const std::vector<HeadShape>& heads) {
  json list = json::array();
  for (const HeadShape& head : heads) {
    list.push_back({{"kind", name_of(head.kind)}, {"outputs", head.outputs}, {"target", head.target}});
  }
  return list;
}

std::vector<HeadShape> heads_from_json(const json& list) {
  std::vector<HeadShape> heads;
  for (const json& head : list) {
    heads.push_back({parse_target_kind(head.at("kind").get<std::string>()), head.at("outputs"), head.at("target")});
  }
  return heads;
}

json shape_to_json(const NetworkShape& s) {
  return {{"inputs", s.inputs},
          {"hidden_layers", s.hidden_layers},
          {"hidden_size", s.hidden_size},
          {"components", s.components},
          {"heads", heads_to_json(s.heads)},
          {"shared_head", s.shared_head},
          {"projection", word_of(s.projection)},
          {"paired", s.paired},
          {"private_components", s.private_components},
          {"reconstructs", s.reconstructs},
          {"decorrelated", s.decorrelated},
          {"momentum", s.momentum},
          {"whitening_epsilon", s.whitening.epsilon},
          {"running_covariance", s.whitening.running}};
}

// A file that was tampered with must not make the network larger than what the file holds.
void check_shape(const NetworkShape& s, const TensorFile& file, std::size_t views) {
  const auto in_range = [](Index value, Index least, Index most) { return value >= least && value <= most; };
  constexpr Index kMost = 100000000;
  const bool plausible = s.inputs.size() == views && in_range(s.hidden_layers, 0, 1000) &&
                         in_range(s.hidden_size, 1, kMost) && in_range(s.components, 1, kMost) &&
                         in_range(s.private_components, 0, kMost) && s.heads.size() <= 1000 && s.momentum >= 0 &&
                         s.momentum < 1 && s.whitening.epsilon >= 0 &&
                         std::all_of(s.heads.begin(), s.heads.end(), [&](const HeadShape& head) {
                           const bool survival = head.kind == TargetKind::survival;
                           const Index least = head.kind == TargetKind::classification ? 2 : 1;
                           return in_range(head.outputs, least, survival ? 1 : kMost) && head.target >= -1;
                         });
  if (!plausible) damaged("the shape of its network is impossible");
  for (std::size_t v = 0; v < views; ++v) {
    Index in = s.inputs[v];
    for (Index l = 0; l <= s.hidden_layers; ++l) {
      const bool last = l == s.hidden_layers;
      const std::string name = fmt::format("view{}.{}.weight", v, last ? "output" : fmt::format("hidden{}", l));
      const Matrix<float>& weight = file.matrix_f(name);
      const Index out = last ? s.encoder_outputs() : s.hidden_size;
      if (weight.rows() != in || weight.cols() != out) damaged(fmt::format("tensor '{}' has another shape", name));
      in = out;
    }
  }
  // What has the square of the components, or classes, as its size.
  const auto require_shape = [&](const auto& matrix, const char* name, Index rows, Index columns) {
    if (matrix.rows() != rows || matrix.cols() != columns) damaged(fmt::format("tensor '{}' has another shape", name));
  };
  const Index k = s.components;
  if (s.keeps_pairs() && views > 1) {
    const char* const name = "statistics.pair0_1.covariance11";
    require_shape(file.matrix_d(name), name, k, k);
  }
  if (s.projection == Projection::whiten) {
    const char* const name = "statistics.view0.whitening.covariance";
    require_shape(file.matrix_d(name), name, k, k);
  }
  if (s.decorrelated) {
    const char* const name = "statistics.view0.decorrelation.cross";
    require_shape(file.matrix_d(name), name, k, k);
  }
  if (s.reconstructs) {
    for (std::size_t v = 0; v < views; ++v) {
      const std::string name = fmt::format("view{}.decoder.output.weight", v);
      require_shape(file.matrix_f(name), name.c_str(), s.hidden_layers > 0 ? s.hidden_size : s.encoder_outputs(),
                    s.inputs[v]);
    }
  }
  for (std::size_t h = 0; h < s.heads.size(); ++h) {
    const std::string name =
        fmt::format("{}head{}.weight", s.shared_head ? "" : "view0.", h == 0 ? "" : std::to_string(h));
    require_shape(file.matrix_f(name), name.c_str(), k, s.heads[h].outputs);
  }
}

NetworkShape shape_from_json(const json& j) {
  NetworkShape s;
  s.inputs = j.at("inputs").get<std::vector<Index>>();
  s.hidden_layers = j.at("hidden_layers");
  s.hidden_size = j.at("hidden_size");
  s.components = j.at("components");
  s.heads = heads_from_json(j.at("heads"));
  s.shared_head = j.at("shared_head");
  s.projection = parse_projection(j.at("projection").get<std::string>());
  s.paired = j.at("paired");
  s.private_components = j.at("private_components");
  s.reconstructs = j.at("reconstructs");
  s.decorrelated = j.at("decorrelated");
  s.momentum = j.at("momentum");
  s.whitening.epsilon = j.at("whitening_epsilon");
  s.whitening.running = j.at("running_covariance");
  return s;
}

void add_view(TensorFile& file, json& list, const ViewSchema& view, std::size_t v) {
  const std::string name = numbered("preprocessing.view", v);
  file.add(name + ".mean", Matrix<double>(view.standardizer.mean));
  file.add(name + ".shift", Matrix<double>(view.standardizer.shift));
  file.add(name + ".scale", Matrix<double>(view.standardizer.scale));
  list.push_back({{"name", view.name},
                  {"features", view.features},
                  {"standardize", name_of(view.standardizer.mode)},
                  {"missing", name_of(view.standardizer.missing)},
                  {"constant", view.standardizer.constant}});
}

ViewSchema read_view(const TensorFile& file, const json& j, std::size_t v) {
  const std::string name = numbered("preprocessing.view", v);
  ViewSchema view;
  view.name = j.at("name");
  view.features = j.at("features").get<std::vector<std::string>>();
  Standardizer& s = view.standardizer;
  s.mode = parse_standardize(j.at("standardize").get<std::string>());
  s.missing = parse_missing_values(j.at("missing").get<std::string>());
  s.constant = j.at("constant").get<std::vector<Index>>();
  const auto columns = static_cast<Index>(view.features.size());
  s.mean = row(file, name + ".mean", columns);
  s.shift = row(file, name + ".shift", columns);
  s.scale = row(file, name + ".scale", columns);
  return view;
}

void add_pair(TensorFile& file, json& list, const CanonicalPair& pair, std::size_t i) {
  const std::string name = numbered("canonical", i);
  file.add(name + ".mean_u", Matrix<double>(pair.mean_u));
  file.add(name + ".mean_v", Matrix<double>(pair.mean_v));
  file.add(name + ".weights_u", pair.weights_u);
  file.add(name + ".weights_v", pair.weights_v);
  file.add(name + ".correlations", Matrix<double>(pair.correlations.transpose()));
  list.push_back({pair.u, pair.v});
}

CanonicalPair read_pair(const TensorFile& file, const json& j, std::size_t i) {
  const std::string name = numbered("canonical", i);
  CanonicalPair pair;
  pair.u = j.at(0);
  pair.v = j.at(1);
  pair.weights_u = file.matrix_d(name + ".weights_u");
  pair.weights_v = file.matrix_d(name + ".weights_v");
  pair.mean_u = row(file, name + ".mean_u", pair.weights_u.rows());
  pair.mean_v = row(file, name + ".mean_v", pair.weights_v.rows());
  pair.correlations = row(file, name + ".correlations", pair.weights_u.cols()).transpose();
  return pair;
}

void add_targets(TensorFile& file, json& list, const std::vector<ModelTarget>& targets) {
  for (std::size_t t = 0; t < targets.size(); ++t) {
    const ModelTarget& target = targets[t];
    list.push_back({{"kind", name_of(target.kind)}, {"columns", target.columns}, {"classes", target.classes}});
    if (target.kind != TargetKind::regression) continue;
    file.add(numbered("target", t) + ".mean", Matrix<double>(target.mean));
    file.add(numbered("target", t) + ".scale", Matrix<double>(target.scale));
  }
}

ModelTarget read_target(const TensorFile& file, const json& j, std::size_t t) {
  ModelTarget target;
  target.kind = parse_target_kind(j.at("kind").get<std::string>());
  target.columns = j.at("columns").get<std::vector<std::string>>();
  target.classes = j.at("classes").get<std::vector<std::string>>();
  if (target.kind != TargetKind::regression) return target;
  const auto columns = static_cast<Index>(target.columns.size());
  target.mean = row(file, numbered("target", t) + ".mean", columns);
  target.scale = row(file, numbered("target", t) + ".scale", columns);
  return target;
}

void add_classifier(TensorFile& file, json& list, const LinearClassifier& classifier, const std::string& name) {
  file.add(name + ".weights", classifier.weights);
  file.add(name + ".bias", Matrix<double>(classifier.bias));
  list.push_back({{"cost", classifier.cost}, {"link", word_of(classifier.link)}});
}

LinearClassifier read_classifier(const TensorFile& file, const json& j, const std::string& name) {
  const Matrix<double>& weights = file.matrix_d(name + ".weights");
  return {weights, row(file, name + ".bias", weights.cols()), j.at("cost"),
          parse_link(j.at("link").get<std::string>())};
}

json combination_to_json(const Combination& combination) {
  return {{"probabilities", combination.probabilities}, {"view_weights", combination.view_weights}};
}

FittedModel from_file(const TensorFile& file, const json& j) {
  FittedModel model;
  model.method = j.at("method");
  model.options = pairs_from_json(j.at("options"));
  model.provenance = pairs_from_json(j.at("provenance"));
  model.classes = j.at("classes").get<std::vector<std::string>>();
  for (const json& view : j.at("views")) model.views.push_back(read_view(file, view, model.views.size()));
  if (!j.at("network").is_null()) {
    const NetworkShape shape = shape_from_json(j.at("network"));
    check_shape(shape, file, model.views.size());
    model.network.emplace(shape);
    read_buffer(file, "", model.network->parameter_layout, model.network->parameters);
    read_buffer(file, "statistics.", model.network->statistic_layout, model.network->statistics);
  }
  for (std::size_t v = 0; v < j.at("linear_weights"); ++v) {
    model.weights.push_back(file.matrix_d(numbered("linear.view", v)));
    if (model.network) model.centres.push_back(row(file, numbered("centre.view", v), model.weights[v].rows()));
  }
  for (const json& classifier : j.at("classifiers")) {
    model.classifiers.push_back(read_classifier(file, classifier, numbered("classifier", model.classifiers.size())));
  }
  for (const json& classifier : j.at("joint")) model.joint = read_classifier(file, classifier, "joint");
  model.clustering = j.at("clustering");
  model.label_column = j.at("label_column");
  for (const json& target : j.at("targets")) model.targets.push_back(read_target(file, target, model.targets.size()));
  model.combination.probabilities = j.at("combination").at("probabilities");
  model.combination.view_weights = j.at("combination").at("view_weights").get<std::vector<double>>();
  for (const json& part : j.at("fused")) {
    model.fused.push_back({part.at("name"), part.at("features").get<std::vector<std::string>>()});
  }
  for (const json& pair : j.at("canonical_pairs")) model.pairs.push_back(read_pair(file, pair, model.pairs.size()));
  return model;
}

// What a damaged or hand-made file could get wrong between its parts.
void check_consistent(const FittedModel& model, const std::string& path) {
  const auto require = [&](bool holds, const char* what) {
    if (!holds) throw InputError("load model", fmt::format("{}: {}; the file is damaged", path, what));
  };
  const auto views = model.views.size();
  require(views > 0, "it has no views");
  const auto classes = static_cast<Index>(model.classes.size());
  if (model.network) {
    const auto& heads = model.network->shape.heads;
    require(heads.size() == model.targets.size() + (model.has_head() ? 1 : 0), "heads and targets do not match");
    require(!model.has_head() || (heads[0].kind == TargetKind::classification && heads[0].outputs == classes),
            "network and classes do not match");
    for (std::size_t t = 0; t < model.targets.size(); ++t) {
      const HeadShape& head = heads[model.head_of(t)];
      const ModelTarget& target = model.targets[t];
      const std::size_t outputs = target.kind == TargetKind::classification ? target.classes.size()
                                  : target.kind == TargetKind::survival     ? 1
                                                                            : target.columns.size();
      require(head.target == static_cast<int>(t) && head.kind == target.kind &&
                  head.outputs == static_cast<Index>(outputs) && !target.columns.empty(),
              "heads and targets do not match");
    }
    require(model.network->finite(), "a weight of its network is not finite");
  }
  require(model.targets.empty() || model.network, "targets without a network");
  const auto& shares = model.combination.view_weights;
  require(shares.empty() || shares.size() == views, "weights and views do not match");
  for (const double share : shares) require(share >= 1e-9 && share <= 1e9, "the weight of a view is impossible");
  const auto distinct = [](const std::vector<std::string>& names) {
    return std::set<std::string>(names.begin(), names.end()).size() == names.size();
  };
  require(distinct(model.classes), "a class occurs twice");
  for (const ModelTarget& target : model.targets) {
    require(distinct(target.classes) && distinct(target.columns), "a class or column of a target occurs twice");
    require(target.kind != TargetKind::survival || target.columns.size() == 2, "a survival target without two columns");
  }
  std::vector<std::string> fused_columns;
  for (const FusedPart& part : model.fused) {
    require(distinct(part.features), "a fused column occurs twice");
    for (const std::string& feature : part.features) fused_columns.push_back(part.name + ":" + feature);
  }
  require(model.fused.empty() || (views == 1 && fused_columns == model.views[0].features),
          "fused columns and views do not match");
  for (std::size_t v = 0; v < views; ++v) {
    const auto columns = static_cast<Index>(model.views[v].features.size());
    if (model.network) require(model.network->shape.inputs[v] == columns, "network and columns do not match");
    if (!model.weights.empty()) {
      const Index rows = model.network ? model.network->shape.components : columns;
      require(model.weights.size() == views && model.weights[v].rows() == rows, "weights and columns do not match");
      require(model.weights[v].cols() == model.weights[0].cols(), "weights of two views do not match");
    }
  }
  const auto finite = [&](const auto& values) { require(values.allFinite(), "one of its numbers is not finite"); };
  for (const ViewSchema& view : model.views) {
    for (const auto* values : {&view.standardizer.mean, &view.standardizer.shift, &view.standardizer.scale}) {
      finite(*values);
    }
  }
  for (const auto& weights : model.weights) finite(weights);
  for (const auto& centre : model.centres) finite(centre);
  for (const LinearClassifier& classifier : model.classifiers) {
    finite(classifier.weights);
    finite(classifier.bias);
  }
  for (const ModelTarget& target : model.targets) {
    finite(target.mean);
    finite(target.scale);
  }
  if (model.joint) {
    finite(model.joint->weights);
    finite(model.joint->bias);
    Index reads = static_cast<Index>(views) * model.components();
    for (const ViewSchema& view : model.views) reads += static_cast<Index>(view.features.size());
    require(classes >= 2 && model.projects() && model.joint->weights.rows() == reads &&
                model.joint->weights.cols() == classes,
            "joint classifier and what it reads do not match");
  }
  for (const CanonicalPair& pair : model.pairs) {
    for (const auto* values : {&pair.mean_u, &pair.mean_v}) finite(*values);
    for (const auto* values : {&pair.weights_u, &pair.weights_v}) finite(*values);
    finite(pair.correlations);
  }
  for (std::size_t c = 0; c < model.classifiers.size(); ++c) {
    const Index reads =
        !model.projects() && c < views ? static_cast<Index>(model.views[c].features.size()) : model.components();
    require(classes >= 2 && model.classifiers[c].weights.cols() == classes, "classifier and classes do not match");
    require(model.classifiers[c].weights.rows() == reads, "classifier and what it reads do not match");
  }
  const auto count_classifiers = model.classifiers.size();
  require(count_classifiers == 0 || count_classifiers == views || (count_classifiers == 1 && model.projects()),
          "classifiers and views do not match");
  for (const CanonicalPair& pair : model.pairs) {
    const auto count = static_cast<Index>(views);
    require(pair.u >= 0 && pair.u < pair.v && pair.v < count, "canonical pairs and views do not match");
    require(pair.weights_u.rows() == model.components() && pair.weights_v.rows() == model.components() &&
                pair.weights_u.cols() == pair.weights_v.cols(),
            "canonical pairs and projections do not match");
  }
}

}  // namespace

namespace {

// Without the parser's own name and number: "[json.exception.type_error.302] type must be string" is told as its end.
std::string plain_reason(const json::exception& error) {
  const std::string text = error.what();
  const std::size_t end = text.find("] ");
  return end == std::string::npos ? text : text.substr(end + 2);
}

}  // namespace

void save_model(const FittedModel& model, const std::string& path) {
  TensorFile file;
  json j = {{"method", model.method},
            {"options", pairs_to_json(model.options)},
            {"provenance", pairs_to_json(model.provenance)},
            {"classes", model.classes},
            {"views", json::array()},
            {"network", nullptr},
            {"linear_weights", model.weights.size()},
            {"classifiers", json::array()},
            {"joint", json::array()},
            {"clustering", model.clustering},
            {"label_column", model.label_column},
            {"targets", json::array()},
            {"combination", combination_to_json(model.combination)},
            {"fused", json::array()},
            {"canonical_pairs", json::array()}};
  for (std::size_t v = 0; v < model.views.size(); ++v) add_view(file, j["views"], model.views[v], v);
  if (model.network) {
    j["network"] = shape_to_json(model.network->shape);
    add_buffer(file, "", model.network->parameter_layout, model.network->parameters);
    add_buffer(file, "statistics.", model.network->statistic_layout, model.network->statistics);
  }
  for (std::size_t v = 0; v < model.weights.size(); ++v) file.add(numbered("linear.view", v), model.weights[v]);
  for (std::size_t v = 0; v < model.centres.size(); ++v) {
    file.add(numbered("centre.view", v), Matrix<double>(model.centres[v]));
  }
  for (std::size_t c = 0; c < model.classifiers.size(); ++c) {
    add_classifier(file, j["classifiers"], model.classifiers[c], numbered("classifier", c));
  }
  if (model.joint) add_classifier(file, j["joint"], *model.joint, "joint");
  add_targets(file, j["targets"], model.targets);
  for (const FusedPart& part : model.fused) j["fused"].push_back({{"name", part.name}, {"features", part.features}});
  for (std::size_t p = 0; p < model.pairs.size(); ++p) add_pair(file, j["canonical_pairs"], model.pairs[p], p);
  file.metadata = {{"format", kFormatName}, {"format_version", std::to_string(kFormatVersion)}, {"model", j.dump()}};
  file.save(path);
}

FittedModel load_model(const std::string& path) {
  const TensorFile file = TensorFile::load(path);
  const auto format = file.metadata.find("format");
  if (format == file.metadata.end() || format->second != kFormatName) {
    throw InputError("load model", fmt::format("{}: a safetensors file, but not a tocca model; give the file that "
                                               "`tocca fit --model` wrote",
                                               path));
  }
  try {
    const int version = std::stoi(file.metadata.at("format_version"));
    if (version > kFormatVersion) {
      throw InputError("load model", fmt::format("{}: format version: got {}, need at most {}; use a newer tocca", path,
                                                 version, kFormatVersion));
    }
    if (version < kFormatVersion) {
      throw InputError("load model", fmt::format("{}: format version: got {}, need {}; fit the model again", path,
                                                 version, kFormatVersion));
    }
    FittedModel model = from_file(file, json::parse(file.metadata.at("model")));
    check_consistent(model, path);
    return model;
  } catch (const json::exception& e) {
    throw InputError("load model",
                     fmt::format("{}: its description cannot be read: {}; the file is damaged", path, plain_reason(e)));
  } catch (const std::bad_alloc&) {
    throw InputError("load model", fmt::format("{}: it does not fit in memory; the file is damaged", path));
  } catch (const std::logic_error&) {  // a missing key or a version that is no number
    throw InputError("load model", fmt::format("{}: its description is incomplete; the file is damaged", path));
  }
}

}  // namespace tocca

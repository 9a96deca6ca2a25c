// The model file: safetensors with the model's texts as metadata. See docs/model-format.md.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/model/fitted_model.h"
#include "tocca/model/model_checks.h"
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

// A vector of the file, which says itself what shape it has.
RowVector<double> row(const TensorFile& file, const std::string& name, Index columns) {
  const Matrix<double>& values = file.matrix_d(name);
  if (values.rows() != 1 || values.cols() != columns) {
    detail::damaged(fmt::format("tensor '{}': got {} × {}, need 1 × {}", name, values.rows(), values.cols(), columns));
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
  detail::damaged(fmt::format("unknown link '{}'", text));
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
          {"projection", name_of(s.projection)},
          {"paired", s.paired},
          {"private_components", s.private_components},
          {"reconstructs", s.reconstructs},
          {"decorrelated", s.decorrelated},
          {"momentum", s.momentum},
          {"whitening_epsilon", s.whitening.epsilon},
          {"running_covariance", s.whitening.running}};
}

NetworkShape shape_from_json(const json& j) {
  NetworkShape s;
  s.inputs = j.at("inputs").get<std::vector<Index>>();
  s.hidden_layers = j.at("hidden_layers");
  s.hidden_size = j.at("hidden_size");
  s.components = j.at("components");
  s.heads = heads_from_json(j.at("heads"));
  s.shared_head = j.at("shared_head");
  const std::string projection = j.at("projection");
  const auto known = parse_projection(projection);
  if (!known) detail::damaged(fmt::format("unknown projection '{}'", projection));
  s.projection = *known;
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
    detail::check_shape(shape, file, model.views.size());
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
    detail::check_consistent(model, path);
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

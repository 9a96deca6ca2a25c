// Model files that were damaged or made to do harm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "tocca/core/error.h"
#include "tocca/core/file.h"
#include "tocca/model/fitted_model.h"
#include "tocca/model/safetensors.h"
#include "tocca/testing/error_message.h"
#include "tocca/testing/temp_dir.h"

namespace tocca {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using tocca::testing::error_message;

FittedModel small_model() {
  FittedModel model;
  model.method = "tocca-w";
  model.classes = {"a", "b"};
  for (const char* name : {"left", "right"}) {
    ViewSchema view{name, {"x", "y"}, {}};
    view.standardizer.mean = view.standardizer.shift = RowVector<double>::Zero(2);
    view.standardizer.scale = RowVector<double>::Ones(2);
    model.views.push_back(view);
  }
  NetworkShape shape;
  shape.inputs = {2, 2};
  shape.hidden_layers = 1;
  shape.hidden_size = 3;
  shape.components = 2;
  shape.heads = {{TargetKind::classification, 2, -1}, {TargetKind::regression, 1, 0}};
  shape.projection = Projection::whiten;
  shape.private_components = 1;
  shape.reconstructs = true;
  model.network.emplace(shape);
  model.network->initialize(Rng(1));
  const RowVector<double> zero = RowVector<double>::Zero(2);
  const Matrix<double> one = Matrix<double>::Identity(2, 2);
  model.targets = {{TargetKind::regression, {"age"}, {}, RowVector<double>::Zero(1), RowVector<double>::Ones(1)}};
  model.joint = LinearClassifier{Matrix<double>::Zero(8, 2), RowVector<double>::Zero(2), 0, Link::softmax};
  model.label_column = "class";
  model.combination = {true, {0.5, 1}};
  model.pairs = {{0, 1, zero, zero, one, one, Vector<double>::Ones(2)}};
  return model;
}

class ModelFile : public ::testing::Test {
 protected:
  ModelFile() { save_model(small_model(), path); }

  // The message of loading the file after `change` has had its way with it.
  template <class Change>
  std::string after(Change change) const {
    TensorFile file = TensorFile::load(path);
    json model = json::parse(file.metadata.at("model"));
    change(file, model);
    file.metadata["model"] = model.dump();
    file.save(dir.file("changed"));
    return error_message<InputError>([&] { load_model(dir.file("changed")); });
  }
  template <class Change>
  std::string after_model(Change change) const {
    return after([&](TensorFile&, json& model) { change(model); });
  }

  tocca::testing::TempDir dir;
  std::string path = dir.file("m.safetensors");
};

TEST_F(ModelFile, LoadsUnchanged) {
  const FittedModel model = load_model(path);
  EXPECT_EQ(model.views.size(), 2U);
  EXPECT_EQ(model.targets[0].columns, std::vector<std::string>{"age"});
  EXPECT_EQ(model.network->shape.heads[1].kind, TargetKind::regression);
  EXPECT_EQ(model.network->shape.private_components, 1);
  EXPECT_EQ(model.label_column, "class");
  EXPECT_TRUE(model.combination.probabilities);
  EXPECT_EQ(model.combination.view_weights, (std::vector<double>{0.5, 1}));
  EXPECT_EQ(model.joint->link, Link::softmax);
}

TEST_F(ModelFile, CutAnywhereIsRefused) {
  const std::string bytes = read_file(path);
  for (std::size_t length = 0; length < bytes.size(); length += 97) {
    const std::string cut = dir.write("cut", bytes.substr(0, length));
    EXPECT_NE(error_message<InputError>([&] { load_model(cut); }), "(nothing was thrown)") << length;
  }
}

TEST_F(ModelFile, ShapesThatContradictTheTensorsAreRefused) {
  EXPECT_THAT(after_model([](json& m) { m["network"]["hidden_layers"] = 1000000000000; }), HasSubstr("impossible"));
  EXPECT_THAT(after_model([](json& m) { m["network"]["hidden_size"] = 4; }), HasSubstr("has another shape"));
  EXPECT_THAT(after_model([](json& m) { m["network"]["components"] = 90000000; }), HasSubstr("has another shape"));
  EXPECT_THAT(after_model([](json& m) { m["network"]["momentum"] = 1.0; }), HasSubstr("impossible"));
  EXPECT_THAT(after_model([](json& m) { m["network"]["inputs"] = {2}; }), HasSubstr("impossible"));
  EXPECT_THAT(after_model([](json& m) { m["classes"] = {"a", "b", "c"}; }), HasSubstr("network and classes"));
  EXPECT_THAT(after_model([](json& m) { m["views"][0]["features"] = {"x"}; }), HasSubstr("need 1 × 1"));
  EXPECT_THAT(after_model([](json& m) { m["canonical_pairs"][0] = {0, 7}; }), HasSubstr("canonical pairs and views"));
  EXPECT_THAT(after_model([](json& m) { m["canonical_pairs"] = 3; }), HasSubstr("the file is damaged"));
  EXPECT_THAT(after_model([](json& m) { m.erase("network"); }), HasSubstr("the file is damaged"));
  EXPECT_THAT(after_model([](json& m) { m["network"]["heads"][1]["outputs"] = 90000000; }), HasSubstr("another shape"));
  EXPECT_THAT(after_model([](json& m) { m["network"]["heads"][0]["outputs"] = 1; }), HasSubstr("impossible"));
  EXPECT_THAT(after_model([](json& m) { m["network"]["heads"][1]["kind"] = "survival"; }),
              HasSubstr("heads and targets"));
  EXPECT_THAT(after_model([](json& m) { m["network"]["heads"][1]["kind"] = "x"; }), HasSubstr("unknown kind"));
  EXPECT_THAT(after_model([](json& m) { m["network"]["private_components"] = 5; }), HasSubstr("another shape"));
  EXPECT_THAT(after_model([](json& m) { m["targets"] = json::array(); }), HasSubstr("heads and targets"));
  EXPECT_THAT(after_model([](json& m) { m["combination"]["view_weights"] = {1}; }), HasSubstr("weights and views"));
  EXPECT_THAT(after_model([](json& m) { m["combination"]["view_weights"] = {1, -1}; }), HasSubstr("impossible"));
  EXPECT_THAT(after_model([](json& m) { m["combination"]["view_weights"] = {0, 0}; }), HasSubstr("impossible"));
  EXPECT_THAT(after_model([](json& m) { m["classes"] = {"a", "a"}; }), HasSubstr("occurs twice"));
  EXPECT_THAT(after_model([](json& m) { m["canonical_pairs"][0] = {1, 1}; }), HasSubstr("canonical pairs"));
  EXPECT_THAT(after_model([](json& m) { m["network"]["heads"][1]["target"] = -2; }), HasSubstr("impossible"));
  EXPECT_THAT(after_model([](json& m) { m["network"]["whitening_epsilon"] = -5; }), HasSubstr("impossible"));
  EXPECT_THAT(after_model([](json& m) { m["joint"][0]["link"] = "probit"; }), HasSubstr("unknown link"));
  EXPECT_THAT(after_model([](json& m) { m["fused"] = {{{"name", "a"}, {"features", {"x"}}}}; }), HasSubstr("fused"));
}

TEST_F(ModelFile, AnotherFormatIsRefused) {
  EXPECT_THAT(after([](TensorFile& f, json&) { f.metadata.erase("format"); }), HasSubstr("not a tocca model"));
  EXPECT_THAT(after([](TensorFile& f, json&) { f.metadata["format_version"] = "3"; }), HasSubstr("use a newer tocca"));
  EXPECT_THAT(after([](TensorFile& f, json&) { f.metadata["format_version"] = "1"; }),
              HasSubstr("fit the model again"));
}

// Every tensor that a model can have, one number of it at a time.
TEST_F(ModelFile, NumbersThatAreNotFiniteAreRefused) {
  FittedModel model = small_model();
  model.weights.assign(2, Matrix<double>::Identity(2, 2));
  model.centres.assign(2, RowVector<double>::Zero(2));
  model.classifiers = {{Matrix<double>::Zero(2, 2), RowVector<double>::Zero(2), 1, Link::none}};
  save_model(model, path);
  const TensorFile whole = TensorFile::load(path);
  EXPECT_NO_THROW(load_model(path));
  for (const std::string& name : whole.names()) {
    TensorFile changed;
    changed.metadata = whole.metadata;
    for (const std::string& other : whole.names()) {
      const auto damage = [&](auto values) {
        if (other == name) values(0, 0) = std::numeric_limits<double>::quiet_NaN();
        changed.add(other, values);
      };
      if (other.starts_with("view") || other.starts_with("head")) {
        damage(whole.matrix_f(other));
      } else {
        damage(whole.matrix_d(other));
      }
    }
    changed.save(dir.file("changed"));
    EXPECT_THAT(error_message<InputError>([&] { load_model(dir.file("changed")); }), HasSubstr("not finite")) << name;
  }
}

}  // namespace
}  // namespace tocca

#include "tocca/model/network.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/ops/batch_norm.h"
#include "tocca/ops/dense.h"
#include "tocca/ops/running.h"

namespace tocca {
namespace {

constexpr std::pair<std::string_view, Projection> kProjections[] = {
    {"identity", Projection::identity}, {"whiten", Projection::whiten}, {"cca", Projection::cca}};

void require(bool holds, const std::string& what) {
  if (!holds) throw InputError("network", what);
}

void check(const NetworkShape& shape) {
  require(!shape.inputs.empty(), "inputs: got no view, need at least one");
  for (const Index d : shape.inputs) require(d >= 1, "inputs: a view has no columns; give it at least one");
  require(shape.hidden_layers >= 0, "hidden_layers: got " + std::to_string(shape.hidden_layers) + ", need ≥ 0");
  require(shape.hidden_size >= 1, "hidden_size: got " + std::to_string(shape.hidden_size) + ", need ≥ 1");
  require(shape.components >= 1, "n_components: got " + std::to_string(shape.components) + ", need ≥ 1");
  for (const HeadShape& head : shape.heads) {
    const Index least = head.kind == TargetKind::classification ? 2 : 1;
    require(head.outputs >= least, "outputs of a " + std::string(name_of(head.kind)) + " head: got " +
                                       std::to_string(head.outputs) + ", need ≥ " + std::to_string(least));
  }
  require(shape.private_components >= 0,
          "private_components: got " + std::to_string(shape.private_components) + ", need ≥ 0");
  require(shape.projection != Projection::cca || shape.inputs.size() == 2,
          "views: got " + std::to_string(shape.inputs.size()) + ", need 2 for the CCA layer");
}

// Adds to a layout and hands back the slot, which is how the network remembers it.
Slot put(Layout& layout, const std::string& name, Index rows, Index columns, bool decays = false) {
  return layout[layout.add(name, rows, columns, decays)];
}

// Hidden layers "NAME.hidden0" and so on; returns the width of the last.
Index add_hidden(const NetworkShape& shape, const std::string& prefix, Index in, std::vector<HiddenSlots>& layers,
                 Layout& parameters, Layout& statistics) {
  for (Index l = 0; l < shape.hidden_layers; ++l) {
    const std::string name = prefix + ".hidden" + std::to_string(l);
    HiddenSlots h;
    h.weight = put(parameters, name + ".weight", in, shape.hidden_size, true);
    h.bias = put(parameters, name + ".bias", 1, shape.hidden_size);
    h.scale = put(parameters, name + ".scale", 1, shape.hidden_size);
    h.shift = put(parameters, name + ".shift", 1, shape.hidden_size);
    h.mean = put(statistics, name + ".mean", 1, shape.hidden_size);
    h.variance = put(statistics, name + ".variance", 1, shape.hidden_size);
    layers.push_back(std::move(h));
    in = shape.hidden_size;
  }
  return in;
}

EncoderSlots add_encoder(const NetworkShape& shape, std::size_t v, Layout& parameters, Layout& statistics) {
  const std::string view = "view" + std::to_string(v);
  EncoderSlots e;
  const Index in = add_hidden(shape, view, shape.inputs[v], e.hidden, parameters, statistics);
  const Index k = shape.components;
  e.output_weight = put(parameters, view + ".output.weight", in, shape.encoder_outputs(), true);
  e.output_mean = put(statistics, view + ".output.mean", 1, shape.encoder_outputs());
  e.output_variance = put(statistics, view + ".output.variance", 1, shape.encoder_outputs());
  e.batches = put(statistics, view + ".batches", 1, 1);
  if (shape.projection == Projection::whiten) {
    e.whitening_mean = put(statistics, view + ".whitening.mean", 1, k);
    e.whitening_covariance = put(statistics, view + ".whitening.covariance", k, k);
    e.whitening_centre = put(statistics, view + ".whitening.centre", 1, k);
    e.whitening_transform = put(statistics, view + ".whitening.transform", k, k);
  }
  if (shape.decorrelated) {
    e.decorrelation_cross = put(statistics, view + ".decorrelation.cross", k, k);
    e.decorrelation_normaliser = put(statistics, view + ".decorrelation.normaliser", 1, 1);
  }
  if (shape.reconstructs) {
    const Index width =
        add_hidden(shape, view + ".decoder", shape.encoder_outputs(), e.decoder, parameters, statistics);
    e.decoder_weight = put(parameters, view + ".decoder.output.weight", width, shape.inputs[v], true);
    e.decoder_bias = put(parameters, view + ".decoder.output.bias", 1, shape.inputs[v]);
  }
  return e;
}

PairSlots add_pair(const NetworkShape& shape, std::size_t u, std::size_t v, Layout& statistics) {
  const std::string pair = "pair" + std::to_string(u) + "_" + std::to_string(v);
  const Index k = shape.components;
  PairSlots p{u, v, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  p.batches = put(statistics, pair + ".batches", 1, 1);
  p.mean1 = put(statistics, pair + ".mean1", 1, k);
  p.mean2 = put(statistics, pair + ".mean2", 1, k);
  p.s11 = put(statistics, pair + ".covariance11", k, k);
  p.s22 = put(statistics, pair + ".covariance22", k, k);
  p.s12 = put(statistics, pair + ".covariance12", k, k);
  if (shape.projection != Projection::cca) return p;
  p.centre1 = put(statistics, pair + ".centre1", 1, k);
  p.centre2 = put(statistics, pair + ".centre2", 1, k);
  p.weights1 = put(statistics, pair + ".weights1", k, k);
  p.weights2 = put(statistics, pair + ".weights2", k, k);
  return p;
}

template <class S>
ConstMatrixMap<S> row_of(const Network<S>& network, const Slot& slot) {
  return network.parameters[slot];
}

}  // namespace

std::string_view name_of(Projection projection) {
  const auto same = [&](const auto& entry) { return entry.second == projection; };
  return std::find_if(std::begin(kProjections), std::end(kProjections), same)->first;
}

std::optional<Projection> parse_projection(std::string_view name) {
  for (const auto& [word, projection] : kProjections) {
    if (word == name) return projection;
  }
  return std::nullopt;
}

template <class S>
Network<S>::Network(const NetworkShape& wanted) : shape(wanted) {
  check(shape);
  for (std::size_t v = 0; v < shape.inputs.size(); ++v) {
    encoders.push_back(add_encoder(shape, v, parameter_layout, statistic_layout));
  }
  for (std::size_t u = 0; shape.keeps_pairs() && u < shape.inputs.size(); ++u) {
    for (std::size_t v = u + 1; v < shape.inputs.size(); ++v) pairs.push_back(add_pair(shape, u, v, statistic_layout));
  }
  const std::size_t sets = shape.shared_head ? 1 : shape.inputs.size();
  for (std::size_t h = 0; h < shape.heads.size(); ++h) {
    const Index outputs = shape.heads[h].outputs;
    for (std::size_t v = 0; v < sets; ++v) {
      const std::string name =
          (shape.shared_head ? "" : "view" + std::to_string(v) + ".") + "head" + (h == 0 ? "" : std::to_string(h));
      heads.push_back({put(parameter_layout, name + ".weight", shape.components, outputs, true),
                       put(parameter_layout, name + ".bias", 1, outputs)});
    }
  }
  parameters = Buffer<S>(parameter_layout);
  statistics = Buffer<double>(statistic_layout);
}

template <class S>
void Network<S>::initialize(Rng rng) {
  for (const Slot& slot : parameter_layout.slots()) {
    auto values = parameters[slot];
    values.setZero();
    if (slot.name.ends_with(".scale")) values.setOnes();
    if (!slot.decays) continue;  // only weight matrices are drawn
    const double limit = std::sqrt(6.0 / static_cast<double>(slot.rows + slot.columns));
    Rng stream = rng.split(slot.name);
    for (Index i = 0; i < values.size(); ++i) {
      values.data()[i] = static_cast<S>(limit * (2 * stream.uniform() - 1));
    }
  }
  statistics.values().setZero();
}

template <class S>
bool Network<S>::finite() const {
  return parameters.values().allFinite() && statistics.values().allFinite();
}

namespace {

// [A, P] (m × (d_o + p)).
template <class S>
Matrix<S> encoder_outputs(const Network<S>& network, Index view, ConstMatrixRef<S> x) {
  const EncoderSlots& e = network.encoder(view);
  const auto& statistics = network.statistics;
  const double seen = statistics[e.batches](0, 0);
  const double correction = seen > 0 ? running_weights(network.shape.momentum, seen).correction : 0;
  const RowVector<S> none;
  Matrix<S> in = x;
  for (const HiddenSlots& h : e.hidden) {
    Matrix<S> out(x.rows(), h.weight.columns);
    dense_forward<S>(in, network.parameters[h.weight], row_of(network, h.bias), out);
    relu_forward<S>(out);
    batch_norm_infer<S>(out, row_of(network, h.scale), row_of(network, h.shift), correction * statistics[h.mean],
                        correction * statistics[h.variance], out);
    in.swap(out);
  }
  Matrix<S> a(x.rows(), network.shape.encoder_outputs());
  dense_forward<S>(in, network.parameters[e.output_weight], none, a);
  batch_norm_infer<S>(a, none, none, correction * statistics[e.output_mean], correction * statistics[e.output_variance],
                      a);
  return a;
}

}  // namespace

template <class S>
Matrix<S> activations(const Network<S>& network, Index view, ConstMatrixRef<S> x) {
  Matrix<S> outputs = encoder_outputs<S>(network, view, x);
  if (network.shape.private_components == 0) return outputs;
  return outputs.leftCols(network.shape.components);
}

template <class S>
Matrix<S> private_parts(const Network<S>& network, Index view, ConstMatrixRef<S> x) {
  return encoder_outputs<S>(network, view, x).rightCols(network.shape.private_components);
}

template <class S>
Matrix<S> project_activations(const Network<S>& network, Index view, ConstMatrixRef<S> a) {
  const auto& statistics = network.statistics;
  if (network.shape.projection == Projection::identity) return a;
  Matrix<S> z(a.rows(), a.cols());
  Workspace work;
  if (network.shape.projection == Projection::cca) {
    const PairSlots& pair = network.pairs[0];
    whitening_infer<S>(a, statistics[view == 0 ? pair.centre1 : pair.centre2],
                       statistics[view == 0 ? pair.weights1 : pair.weights2], z, work);
  } else {
    const EncoderSlots& e = network.encoder(view);
    whitening_infer<S>(a, statistics[e.whitening_centre], statistics[e.whitening_transform], z, work);
  }
  return z;
}

template <class S>
Matrix<S> project(const Network<S>& network, Index view, ConstMatrixRef<S> x) {
  return project_activations<S>(network, view, activations<S>(network, view, x));
}

template <class S>
Matrix<S> head_outputs(const Network<S>& network, std::size_t head, Index view, ConstMatrixRef<S> z) {
  const HeadSlots& slots = network.head(head, view);
  Matrix<S> outputs(z.rows(), slots.weight.columns);
  dense_forward<S>(z, network.parameters[slots.weight], row_of(network, slots.bias), outputs);
  head_scores<S>(network.shape.heads[head].kind, outputs);
  return outputs;
}

template struct Network<float>;
template struct Network<double>;
template Matrix<float> activations<float>(const Network<float>&, Index, ConstMatrixRef<float>);
template Matrix<float> private_parts<float>(const Network<float>&, Index, ConstMatrixRef<float>);
template Matrix<double> private_parts<double>(const Network<double>&, Index, ConstMatrixRef<double>);
template Matrix<float> project_activations<float>(const Network<float>&, Index, ConstMatrixRef<float>);
template Matrix<float> project<float>(const Network<float>&, Index, ConstMatrixRef<float>);
template Matrix<double> activations<double>(const Network<double>&, Index, ConstMatrixRef<double>);
template Matrix<double> project_activations<double>(const Network<double>&, Index, ConstMatrixRef<double>);
template Matrix<double> project<double>(const Network<double>&, Index, ConstMatrixRef<double>);
template Matrix<float> head_outputs<float>(const Network<float>&, std::size_t, Index, ConstMatrixRef<float>);
template Matrix<double> head_outputs<double>(const Network<double>&, std::size_t, Index, ConstMatrixRef<double>);

}  // namespace tocca

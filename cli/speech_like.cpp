#include "cli/speech_like.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "tocca/core/error.h"

namespace tocca::cli {
namespace {

constexpr Index kPhones = 38;
constexpr Index kVariants = 3;  // of a phone, depending on the next one
constexpr Index kHalves = 2;    // of each of them, as stops close and burst
constexpr Index kTargets = kPhones * kVariants * kHalves;
constexpr Index kArticulators = 10;
constexpr Index kSources = 4;  // voice, friction, nose, loudness
constexpr Index kSpectrum = 13;
constexpr Index kSensors = 16;
constexpr Index kUnits = 40;
constexpr Index kFrames = 7;  // side by side
constexpr Index kSpeakers[] = {35, 2, 8};
constexpr double kShare[] = {1, 1, 1.0 / 3};  // of the frames of a speaker for training

Matrix<double> normal(Index rows, Index columns, double scale, Rng rng) {
  return Matrix<double>::NullaryExpr(rows, columns, [&] { return scale * rng.normal(); });
}

Matrix<double> uniform(Index rows, Index columns, Rng rng) {
  return Matrix<double>::NullaryExpr(rows, columns, [&] { return rng.uniform(); });
}

// kTargets × columns of variance 1: what all variants of a phone share is the smaller part, so that a phone is several
// clouds and no linear rule finds it.
Matrix<double> varied(Index columns, const Rng& rng) {
  constexpr double kShared = 0.6;
  const Matrix<double> own = normal(kTargets, columns, std::sqrt(1 - kShared * kShared), rng.split("own"));
  const Matrix<double> shared = normal(kPhones, columns, kShared, rng.split("shared"));
  Matrix<double> x(kTargets, columns);
  for (Index t = 0; t < kTargets; ++t) x.row(t) = own.row(t) + shared.row(t / (kVariants * kHalves));
  return x;
}

// What all speakers share.
struct World {
  Matrix<double> articulators, sources;  // targets of each half of each variant of a phone
  Matrix<double> urgency;                // how much each insists on every articulator's target
  Vector<double> duration;               // frames of each phone
  Matrix<double> context;                // [0, 1), of a phone and the one after it
  Matrix<double> units, spectrum, voiced, sensors, bends, bent;

  explicit World(const Rng& rng)
      : articulators(varied(kArticulators, rng.split("articulators"))),
        sources(varied(kSources, rng.split("sources"))),
        urgency((1.2 * varied(kArticulators, rng.split("urgency"))).array().exp()),
        duration(normal(kPhones, 1, 2, rng.split("duration")).array().max(-4) + 9),
        context(uniform(kPhones, kPhones, rng.split("context"))),
        units(normal(kArticulators + kSources, kUnits, 0.6, rng.split("units"))),
        spectrum(normal(kUnits, kSpectrum, 1 / std::sqrt(kUnits), rng.split("spectrum"))),
        voiced(normal(kArticulators, kSpectrum, 0.4, rng.split("voiced"))),
        sensors(normal(kArticulators, kSensors, 0.5, rng.split("sensors"))),
        bends(normal(kArticulators, kArticulators, 0.5, rng.split("bends"))),
        bent(normal(kArticulators, kSensors, 0.3, rng.split("bent"))) {}
};

// Of each frame.
struct Utterance {
  std::vector<int> phones, targets;
};

Utterance utter(const World& world, Index frames, Rng rng) {
  Utterance said;
  const double tempo = 0.8 + 0.4 * rng.uniform();
  const auto other_than = [&](Index phone) {
    return (phone + 1 + static_cast<Index>(rng.below(kPhones - 1))) % kPhones;
  };
  auto phone = static_cast<Index>(rng.below(kPhones));
  while (static_cast<Index>(said.phones.size()) < frames) {
    const Index next = other_than(phone);
    const double length = tempo * world.duration(phone) * (0.5 + rng.uniform());
    const auto count = static_cast<Index>(std::max(3.0, std::round(length)));
    const auto variant = static_cast<Index>(kVariants * world.context(phone, next));
    for (Index t = 0; t < count; ++t) {
      said.phones.push_back(static_cast<int>(phone));
      said.targets.push_back(static_cast<int>((phone * kVariants + variant) * kHalves + kHalves * t / count));
    }
    phone = next;
  }
  said.phones.resize(static_cast<std::size_t>(frames));
  said.targets.resize(static_cast<std::size_t>(frames));
  return said;
}

// Both ways in time, so that a frame knows what comes.
void smooth(Matrix<double>& x, double memory) {
  for (Index t = 1; t < x.rows(); ++t) x.row(t) = memory * x.row(t - 1) + (1 - memory) * x.row(t);
  for (Index t = x.rows() - 2; t >= 0; --t) x.row(t) = memory * x.row(t + 1) + (1 - memory) * x.row(t);
}

// Noise of variance scale² that changes slowly.
Matrix<double> slow_noise(Index rows, Index columns, double scale, double memory, const Rng& rng) {
  Matrix<double> noise = normal(rows, columns, scale * std::sqrt(1 - memory * memory), rng);
  noise.row(0) /= std::sqrt(1 - memory * memory);
  for (Index t = 1; t < rows; ++t) noise.row(t) += memory * noise.row(t - 1);
  return noise;
}

Matrix<double> slopes(const Matrix<double>& x) {
  Matrix<double> d(x.rows(), x.cols());
  for (Index t = 0; t < x.rows(); ++t) {
    d.row(t) = (x.row(std::min(t + 2, x.rows() - 1)) - x.row(std::max<Index>(t - 2, 0))) / 4;
  }
  return d;
}

void standardize(Matrix<double>& x) {
  x.rowwise() -= x.colwise().mean().eval();
  const RowVector<double> scale = (x.colwise().squaredNorm() / static_cast<double>(x.rows())).cwiseSqrt();
  x.array().rowwise() /= scale.array().max(1e-8);
}

// Each row with its neighbours in time.
Matrix<float> side_by_side(const Matrix<double>& x) {
  Matrix<float> wide(x.rows(), kFrames * x.cols());
  for (Index t = 0; t < x.rows(); ++t) {
    for (Index f = 0; f < kFrames; ++f) {
      const Index from = std::clamp<Index>(t + f - kFrames / 2, 0, x.rows() - 1);
      wide.row(t).segment(f * x.cols(), x.cols()) = x.row(from).cast<float>();
    }
  }
  return wide;
}

struct Speech {
  Matrix<float> acoustic, articulatory;
  std::vector<int> phones;
};

Matrix<double> move_articulators(const World& world, const Utterance& said, const Rng& rng) {
  const auto frames = static_cast<Index>(said.phones.size());
  const Matrix<double> habits = normal(kPhones, kArticulators, 0.25, rng.split("habits"));
  Matrix<double> pulled(frames, kArticulators), pull(frames, kArticulators);
  for (Index t = 0; t < frames; ++t) {
    const auto i = static_cast<std::size_t>(t);
    pull.row(t) = world.urgency.row(said.targets[i]);
    pulled.row(t) = pull.row(t).cwiseProduct(world.articulators.row(said.targets[i]) + habits.row(said.phones[i]));
  }
  smooth(pulled, 0.65);
  smooth(pull, 0.65);
  return pulled.cwiseQuotient(pull) + slow_noise(frames, kArticulators, 0.35, 0.8, rng.split("tremor"));
}

Speech speak(const World& world, Index frames, const Rng& rng) {
  Speech speech;
  Utterance said = utter(world, frames, rng.split("phones"));
  const Matrix<double> moves = move_articulators(world, said, rng);
  Matrix<double> sources(frames, kSources);
  for (Index t = 0; t < frames; ++t) sources.row(t) = world.sources.row(said.targets[static_cast<std::size_t>(t)]);
  smooth(sources, 0.5);
  sources += slow_noise(frames, kSources, 0.4, 0.7, rng.split("breath"));

  Matrix<double> both(frames, kArticulators + kSources);
  both << moves, sources;
  const Matrix<double> warp = world.units + normal(both.cols(), kUnits, 0.05, rng.split("warp"));
  const Matrix<double> voice = (1 + (-2 * sources.col(0).array()).exp()).inverse().matrix().replicate(1, kSpectrum);
  const Matrix<double> tone = (moves * world.voiced).array().tanh();
  const Matrix<double> hiss = ((moves.array().square() - 1).matrix() * world.voiced).array().tanh();
  Matrix<double> spectrum = (both * warp).array().tanh().matrix() * world.spectrum + voice.cwiseProduct(tone) -
                            (1 - voice.array()).matrix().cwiseProduct(hiss);
  spectrum += slow_noise(frames, kSpectrum, 0.3, 0.75, rng.split("room"));
  const Matrix<double> speed = slopes(spectrum);
  Matrix<double> acoustic(frames, 3 * kSpectrum);
  acoustic << spectrum, speed, slopes(speed);
  Matrix<double> sensors =
      moves * world.sensors + ((moves * world.bends).array().tanh().square().matrix()) * world.bent;
  sensors += slow_noise(frames, kSensors, 0.35, 0.8, rng.split("pellets"));
  sensors += slow_noise(frames, 3, 0.5, 0.99, rng.split("head")) * normal(3, kSensors, 0.5, rng.split("posture"));
  standardize(acoustic);
  standardize(sensors);
  speech.acoustic = side_by_side(acoustic);
  speech.articulatory = side_by_side(sensors);
  speech.phones = std::move(said.phones);
  return speech;
}

View view_of(const char* name, Matrix<float> x) {
  View view{name, {}, {}, {}};
  for (Index j = 0; j < x.cols(); ++j) view.features.push_back(fmt::format("c{}", j));
  view.row_of_sample.resize(static_cast<std::size_t>(x.rows()));
  std::iota(view.row_of_sample.begin(), view.row_of_sample.end(), Index{0});
  view.values = Table(std::move(x));
  return view;
}

Dataset join(const std::vector<Speech>& speakers, std::size_t first, std::size_t count) {
  Index rows = 0;
  for (std::size_t s = first; s < first + count; ++s) rows += speakers[s].acoustic.rows();
  Matrix<float> acoustic(rows, speakers[0].acoustic.cols()), articulatory(rows, speakers[0].articulatory.cols());
  Dataset data;
  Index at = 0;
  for (std::size_t s = first; s < first + count; ++s) {
    const Speech& speech = speakers[s];
    acoustic.middleRows(at, speech.acoustic.rows()) = speech.acoustic;
    articulatory.middleRows(at, speech.articulatory.rows()) = speech.articulatory;
    data.labels.codes.insert(data.labels.codes.end(), speech.phones.begin(), speech.phones.end());
    for (Index t = 0; t < speech.acoustic.rows(); ++t) data.views.samples.push_back(fmt::format("s{}f{}", s, t));
    data.groups.insert(data.groups.end(), speech.phones.size(), static_cast<Index>(s));
    at += speech.acoustic.rows();
  }
  for (Index p = 0; p < kPhones; ++p) data.labels.classes.push_back(fmt::format("{}", p));
  data.views.views.push_back(view_of("acoustic", std::move(acoustic)));
  data.views.views.push_back(view_of("articulatory", std::move(articulatory)));
  return data;
}

}  // namespace

SpeechData make_speech_like(Index frames, const Rng& rng, const Context& context) {
  constexpr Index kLeast = 20;               // frames of a speaker
  constexpr Index kMostFrames = 10'000'000;  // 15 GB
  double shares = 0;
  for (int part = 0; part < 3; ++part) shares += static_cast<double>(kSpeakers[part]) * kShare[part];
  const auto length = [&](int part) { return static_cast<Index>(static_cast<double>(frames) / shares * kShare[part]); };
  if (length(2) < kLeast) {
    throw InputError("--frames",
                     fmt::format("got {}, need at least {}", frames, std::ceil(kLeast / kShare[2] * shares)));
  }
  if (frames > kMostFrames) throw InputError("--frames", fmt::format("got {}, need at most {}", frames, kMostFrames));
  const World world(rng.split("world"));
  std::vector<Index> lengths;
  for (int part = 0; part < 3; ++part) {
    lengths.insert(lengths.end(), static_cast<std::size_t>(kSpeakers[part]), length(part));
  }
  std::vector<Speech> speakers(lengths.size());
  context.parallel(static_cast<Index>(lengths.size()), [&](Index s) {
    const auto i = static_cast<std::size_t>(s);
    speakers[i] = speak(world, lengths[i], rng.split("speaker", i));
  });
  return {join(speakers, 0, 35), join(speakers, 35, 2), join(speakers, 37, 8)};
}

}  // namespace tocca::cli

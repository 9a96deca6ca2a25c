// The spaces that come with the library. Those of the paper are the ranges of its supplement; where it lists powers of
// ten the range is taken as continuous.
#include <string>
#include <vector>

#include "tocca/core/error.h"
#include "tocca/core/text.h"
#include "tocca/search/space_file.h"

namespace tocca {
namespace {

constexpr SpacePreset kPresets[] = {
    {"default", "around the defaults, with everything that regularises", "ours",
     R"([options]
patience = 0

[space]
learning_rate = { log_uniform = [3e-4, 1e-2] }
epochs = [30, 60, 100]
hidden_layers = { integer = [0, 3] }
hidden_size = [100, 200, 500]
agreement_weight = { log_uniform = [1e-2, 1] }
decorrelation_weight = { log_uniform = [1e-3, 1e-1] }
whitening_epsilon = { log_uniform = [1e-2, 1] }
weight_decay = { log_uniform = [1e-6, 1e-3] }
dropout = { uniform = [0, 0.5] }
input_dropout = { uniform = [0, 0.4] }
ridge = { log_uniform = [1e-3, 10] }
)"},
    {"mnist", "halves of MNIST images", "Couture et al. 2019, supplement",
     R"([options]
hidden_layers = 4
hidden_size = 500
n_components = 50
momentum = 0.99
batch_size = 32
epochs = 200
standardize = "scale"

[space]
learning_rate = { log_uniform = [1e-4, 1e-2] }
agreement_weight = { log_uniform = [1e-4, 1] }
decorrelation_weight = { log_uniform = [1e-5, 1] }
weight_decay = { log_uniform = [1e-6, 1e-3], or = 0, share = 0.2 }
ridge = { log_uniform = [1e-3, 10] }
)"},
    {"mnist-regularized", "the same with dropout, noise and augmentation", "ours",
     R"([options]
n_components = 50
momentum = 0.99
batch_size = 32
patience = 0
standardize = "scale"
image_width = 14

[space]
learning_rate = { log_uniform = [1e-3, 1e-2] }
epochs = [40, 80]
hidden_layers = { integer = [2, 4] }
hidden_size = [300, 500]
agreement_weight = { log_uniform = [1e-2, 1] }
decorrelation_weight = { log_uniform = [1e-4, 1e-1] }
whitening_epsilon = { log_uniform = [3e-2, 1] }
weight_decay = { log_uniform = [1e-6, 1e-3] }
dropout = { uniform = [0, 0.5] }
input_dropout = { uniform = [0.1, 0.5] }
input_noise = { uniform = [0, 0.5], or = 0, share = 0.5 }
image_shift = [0, 1, 2]
view_dropout = { uniform = [0, 0.3], or = 0, share = 0.5 }
mixup = { uniform = [0.1, 0.5], or = 0, share = 0.5 }
label_smoothing = [0, 0.1]
ridge = { log_uniform = [1e-3, 10] }
)"},
    {"breast", "breast cancer, a second view in training only", "Couture et al. 2019, supplement",
     R"([options]
hidden_size = 200
n_components = 50
momentum = 0.99
batch_size = 100
epochs = 400

[space]
hidden_layers = { integer = [0, 4] }
learning_rate = { log_uniform = [1e-3, 1e-1] }
agreement_weight = { log_uniform = [1e-5, 10] }
decorrelation_weight = { log_uniform = [1e-5, 1] }
weight_decay = { log_uniform = [1e-5, 1e-2], or = 0, share = 0.2 }
ridge = { log_uniform = [1e-3, 10] }
)"},
    {"xrmb", "speech, two views", "Couture et al. 2019, supplement",
     R"([options]
hidden_layers = 4
hidden_size = 1000
n_components = 112
momentum = 0.99
batch_size = 50000
epochs = 100

[space]
learning_rate = { log_uniform = [1e-4, 1] }
agreement_weight = { log_uniform = [1e-5, 10] }
decorrelation_weight = { log_uniform = [1e-5, 1] }
weight_decay = { log_uniform = [1e-7, 1e-3], or = 0, share = 0.2 }
ridge = { log_uniform = [1e-3, 10] }
)"},
    {"authors", "what the authors' program searches", "the program published with Couture et al. 2019",
     R"([options]
hidden_size = 200
n_components = 50
epochs = 100
patience = 0
learning_rate_schedule = "constant"
covariance = "batch"

[space]
hidden_layers = [1, 2, 3, 4]
learning_rate = [1e-2, 1e-3, 1e-4]
batch_size = [1000, 100]
momentum = [0.99, 0.95, 0.9]
agreement_weight = [1e-3, 1e-2, 1e-1, 1, 10, 100, 1000]
decorrelation_weight = [1e-5, 1e-4, 1e-3, 1e-2, 1e-1]
whitening_epsilon = [1e-4, 1e-3, 1e-2]
weight_decay = [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 0]
)"},
};

}  // namespace

std::span<const SpacePreset> space_presets() { return kPresets; }

const SpacePreset& find_space_preset(std::string_view name) {
  std::vector<std::string> names;
  for (const SpacePreset& preset : kPresets) {
    if (preset.name == name) return preset;
    names.emplace_back(preset.name);
  }
  throw InputError("space", unknown_name("preset", name, names));
}

}  // namespace tocca

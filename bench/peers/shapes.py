"""What all programs of this folder train: the cases of `tocca bench` (cli/bench.cpp) and its settings."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    inputs: tuple
    hidden_layers: int
    hidden_size: int
    components: int
    classes: int
    batch: int = 0


@dataclass(frozen=True)
class Settings:
    agreement_weight: float = 0.1
    decorrelation_weight: float = 0.01
    weight_decay: float = 1e-4
    learning_rate: float = 1e-3
    momentum: float = 0.99  # weight of the old running statistic
    whitening_epsilon: float = 1e-3


BATCH_NORM_EPSILON = 1e-3
BETA1, BETA2, NADAM_EPSILON, SCHEDULE_DECAY = 0.9, 0.999, 1e-7, 0.004

CASES = {
    "mnist": Shape((392, 392), 4, 500, 50, 10, 32),
    "mnist-100": Shape((392, 392), 4, 500, 50, 10, 100),
    "mnist-1000": Shape((392, 392), 4, 500, 50, 10, 1000),
    "breast": Shape((512, 50), 4, 200, 50, 2, 100),
    "xrmb-2000": Shape((273, 112), 4, 1000, 112, 38, 2000),
}
METHODS = ("tocca-w", "tocca-sd", "tocca-nd")

# The runs of tests/data/train_reference.json that a network with all views and labels can repeat, and whose they are.
REFERENCE_RUNS = {"whiten": "tocca-w", "whiten_linear": "tocca-w", "whiten_batch_of_two": "tocca-w", "soft": "tocca-sd",
                  "none": "tocca-nd"}


def shape_of(run):
    return Shape(tuple(run["dims"]), run["hidden_layers"], run["hidden_size"], run["n_components"], run["classes"])


def settings_of(run):
    return Settings(**{name: run[name] for name in Settings.__dataclass_fields__})

# Deep CCA on samples with a common part, by `tocca fit` and by a trainer of another tool.
DCCA_SHAPE = Shape((392, 392), 4, 500, 50, 0, 200)
DCCA_SAMPLES, DCCA_EPOCHS, DCCA_RIDGE = 4000, 5, 1e-3

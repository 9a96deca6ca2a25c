"""The training step of TOCCA-W, -SD and -ND in PyTorch. Started by deep.py, one process for each number of threads."""
import json
import sys

import torch
from torch import nn
from torch.nn.functional import cross_entropy

import worker
from shapes import (BATCH_NORM_EPSILON, BETA1, BETA2, CASES, NADAM_EPSILON, REFERENCE_RUNS, SCHEDULE_DECAY, Settings,
                    settings_of, shape_of)

# Optimiser and compiler as users combine them; the fastest counts.
VARIANTS = {
    "eager": dict(),
    "eager-foreach": dict(foreach=True),
    "compile": dict(compile_loss=True),
    "compile-all": dict(compile_loss=True, compile_optimizer=True, foreach=True),
}


class InverseSquareRoot(torch.autograd.Function):
    """S^{-1/2} of a symmetric matrix. The derivative with the divided difference of x^{-1/2} takes fewer products than
    that of torch.linalg.eigh, and is finite for equal eigenvalues."""

    @staticmethod
    def forward(ctx, s):
        values, vectors = torch.linalg.eigh(s)
        roots = values.sqrt()
        ctx.save_for_backward(roots, vectors)
        return (vectors / roots) @ vectors.T

    @staticmethod
    def backward(ctx, g):
        roots, vectors = ctx.saved_tensors
        kernel = -1 / (torch.outer(roots, roots) * (roots[:, None] + roots))
        return vectors @ (kernel * (vectors.T @ ((g + g.T) / 2) @ vectors)) @ vectors.T


class Running(nn.Module):
    """A loss or layer with running statistics, which forward() takes and keep() renews. In one compiled function the
    backward pass would read the renewed ones."""

    def __init__(self, momentum, **statistics):
        super().__init__()
        self.momentum, self.names = momentum, tuple(statistics)
        for name, start in statistics.items():
            self.register_buffer(name, start)

    @torch.no_grad()
    def keep(self, renewed):
        for name, value in zip(self.names, renewed):
            getattr(self, name).copy_(value)


class Whitening(Running):
    """ZCA whitening with running mean and covariance, corrected for their start."""

    def __init__(self, size, momentum, epsilon):
        super().__init__(momentum, mean=torch.zeros(size), covariance=torch.zeros(size, size),
                         weight_sum=torch.zeros(()))
        self.register_buffer("ridge", epsilon * torch.eye(size))

    def forward(self, a):
        keep, add = self.momentum, 1 - self.momentum
        mean = keep * self.mean + add * a.mean(0)
        weight_sum = keep * self.weight_sum + add
        centred = a - mean / weight_sum
        covariance = keep * self.covariance + (add / (len(a) - 1)) * (centred.T @ centred)
        transform = InverseSquareRoot.apply(covariance / weight_sum + self.ridge)
        return centred @ transform, (mean.detach(), covariance.detach(), weight_sum)


class SoftDecorrelation(Running):
    """Sum of the absolute off-diagonal entries of the running covariance."""

    def __init__(self, size, momentum):
        super().__init__(momentum, cross=torch.zeros(size, size), weight_sum=torch.zeros(()))

    def forward(self, a):
        cross = self.momentum * self.cross + a.T @ a / (len(a) - 1)
        weight_sum = self.momentum * self.weight_sum + 1
        loss = (cross.abs().sum() - cross.diagonal().abs().sum()) / weight_sum
        return loss, (cross.detach(), weight_sum)


def encoder(width, shape, settings):
    layers = []
    for _ in range(shape.hidden_layers):
        layers += [nn.Linear(width, shape.hidden_size), nn.ReLU(),
                   nn.BatchNorm1d(shape.hidden_size, eps=BATCH_NORM_EPSILON, momentum=1 - settings.momentum)]
        width = shape.hidden_size
    return nn.Sequential(*layers, nn.Linear(width, shape.components, bias=False),
                         nn.BatchNorm1d(shape.components, eps=BATCH_NORM_EPSILON, momentum=1 - settings.momentum,
                                        affine=False))


class Network(nn.Module):
    def __init__(self, method, shape, settings):
        super().__init__()
        self.method, self.settings = method, settings
        self.encoders = nn.ModuleList(encoder(width, shape, settings) for width in shape.inputs)
        self.head = nn.Linear(shape.components, shape.classes)
        running = {"tocca-w": lambda: Whitening(shape.components, settings.momentum, settings.whitening_epsilon),
                   "tocca-sd": lambda: SoftDecorrelation(shape.components, settings.momentum)}
        self.running = nn.ModuleList(running[method]() for _ in shape.inputs if method in running)

    def terms(self, views, labels):
        """The loss terms by name, and the renewed statistics."""
        z = [encode(x) for encode, x in zip(self.encoders, views)]
        decorrelation, renewed = torch.zeros(()), []
        if self.running:
            results, renewed = zip(*(module(x) for module, x in zip(self.running, z)))
            z, decorrelation = (results, decorrelation) if self.method == "tocca-w" else (z, sum(results))
        return {"task": sum(cross_entropy(self.head(x), labels) for x in z),
                "agreement": (z[0] - z[1]).square().sum(1).mean(),
                "decorrelation": decorrelation}, renewed

    def total(self, terms):
        return (terms["task"] + self.settings.agreement_weight * terms["agreement"]
                + self.settings.decorrelation_weight * terms["decorrelation"])

    def forward(self, views, labels):
        terms, renewed = self.terms(views, labels)
        return self.total(terms), renewed

    def keep(self, renewed):
        for module, statistics in zip(self.running, renewed):
            module.keep(statistics)

    def named(self):
        """Parameters by the names that they have in the reference and in a model file."""
        names = {"head.weight": self.head.weight, "head.bias": self.head.bias}
        for v, layers in enumerate(self.encoders):
            for i in range(len(layers) // 3):
                dense, norm = layers[3 * i], layers[3 * i + 2]
                own = {"weight": dense.weight, "bias": dense.bias, "scale": norm.weight, "shift": norm.bias}
                names |= {f"view{v}.hidden{i}.{name}": p for name, p in own.items()}
            names[f"view{v}.output.weight"] = layers[-2].weight
        return names


def nadam(network, foreach=False, capturable=False):
    """The decay of Keras's l2 has the gradient 2 weight_decay W, that of PyTorch's optimisers weight_decay W."""
    named, settings = network.named(), network.settings
    groups = [{"params": [p for name, p in named.items() if name.endswith(".weight")],
               "weight_decay": 2 * settings.weight_decay},
              {"params": [p for name, p in named.items() if not name.endswith(".weight")]}]
    return torch.optim.NAdam(groups, lr=settings.learning_rate, betas=(BETA1, BETA2), eps=NADAM_EPSILON,
                             momentum_decay=SCHEDULE_DECAY, foreach=foreach, capturable=capturable)


def training_step(network, views, labels, compile_loss=False, compile_optimizer=False, foreach=False):
    optimizer = nadam(network, foreach, capturable=compile_optimizer)
    loss_of = torch.compile(network) if compile_loss else network
    update = torch.compile(optimizer.step) if compile_optimizer else optimizer.step

    def step():
        optimizer.zero_grad()
        loss, renewed = loss_of(views, labels)
        loss.backward()
        network.keep(renewed)
        update()

    return step


def make_step(case, method, variant):
    shape = CASES[case]
    torch.manual_seed(1)
    views = [torch.randn(shape.batch, width) for width in shape.inputs]
    labels = torch.randint(shape.classes, (shape.batch,))
    return training_step(Network(method, shape, Settings()), views, labels, **VARIANTS[variant])


def numbers(name, tensor):
    """In the order of the reference, which has weights (in, out)."""
    return (tensor.T if name.endswith(".weight") else tensor).reshape(-1).tolist()


def run_of_reference(run):
    """The network of a run at its start, the batches, and the labels."""
    shape, settings = shape_of(run), settings_of(run)
    network = Network(REFERENCE_RUNS[run["name"]], shape, settings)
    for name, p in network.named().items():
        value = torch.tensor(run["initial_parameters"][name])
        p.data.copy_(value.T if name.endswith(".weight") else value.reshape(-1))
    batches = [([torch.tensor(x)[rows] for x in run["X"]], torch.tensor(run["labels"])[rows])
               for rows in run["batches"]]
    return network, batches


def check_terms(run, network, optimizer, k, views, labels):
    optimizer.zero_grad()
    terms, renewed = network.terms(views, labels)
    for name in ("task", "agreement", "decorrelation"):
        worker.compare(f"{run['name']} step {k} {name}", [terms[name].item()], [run["steps"][k][name]], 1e-8)
    network.total(terms).backward()
    network.keep(renewed)


def check_run(run):
    """Loss terms of every step, the first gradient, and the parameters after the last step, in float64."""
    network, batches = run_of_reference(run)
    optimizer = nadam(network)
    for k, (views, labels) in enumerate(batches):
        check_terms(run, network, optimizer, k, views, labels)
        for name, p in network.named().items() if k == 0 else ():
            decay = 2 * network.settings.weight_decay * p.data if name.endswith(".weight") else 0
            worker.compare(f"{run['name']} gradient of {name}", numbers(name, p.grad + decay),
                           worker.flat(run["first_gradient"][name]), 1e-8)
        optimizer.step()
    for name, p in network.named().items():
        worker.compare(f"{run['name']} {name} at the end", numbers(name, p.data),
                       worker.flat(run["final_parameters"][name]), 1e-8)


def check_whitening(case):
    whitening = Whitening(len(case["steps"][0]["A"][0]), case["alpha"], case["eps"])
    for step in case["steps"]:
        a = torch.tensor(step["A"], requires_grad=True)
        b, renewed = whitening(a)
        whitening.keep(renewed)
        b.backward(torch.tensor(step["dB"]))
        worker.compare("zca", worker.flat(b.tolist()), worker.flat(step["B"]), 1e-8)
        worker.compare("zca gradient", worker.flat(a.grad.tolist()), worker.flat(step["dA"]), 1e-8)


def check_decorrelation(case):
    decorrelation = SoftDecorrelation(len(case["steps"][0]["A"][0]), case["alpha"])
    for step in case["steps"]:
        a = torch.tensor(step["A"], requires_grad=True)
        loss, renewed = decorrelation(a)
        decorrelation.keep(renewed)
        loss.backward()
        worker.compare("soft decorrelation", [loss.item()], [step["loss"]], 1e-10)
        worker.compare("soft decorrelation gradient", worker.flat(a.grad.tolist()), worker.flat(step["dA"]), 1e-10)


def check_compiled():
    """What the compiler makes of a step is the same step: parameters after three of them."""
    shape = shape_of({"dims": [20, 16], "hidden_layers": 2, "hidden_size": 12, "n_components": 5, "classes": 3})
    for method in sorted(set(REFERENCE_RUNS.values())):
        ends = []
        for options in VARIANTS.values():
            torch.manual_seed(3)
            network = Network(method, shape, Settings())
            step = training_step(network, [torch.randn(40, w) for w in shape.inputs], torch.arange(40) % 3, **options)
            for _ in range(3):
                step()
            ends.append([x for p in network.parameters() for x in p.detach().flatten().tolist()])
        for variant, end in zip(VARIANTS, ends):
            worker.compare(f"{method} {variant}", end, ends[0], 1e-8)


def check(train_reference, reference):
    with open(reference) as file:
        blocks = json.load(file)["cases"]
    with open(train_reference) as file:
        runs = [run for run in json.load(file)["cases"] if run["name"] in REFERENCE_RUNS]
    torch.set_default_dtype(torch.double)  # also of what NAdam keeps
    check_whitening(blocks["zca"])
    check_decorrelation(blocks["soft_decorrelation"])
    for run in runs:
        check_run(run)
    check_compiled()
    torch.set_default_dtype(torch.float)
    return ["zca", "soft_decorrelation", *(run["name"] for run in runs), *VARIANTS]


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[1]))
    torch.set_flush_denormal(True)
    # Each case and method is a further compilation of the same functions; past these limits PyTorch goes on uncompiled.
    torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = 1000
    worker.serve(sys.modules[__name__])

"""Deep CCA in cca-zoo, from arrays in memory to canonical variates. Started by dcca.py, one process for each number of
threads."""
import json
import logging
import sys
import warnings
from pathlib import Path

import lightning.pytorch as lightning
import numpy as np
import torch
from cca_zoo.deep import DCCA, MultiviewDataset
from cca_zoo.deep.objectives import CCALoss
from cca_zoo.linear import CCA
from torch.utils.data import BatchSampler, DataLoader, RandomSampler

import worker
from pytorch_peer import encoder
from shapes import DCCA_EPOCHS, DCCA_RIDGE, DCCA_SHAPE, Settings


def fit(views):
    """Trains and returns the canonical variates of the same rows. Whole batches are indexed at once, which is faster
    than the rows one by one that DataLoader takes by default."""
    data = MultiviewDataset(views)
    order = BatchSampler(RandomSampler(data), DCCA_SHAPE.batch, drop_last=False)
    batches = DataLoader(data, batch_size=None, sampler=order)
    model = DCCA(n_components=DCCA_SHAPE.components, learning_rate=Settings().learning_rate, reg_covar=DCCA_RIDGE,
                 encoders=[encoder(width, DCCA_SHAPE, Settings()) for width in DCCA_SHAPE.inputs])
    trainer = lightning.Trainer(max_epochs=DCCA_EPOCHS, accelerator="cpu", logger=False, enable_progress_bar=False,
                                enable_checkpointing=False, enable_model_summary=False)
    trainer.fit(model, batches)
    model.eval()
    with torch.no_grad():
        z = [x.numpy() for x in model(data.views)]
    return CCA(n_components=DCCA_SHAPE.components).fit(z).transform(z)


def make_step(case, method, variant):
    views = [np.load(Path(case) / f"{name}.npy") for name in ("a", "b")]
    return lambda: fit(views)


def check(train_reference, reference):
    """Its loss is minus the sum of squared canonical correlations; ours minus the sum of them."""
    with open(reference) as file:
        blocks = json.load(file)["cases"]
    for name in ("cca", "rcca"):
        views = [torch.tensor(blocks[name][x], dtype=torch.double) for x in ("X1", "X2")]
        expected = -sum(x * x for x in blocks[name]["singular_values"])
        worker.compare(name, [CCALoss(reg_covar=blocks[name]["r"])(views).item()], [expected], 1e-8)
    return ["cca", "rcca"]


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[1]))
    torch.set_flush_denormal(True)
    warnings.filterwarnings("ignore")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    worker.serve(sys.modules[__name__])

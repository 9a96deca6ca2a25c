"""The training step of TOCCA-W, -SD and -ND in Keras with TensorFlow. Started by deep.py, one process for each number
of threads."""
import json
import os
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import tensorflow as tf
from keras import layers

import worker
from shapes import (BATCH_NORM_EPSILON, BETA1, BETA2, CASES, NADAM_EPSILON, REFERENCE_RUNS, Settings, settings_of,
                    shape_of)

VARIANTS = {"graph": dict(jit_compile=False), "xla": dict(jit_compile=True)}


class Whitening(layers.Layer):
    """ZCA whitening with running mean and covariance, corrected for their start."""

    def __init__(self, size, momentum, epsilon):
        super().__init__()
        self.momentum, self.epsilon = momentum, epsilon
        self.mean = self.add_weight(shape=(size,), initializer="zeros", trainable=False)
        self.covariance = self.add_weight(shape=(size, size), initializer="zeros", trainable=False)
        self.weight_sum = self.add_weight(shape=(), initializer="zeros", trainable=False)

    def call(self, a):
        keep, add = self.momentum, 1 - self.momentum
        mean = keep * self.mean + add * tf.reduce_mean(a, 0)
        weight_sum = keep * self.weight_sum + add
        centred = a - mean / weight_sum
        rows = tf.cast(tf.shape(a)[0], a.dtype)
        covariance = keep * self.covariance + add / (rows - 1) * tf.matmul(centred, centred, transpose_a=True)
        self.mean.assign(tf.stop_gradient(mean))
        self.covariance.assign(tf.stop_gradient(covariance))
        self.weight_sum.assign(weight_sum)
        values, vectors = tf.linalg.eigh(covariance / weight_sum + self.epsilon * tf.eye(a.shape[1], dtype=a.dtype))
        return centred @ tf.matmul(vectors * tf.math.rsqrt(values), vectors, transpose_b=True)


class SoftDecorrelation(layers.Layer):
    """Sum of the absolute off-diagonal entries of the running covariance."""

    def __init__(self, size, momentum):
        super().__init__()
        self.momentum = momentum
        self.cross = self.add_weight(shape=(size, size), initializer="zeros", trainable=False)
        self.weight_sum = self.add_weight(shape=(), initializer="zeros", trainable=False)

    def call(self, a):
        rows = tf.cast(tf.shape(a)[0], a.dtype)
        cross = self.momentum * self.cross + tf.matmul(a, a, transpose_a=True) / (rows - 1)
        weight_sum = self.momentum * self.weight_sum + 1
        self.cross.assign(tf.stop_gradient(cross))
        self.weight_sum.assign(weight_sum)
        return (tf.reduce_sum(tf.abs(cross)) - tf.reduce_sum(tf.abs(tf.linalg.diag_part(cross)))) / weight_sum


def dense(units, settings, **options):
    return layers.Dense(units, kernel_regularizer=keras.regularizers.L2(settings.weight_decay), **options)


def batch_norm(settings, **options):
    return layers.BatchNormalization(epsilon=BATCH_NORM_EPSILON, momentum=settings.momentum, **options)


def encoder(width, shape, settings):
    hidden = [layer for _ in range(shape.hidden_layers)
              for layer in (dense(shape.hidden_size, settings, activation="relu"), batch_norm(settings))]
    return keras.Sequential([keras.Input((width,)), *hidden, dense(shape.components, settings, use_bias=False),
                             batch_norm(settings, center=False, scale=False)])


class Network:
    def __init__(self, method, shape, settings):
        self.settings = settings
        self.encoders = [encoder(width, shape, settings) for width in shape.inputs]
        self.head = keras.Sequential([keras.Input((shape.components,)), dense(shape.classes, settings)])
        self.whitenings = [Whitening(shape.components, settings.momentum, settings.whitening_epsilon)
                           for _ in shape.inputs if method == "tocca-w"]
        self.decorrelations = [SoftDecorrelation(shape.components, settings.momentum)
                               for _ in shape.inputs if method == "tocca-sd"]
        self.variables = [v for part in (*self.encoders, self.head) for v in part.trainable_variables]

    def terms(self, views, labels):
        a = [encode(x, training=True) for encode, x in zip(self.encoders, views)]
        z = [whiten(x) for whiten, x in zip(self.whitenings, a)] if self.whitenings else a
        task = [tf.nn.sparse_softmax_cross_entropy_with_logits(labels, self.head(x)) for x in z]
        return {"task": sum(tf.reduce_mean(t) for t in task),
                "agreement": tf.reduce_mean(tf.reduce_sum(tf.square(z[0] - z[1]), 1)),
                "decorrelation": sum(decorrelation(x) for decorrelation, x in zip(self.decorrelations, a))}

    def total(self, terms):
        decay = sum(loss for part in (*self.encoders, self.head) for loss in part.losses)
        return (terms["task"] + self.settings.agreement_weight * terms["agreement"]
                + self.settings.decorrelation_weight * terms["decorrelation"] + decay)

    def terms_and_gradients(self, views, labels):
        with tf.GradientTape() as tape:
            terms = self.terms(views, labels)
            total = self.total(terms)
        return terms, tape.gradient(total, [v.value for v in self.variables])

    def names(self):
        """The names in the reference of `variables`, in their order."""
        names = []
        for v, layers_of_view in enumerate(self.encoders):
            for i in range(len(layers_of_view.layers) // 2 - 1):
                names += [f"view{v}.hidden{i}.{name}" for name in ("weight", "bias", "scale", "shift")]
            names.append(f"view{v}.output.weight")
        return names + ["head.weight", "head.bias"]


def make_step(case, method, variant):
    shape = CASES[case]
    keras.utils.set_random_seed(1)
    views = [tf.random.normal((shape.batch, width)) for width in shape.inputs]
    labels = tf.random.uniform((shape.batch,), maxval=shape.classes, dtype=tf.int32)
    network = Network(method, shape, Settings())
    optimizer = keras.optimizers.Nadam(Settings().learning_rate, BETA1, BETA2, NADAM_EPSILON)
    optimizer.build(network.variables)

    @tf.function(**VARIANTS[variant])
    def update():
        terms, gradients = network.terms_and_gradients(views, labels)
        optimizer.apply(gradients, network.variables)
        return terms["task"]

    return lambda: update().numpy()


def check_run(run):
    """Loss terms and gradient of the first step, in float64. Later ones differ: Keras's Nadam has another schedule."""
    network = Network(REFERENCE_RUNS[run["name"]], shape_of(run), settings_of(run))
    for name, variable in zip(network.names(), network.variables, strict=True):
        variable.assign(tf.reshape(tf.constant(run["initial_parameters"][name], tf.float64), variable.shape))
    rows = run["batches"][0]
    terms, gradients = network.terms_and_gradients([tf.gather(tf.constant(x, tf.float64), rows) for x in run["X"]],
                                                   tf.gather(run["labels"], rows))
    for name, term in terms.items():
        worker.compare(f"{run['name']} {name}", [float(term)], [run["steps"][0][name]], 1e-8)
    for name, gradient in zip(network.names(), gradients):
        worker.compare(f"{run['name']} gradient of {name}", worker.flat(gradient.numpy().tolist()),
                       worker.flat(run["first_gradient"][name]), 1e-8)


def check_whitening(case):
    whitening = Whitening(len(case["steps"][0]["A"][0]), case["alpha"], case["eps"])
    for step in case["steps"]:
        a = tf.Variable(step["A"], dtype=tf.float64)
        with tf.GradientTape() as tape:
            b = whitening(tf.convert_to_tensor(a))
            target = tf.reduce_sum(tf.constant(step["dB"], tf.float64) * b)
        worker.compare("zca", worker.flat(b.numpy().tolist()), worker.flat(step["B"]), 1e-8)
        worker.compare("zca gradient", worker.flat(tape.gradient(target, a).numpy().tolist()),
                       worker.flat(step["dA"]), 1e-8)


def check_decorrelation(case):
    decorrelation = SoftDecorrelation(len(case["steps"][0]["A"][0]), case["alpha"])
    for step in case["steps"]:
        a = tf.Variable(step["A"], dtype=tf.float64)
        with tf.GradientTape() as tape:
            loss = decorrelation(tf.convert_to_tensor(a))
        worker.compare("soft decorrelation", [float(loss)], [step["loss"]], 1e-10)
        worker.compare("soft decorrelation gradient", worker.flat(tape.gradient(loss, a).numpy().tolist()),
                       worker.flat(step["dA"]), 1e-10)


def check(train_reference, reference):
    with open(reference) as file:
        blocks = json.load(file)["cases"]
    with open(train_reference) as file:
        runs = [run for run in json.load(file)["cases"] if run["name"] in REFERENCE_RUNS]
    keras.config.set_floatx("float64")
    keras.config.set_dtype_policy("float64")
    check_whitening(blocks["zca"])
    check_decorrelation(blocks["soft_decorrelation"])
    for run in runs:
        check_run(run)
    keras.config.set_floatx("float32")
    keras.config.set_dtype_policy("float32")
    return ["zca", "soft_decorrelation", *(run["name"] for run in runs)]


if __name__ == "__main__":
    tf.config.threading.set_intra_op_parallelism_threads(int(sys.argv[1]))
    tf.config.threading.set_inter_op_parallelism_threads(int(sys.argv[1]))
    worker.serve(sys.modules[__name__])

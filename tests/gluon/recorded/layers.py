"""Layers: what they compute, their gradients, parameters and repr, with settings away from the defaults."""

from __future__ import annotations

from typing import Any

from recorded.support import described, ramp, ready, trained_once

#: Name -> (how the layer is made from `gluon`, shape of its input).
LAYERS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "dense_sigmoid_3d": (lambda g: g.nn.Dense(3, activation="sigmoid", flatten=False), (2, 3, 4)),
    "dense_flattens_4d": (lambda g: g.nn.Dense(2, use_bias=False), (2, 2, 3, 2)),
    "dense_initializers": (lambda g: g.nn.Dense(2, weight_initializer="xavier", bias_initializer="ones"), (3, 5)),
    "conv1d_dilated": (lambda g: g.nn.Conv1D(4, 3, strides=2, padding=2, dilation=2, groups=2), (2, 4, 9)),
    "conv2d_rectangular": (lambda g: g.nn.Conv2D(3, (1, 4), (2, 1), (0, 2), activation="tanh"), (1, 2, 5, 6)),
    "conv2d_grouped": (lambda g: g.nn.Conv2D(6, 2, groups=3, use_bias=False, in_channels=3), (2, 3, 4, 4)),
    "conv3d_padded": (lambda g: g.nn.Conv3D(2, (1, 2, 2), padding=(0, 1, 1)), (1, 2, 2, 3, 3)),
    "conv1d_transposed": (lambda g: g.nn.Conv1DTranspose(3, 4, strides=3, padding=1, output_padding=1), (2, 2, 4)),
    "conv2d_transposed": (
        lambda g: g.nn.Conv2DTranspose(4, 3, strides=2, padding=1, groups=2, activation="relu", in_channels=4),
        (1, 4, 3, 3),
    ),
    "conv3d_transposed": (lambda g: g.nn.Conv3DTranspose(2, 2, strides=2, use_bias=False), (1, 2, 2, 2, 2)),
    "max_pool1d": (lambda g: g.nn.MaxPool1D(3, 2, 1, ceil_mode=True), (2, 2, 8)),
    "max_pool2d": (lambda g: g.nn.MaxPool2D((3, 2), (1, 2), (1, 0)), (1, 2, 5, 6)),
    "max_pool3d": (lambda g: g.nn.MaxPool3D(2, 1), (1, 1, 3, 3, 3)),
    "avg_pool1d": (lambda g: g.nn.AvgPool1D(4, strides=3, padding=1), (2, 1, 9)),
    "avg_pool2d_full": (lambda g: g.nn.AvgPool2D(3, 2, ceil_mode=True, count_include_pad=False), (1, 2, 6, 6)),
    "avg_pool3d": (lambda g: g.nn.AvgPool3D((1, 2, 3)), (1, 2, 2, 4, 6)),
    "global_max1d": (lambda g: g.nn.GlobalMaxPool1D(), (2, 3, 4)),
    "global_avg3d": (lambda g: g.nn.GlobalAvgPool3D(), (1, 2, 2, 2, 3)),
    "reflection_pad": (lambda g: g.nn.ReflectionPad2D(2), (1, 2, 4, 5)),
    "reflection_pad_uneven": (lambda g: g.nn.ReflectionPad2D((0, 0, 0, 0, 1, 0, 2, 1)), (1, 1, 3, 4)),
    "batch_norm_2d": (lambda g: g.nn.BatchNorm(momentum=0.3, epsilon=1e-2), (4, 3)),
    "batch_norm_last_axis": (lambda g: g.nn.BatchNorm(axis=3, in_channels=2), (2, 2, 2, 2)),
    "batch_norm_no_scale_no_center": (lambda g: g.nn.BatchNorm(scale=False, center=False), (3, 2, 2)),
    "batch_norm_global": (lambda g: g.nn.BatchNorm(use_global_stats=True, scale=False), (2, 3, 2)),
    "layer_norm_middle": (lambda g: g.nn.LayerNorm(axis=1, epsilon=1e-3), (2, 4, 3)),
    "layer_norm_no_scale": (lambda g: g.nn.LayerNorm(scale=False), (3, 4)),
    "instance_norm_last": (lambda g: g.nn.InstanceNorm(axis=2, scale=True, center=False), (2, 5, 3)),
    "group_norm": (lambda g: g.nn.GroupNorm(num_groups=3, scale=True, epsilon=1e-3), (2, 6, 2)),
    "activation_softrelu": (lambda g: g.nn.Activation("softrelu"), (2, 3)),
    "leaky_relu": (lambda g: g.nn.LeakyReLU(0.3), (2, 5)),
    "prelu_channels": (lambda g: g.nn.PReLU(in_channels=4), (2, 4, 2)),
    "elu": (lambda g: g.nn.ELU(0.5), (2, 5)),
    "gelu": (lambda g: g.nn.GELU(), (2, 5)),
    "swish": (lambda g: g.nn.Swish(1.5), (2, 5)),
    "flatten": (lambda g: g.nn.Flatten(), (2, 3, 2)),
    "hybrid_lambda_named": (lambda g: g.nn.HybridLambda("sigmoid"), (2, 3)),
    "lambda_named": (lambda g: g.nn.Lambda("relu"), (2, 3)),
    "pixel_shuffle_1d": (lambda g: g.contrib.nn.PixelShuffle1D(3), (2, 6, 2)),
    "pixel_shuffle_2d": (lambda g: g.contrib.nn.PixelShuffle2D((2, 3)), (1, 6, 2, 2)),
    "pixel_shuffle_3d": (lambda g: g.contrib.nn.PixelShuffle3D((1, 2, 2)), (1, 4, 2, 1, 2)),
    "identity": (lambda g: g.contrib.nn.Identity(), (2, 2)),
    "sync_batch_norm": (lambda g: g.contrib.nn.SyncBatchNorm(num_devices=1, scale=False), (2, 3, 2)),
}


def _stack(kind: str, *make: Any) -> Any:
    def build(gluon: Any) -> Any:
        stack = gluon.contrib.nn.HybridConcurrent(axis=1) if kind == "concurrent" else getattr(gluon.nn, kind)()
        with stack.name_scope():
            for layer in make:
                stack.add(layer(gluon))
        return stack

    return build


LAYERS["sequential"] = _stack("Sequential", lambda g: g.nn.Dense(3), lambda g: g.nn.Lambda("tanh")), (2, 4)
LAYERS["hybrid_sequential"] = (
    _stack("HybridSequential", lambda g: g.nn.Conv2D(2, 2), lambda g: g.nn.BatchNorm(), lambda g: g.nn.Dense(2)),
    (2, 1, 3, 3),
)
LAYERS["concurrent"] = (
    _stack("concurrent", lambda g: g.nn.Dense(2), lambda g: g.contrib.nn.Identity(), lambda g: g.nn.Dense(1)),
    (2, 3),
)


def _case(name: str) -> Any:
    make, shape = LAYERS[name]

    def run(mx: Any) -> Any:
        net = make(mx.gluon)
        results = trained_once(mx, net, ramp(mx, *shape))
        return [results, described(net)]

    return run


def _hybridized(name: str) -> Any:
    make, shape = LAYERS[name]

    def run(mx: Any) -> Any:
        net = make(mx.gluon)
        x = ramp(mx, *shape)
        ready(mx, net, x)
        net.hybridize()
        return net(x)

    return run


def _embedding(mx: Any) -> Any:
    net = mx.gluon.nn.Embedding(5, 3, weight_initializer="ones")
    x = mx.nd.array([[0, 4, 7], [1, 1, 2]])
    ready(mx, net, x)
    with mx.autograd.record():
        y = net(x)
    y.backward()
    return [y, net.weight.grad(), described(net)]


def _dropout_axes(mx: Any) -> Any:
    net = mx.gluon.nn.Dropout(0.5, axes=(0,))
    with mx.autograd.record():
        y = net(mx.nd.ones((4, 50)))
    values = y.asnumpy()
    return [repr(net), sorted(set(values.ravel().tolist())), bool((values == values[:1]).all()), net(mx.nd.ones((2,)))]


def _fixed_gamma(hybridized: bool) -> Any:
    """What `scale=False` leaves in gamma after a call in each mode."""

    def run(mx: Any) -> Any:
        net = mx.gluon.nn.HybridSequential()
        net.add(mx.gluon.nn.BatchNorm(scale=False, in_channels=2))
        net.initialize()
        if hybridized:
            net.hybridize()
        x = ramp(mx, 3, 2, 2)
        found = []
        for scope in (mx.autograd.predict_mode(), mx.autograd.train_mode(), mx.autograd.record(train_mode=False)):
            net(x)
            net[0].gamma.set_data(mx.nd.array([0.5, 2]))
            mx.nd.waitall()
            with scope:
                net(x)
            mx.nd.waitall()
            found.append(net[0].gamma.data().asnumpy().tolist())
        return found

    return run


CASES: dict[str, Any] = {name: _case(name) for name in LAYERS}
CASES.update({f"hybridized_{name}": _hybridized(name) for name in LAYERS})
CASES["embedding"] = _embedding
CASES["dropout_axes"] = _dropout_axes
CASES["fixed_gamma"] = _fixed_gamma(False)
CASES["fixed_gamma_hybridized"] = _fixed_gamma(True)
CASES["leaky_relu_refuses_negative"] = lambda mx: mx.gluon.nn.LeakyReLU(-1)
CASES["conv_refuses_layout"] = lambda mx: mx.gluon.nn.Conv2D(1, 1, layout="CHWN")
CASES["conv_refuses_kernel"] = lambda mx: mx.gluon.nn.Conv2D(1, (1, 2, 3))
CASES["pool_refuses_layout"] = lambda mx: mx.gluon.nn.MaxPool1D(layout="NHWC")
CASES["lambda_refuses_name"] = lambda mx: mx.gluon.nn.Lambda("no_such_operator")
CASES["lambda_refuses_number"] = lambda mx: mx.gluon.nn.HybridLambda(3)

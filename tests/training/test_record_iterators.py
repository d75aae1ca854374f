"""ImageRecordIter and LibSVMIter: order, parts, ends, normalization, augmentation. Orders are those of MXNet 1.9.1.

The images are arrays in NumPy's file format, and so need no image library.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import recordio
from autohybrid.errors import MXNetError
from autohybrid.training.io import image_record_iter
from autohybrid.training.io.record_augmentation import Augmentation

_COUNT = 7


def _image(i: int) -> np.ndarray:
    return np.random.RandomState(i).randint(0, 256, (9 + i % 2, 12, 3)).astype("uint8")


def _encoded(i: int) -> bytes:
    stream = io.BytesIO()
    np.save(stream, _image(i))
    return stream.getvalue()


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(image_record_iter, "decode_rgb", lambda data, flag: np.load(io.BytesIO(data)))
    writer = recordio.MXIndexedRecordIO(str(tmp_path / "all.idx"), str(tmp_path / "all.rec"), "w")
    for i in range(_COUNT):
        writer.write_idx(i, recordio.pack(recordio.IRHeader(0, float(i), i, 0), _encoded(i)))
    writer.close()
    return str(tmp_path / "all.rec")


def _iterator(path: str, **settings: Any) -> Any:
    return mx.io.ImageRecordIter(path_imgrec=path, **{"data_shape": (3, 6, 8), "batch_size": 3, **settings})


def _labels(iterator: Any) -> list[tuple[list[float], int]]:
    return [(batch.label[0].asnumpy().tolist(), batch.pad) for batch in iterator]


def test_rounds_continue_behind_the_images_that_filled_up(path: str) -> None:
    iterator = _iterator(path)
    assert _labels(iterator) == [([0, 1, 2], 0), ([3, 4, 5], 0), ([6, 0, 1], 2)]
    iterator.reset()
    assert _labels(iterator) == [([2, 3, 4], 0), ([5, 6, 0], 1)]
    assert [(d.name, d.shape, d.dtype) for d in iterator.provide_data] == [("data", (3, 3, 6, 8), np.float32)]


def test_without_rounds_zeros_fill_up(path: str) -> None:
    iterator = _iterator(path, round_batch=False)
    for _ in range(2):
        *_, last = list(iterator)
        assert (last.label[0].asnumpy().tolist(), last.pad) == ([6, 0, 0], 2)
        assert not last.data[0][1:].asnumpy().any()
        iterator.reset()


def test_images_are_cut_in_the_middle_and_normalized(path: str) -> None:
    plain = next(_iterator(path)).data[0].asnumpy()
    np.testing.assert_array_equal(plain[0], _image(0)[1:7, 2:10].transpose(2, 0, 1))
    settings = {"mean_r": 10, "mean_g": 20, "mean_b": 30, "std_r": 2, "std_g": 3, "std_b": 4, "scale": 0.5}
    means, deviations = np.array([10, 20, 30])[:, None, None], np.array([2, 3, 4])[:, None, None]
    normalized = next(_iterator(path, **settings)).data[0].asnumpy()
    np.testing.assert_allclose(normalized, (plain - means) * 0.5 / deviations, rtol=1e-6)
    mirrored = next(_iterator(path, mirror=True)).data[0].asnumpy()
    np.testing.assert_array_equal(mirrored, plain[..., ::-1])


@pytest.mark.parametrize(("kind", "dtype", "offset"), [("UInt8", np.uint8, 0), ("Int8", np.int8, 128)])
def test_whole_numbers_are_not_normalized(path: str, kind: str, dtype: type, offset: int) -> None:
    made = getattr(mx.io, f"ImageRecord{kind}Iter")(path_imgrec=path, data_shape=(3, 6, 8), batch_size=3)
    data = next(made).data[0]
    assert data.dtype is dtype
    np.testing.assert_array_equal(data.asnumpy().astype(int) + offset, next(_iterator(path)).data[0].asnumpy())


def test_a_part_is_a_share_of_the_bytes_or_of_the_index(path: str) -> None:
    parts = [_labels(_iterator(path, batch_size=1, num_parts=2, part_index=part)) for part in (0, 1)]
    assert sorted(label for part in parts for (label,), _ in part) == list(range(_COUNT))
    assert [label for (label,), _ in parts[1]] == [4, 5, 6]
    index = path.replace(".rec", ".idx")
    chosen = _labels(_iterator(path, batch_size=1, path_imgidx=index, num_parts=3, part_index=1))
    assert [label for (label,), _ in chosen] == [3, 4, 5]
    with pytest.raises(MXNetError, match="part_index is 0 to 1"):
        _iterator(path, num_parts=2, part_index=2)


def test_a_list_replaces_the_labels(path: str, tmp_path: Path) -> None:
    (tmp_path / "all.lst").write_text("".join(f"{i}\t{i * 10}\t{i * 2}\tname\n" for i in range(_COUNT)))
    iterator = _iterator(path, path_imglist=str(tmp_path / "all.lst"), label_width=2)
    assert _labels(iterator)[1] == ([[30, 6], [40, 8], [50, 10]], 0)
    with pytest.raises(MXNetError, match="label_width is 2, but a record has 1 labels"):
        next(_iterator(path, label_width=2))


def test_shuffling_keeps_the_samples(path: str) -> None:
    first, second = (_labels(_iterator(path, batch_size=7, shuffle=True, seed=seed))[0][0] for seed in (1, 2))
    assert sorted(first) == sorted(second) == list(range(_COUNT))
    assert first != second


def test_settings_that_are_not_there_are_refused(path: str) -> None:
    _iterator(path, random_h=0, preprocess_threads=3, prefetch_buffer=1, shuffle_chunk_size=4)
    with pytest.raises(MXNetError, match="has no random_h"):
        _iterator(path, random_h=36)
    with pytest.raises(MXNetError, match=r"does not know `rand_crops`; did you mean `rand_crop`\?"):
        _iterator(path, rand_crops=True)
    with pytest.raises(MXNetError, match=r"there is no file mean.bin"):
        _iterator(path, mean_img="mean.bin")


_RAMP = np.stack([np.arange(400).reshape(20, 20) % 251] * 3, axis=2).astype("uint8")


def _augmented(seed: int = 0, image: np.ndarray = _RAMP, **settings: Any) -> np.ndarray:
    made = Augmentation(data_shape=(3, 8, 10), **settings)
    return made.apply(image, np.random.RandomState(seed))


@pytest.mark.parametrize(
    "settings",
    [
        {"rand_crop": True, "pad": 4, "fill_value": 127},
        {"random_resized_crop": True, "min_random_area": 0.3, "max_aspect_ratio": 0.25},
        {"random_resized_crop": True, "min_random_area": 0.3, "min_aspect_ratio": 0.75, "max_aspect_ratio": 1.33},
        {"min_crop_size": 8, "max_crop_size": 12, "rand_crop": True},
        {"max_rotate_angle": 30, "max_shear_ratio": 0.1},
        {"min_random_scale": 0.7, "max_random_scale": 1.3, "max_aspect_ratio": 0.2},
        {"brightness": 0.4, "contrast": 0.4, "saturation": 0.4},
        {"pca_noise": 0.5},
    ],
)
def test_random_steps_follow_the_seed_and_keep_the_shape(settings: dict[str, Any]) -> None:
    first = _augmented(0, **settings)
    assert (first.shape, first.dtype) == ((8, 10, 3), np.uint8)
    np.testing.assert_array_equal(first, _augmented(0, **settings))
    assert any((first != _augmented(seed, **settings)).any() for seed in range(1, 6))


def test_turns_and_scales_go_around_the_centre() -> None:
    image = np.zeros((8, 10, 3), "uint8")
    image[:, :5] = 200
    np.testing.assert_array_equal(_augmented(image=image, rotate=360), image)
    turned = _augmented(image=image, rotate=180, fill_value=0)
    assert turned[4, 8].tolist() == [200] * 3 and turned[4, 2].tolist() == [0] * 3
    enlarged = _augmented(image=image, min_random_scale=2, max_random_scale=2)
    assert enlarged[:, 0].min() == 200 and enlarged[:, -1].max() == 0


def test_small_images_are_enlarged_and_short_sides_scaled() -> None:
    assert _augmented(image=_RAMP[:4, :4]).shape == (8, 10, 3)
    assert _augmented(resize=12).shape == (8, 10, 3)
    np.testing.assert_array_equal(_augmented(image=_RAMP, resize=20), _augmented(image=_RAMP))


# -- LibSVMIter --------------------------------------------------------------------------------------------------------
@pytest.fixture
def text(tmp_path: Path) -> str:
    file = tmp_path / "data.t"
    file.write_text("1.0 0:0.5 2:1.2\n-2.0\n-3.0 0:0.6 1:2.4 2:1.2\n\n4 2:-1.2\n5 1:1\n")
    return str(file)


def test_rows_are_sparse_and_rounds_continue(text: str) -> None:
    iterator = mx.io.LibSVMIter(data_libsvm=text, data_shape=(3,), batch_size=3)
    first, second = list(iterator)
    assert (first.data[0].stype, first.label[0].stype) == ("csr", "default")
    wanted = np.float32([[0.5, 0, 1.2], [0, 0, 0], [0.6, 2.4, 1.2]])
    np.testing.assert_array_equal(first.data[0].asnumpy(), wanted)
    assert second.label[0].asnumpy().tolist() == [4, 5, 1] and second.pad == 1
    iterator.reset()
    assert [batch.label[0].asnumpy().tolist() for batch in iterator] == [[-2, -3, 4], [5, 1, -2]]
    rest = mx.io.LibSVMIter(data_libsvm=text, data_shape=3, batch_size=3, round_batch=False)
    assert len(list(rest)) == 1


def test_labels_may_be_rows_themselves(text: str) -> None:
    iterator = mx.io.LibSVMIter(text, (3,), 5, label_libsvm=text, label_shape=(4,))
    (batch,) = list(iterator)
    assert batch.label[0].stype == "csr" and batch.label[0].shape == (5, 4)
    part = mx.io.LibSVMIter(text, (3,), 1, num_parts=2, part_index=1)
    assert [batch.label[0].asscalar() for batch in part] == [4, 5]


def test_other_lines_are_refused_with_their_number(text: str, tmp_path: Path) -> None:
    with pytest.raises(MXNetError, match=r"data.t:1 has an index beyond the 2 columns"):
        mx.io.LibSVMIter(text, (2,))
    (tmp_path / "bad.t").write_text("1 0:1\n1 zero:1\n")
    with pytest.raises(MXNetError, match=r"bad.t:2 is not `label index:value ...`"):
        mx.io.LibSVMIter(str(tmp_path / "bad.t"), (2,))
    with pytest.raises(MXNetError, match="does not know shuffle"):
        mx.io.LibSVMIter(text, (3,), shuffle=True)

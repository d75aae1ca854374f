"""ImageDetIter: batches of images with the boxes of the objects in them."""

from __future__ import annotations

import importlib
import logging
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autohybrid import ndarray as nd
from autohybrid.image.augmenter_list import IMAGENET_MEAN, IMAGENET_STD
from autohybrid.image.detection.augmenter_list import CreateDetAugmenter
from autohybrid.image.detection.augmenters import Label
from autohybrid.image.image_iter import ImageIter
from autohybrid.ndarray import NDArray

_logger = logging.getLogger("autohybrid")


class ImageDetIter(ImageIter):
    """As ImageIter, with labels (batch, objects, width of an object), filled up with -1.

    The label of a sample is a flat list: the width of this head (2 or more), the width of an object (5 or more), the
    rest of the head, then class, left, top, right, bottom (shares of the image) and more for each object. Objects
    without area are dropped, samples without objects left out. Other keywords are CreateDetAugmenter's, unless
    `aug_list` is given. Raises RuntimeError for labels of another form.
    """

    def __init__(
        self,
        batch_size: int,
        data_shape: tuple[int, int, int],
        path_imgrec: str | None = None,
        path_imglist: str | None = None,
        path_root: str | None = None,
        path_imgidx: str | None = None,
        shuffle: bool = False,
        part_index: int = 0,
        num_parts: int = 1,
        aug_list: Sequence[Any] | None = None,
        imglist: list[Any] | None = None,
        data_name: str = "data",
        label_name: str = "label",
        last_batch_handle: str = "pad",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            batch_size,
            data_shape,
            path_imgrec=path_imgrec,
            path_imglist=path_imglist,
            path_root=path_root,
            path_imgidx=path_imgidx,
            shuffle=shuffle,
            part_index=part_index,
            num_parts=num_parts,
            aug_list=[],
            imglist=imglist,
            data_name=data_name,
            label_name=label_name,
            last_batch_handle=last_batch_handle,
        )
        self.auglist = CreateDetAugmenter(data_shape, **kwargs) if aug_list is None else aug_list
        self.label_shape = self._estimate_label_shape()
        self.provide_label = [(label_name, (batch_size, *self.label_shape))]

    def _estimate_label_shape(self) -> tuple[int, int]:
        """The largest number of objects of a sample, and the width of an object."""
        shapes = []
        self.reset()
        try:
            while True:
                shapes.append(self._parse_label(self.next_sample()[0]).shape)
        except StopIteration:
            self.reset()
        if not shapes:
            raise RuntimeError("there are no samples")
        return max(shape[0] for shape in shapes), shapes[-1][1]

    def _parse_label(self, label: Any) -> Label:
        """The objects of a sample (objects, width). Raises RuntimeError for another form, or none with an area."""
        raw = (label.asnumpy() if isinstance(label, NDArray) else np.asarray(label)).ravel()
        if raw.size < 7:
            raise RuntimeError(f"a label has 7 numbers or more, not {raw.size}")
        head, width = int(raw[0]), int(raw[1])
        if width <= 0 or (raw.size - head) % width != 0:
            raise RuntimeError(f"{raw.size - head} numbers after the head are not objects of {width} numbers")
        objects: Label = raw[head:].reshape(-1, width)
        objects = objects[(objects[:, 3] > objects[:, 1]) & (objects[:, 4] > objects[:, 2])]
        if not len(objects):
            raise RuntimeError("no object of the sample has an area")
        return objects

    def _check_valid_label(self, label: Label) -> None:
        if label.ndim != 2 or label.shape[1] < 5:
            raise RuntimeError(f"a label has the shape (objects, 5 or more), not {label.shape}")
        if not np.any((label[:, 0] >= 0) & (label[:, 3] > label[:, 1]) & (label[:, 4] > label[:, 2])):
            raise RuntimeError("no object of the sample has a class and an area")

    def reshape(self, data_shape: tuple[int, ...] | None = None, label_shape: tuple[int, int] | None = None) -> None:
        """Give batches of other shapes from now on. Raises ValueError where labels would not fit `label_shape`."""
        if data_shape is not None:
            self.check_data_shape(data_shape)
            self.provide_data = [(self.provide_data[0][0], (self.batch_size, *data_shape))]
            self.data_shape = data_shape  # type: ignore[assignment]
        if label_shape is not None:
            self.check_label_shape(label_shape)
            self.provide_label = [(self.provide_label[0][0], (self.batch_size, *label_shape))]
            self.label_shape = label_shape

    def check_label_shape(self, label_shape: tuple[int, int]) -> None:
        """Raises ValueError for a shape that has no room for the labels."""
        if len(label_shape) != 2:
            raise ValueError(f"label_shape must be (objects, width), not {label_shape}")
        if label_shape[0] < self.label_shape[0]:
            raise ValueError(f"label_shape must have room for {self.label_shape[0]} objects, not {label_shape[0]}")
        if label_shape[1] != self.label_shape[1]:
            raise ValueError(f"objects are {self.label_shape[1]} numbers wide, not {label_shape[1]}")

    def sync_label_shape(self, it: ImageDetIter, verbose: bool = False) -> ImageDetIter:
        """Give both iterators room for the larger number of objects; the other one is returned."""
        if not isinstance(it, ImageDetIter):
            raise AssertionError(f"the other iterator must be an ImageDetIter, not {type(it).__name__}")
        if self.label_shape[1] != it.label_shape[1]:
            raise AssertionError(f"objects are {self.label_shape[1]} and {it.label_shape[1]} numbers wide")
        shape = (max(self.label_shape[0], it.label_shape[0]), self.label_shape[1])
        for one in (self, it):
            if one.label_shape[0] < shape[0]:
                one.reshape(None, shape)
                if verbose:
                    _logger.info("label_shape is %s now", shape)
        return it

    def _empty_label(self) -> NDArray:
        return nd.full(self.provide_label[0][1], -1)

    def _check(self, image: NDArray, label: Any) -> tuple[NDArray, Any]:
        self.check_valid_image([image])
        image, changed = self.augmentation_transform(image, self._parse_label(label))
        self._check_valid_label(changed)
        return image, changed

    def _finish(self, image: NDArray) -> NDArray:
        return image

    def _put_label(self, batch_label: NDArray, position: int, label: Any) -> None:
        batch_label[position] = -1
        batch_label[position, : len(label)] = nd.array(label)

    def augmentation_transform(self, data: NDArray, label: Any = None) -> Any:
        """The image and its objects after the augmenters."""
        for augmenter in self.auglist:
            data, label = augmenter(data, label)
        return data, label

    def draw_next(
        self,
        color: tuple[int, int, int] | None = None,
        thickness: int = 2,
        mean: Any = None,
        std: Any = None,
        clip: bool = True,
        waitKey: int | None = None,
        window_name: str = "draw_next",
        id2labels: dict[int, str] | None = None,
    ) -> Iterator[np.ndarray[Any, Any]]:
        """The images that are left, one by one, with boxes drawn in: uint8 (height, width, 3) in BGR order.

        `color` is RGB (random ones without it); `mean` and `std` (True: ImageNet's) undo a normalization; `waitKey`
        shows each in a window for that many milliseconds. Needs OpenCV: warns and gives nothing without it.
        """
        try:
            cv2 = importlib.import_module("cv2")
        except ImportError:
            warnings.warn("drawing needs OpenCV: `pip install opencv-python-headless`", stacklevel=2)
            return
        while True:
            try:
                label, encoded = self.next_sample()
            except StopIteration:
                return
            decoded = self.imdecode(encoded)
            try:
                image, objects = self.augmentation_transform(decoded, self._parse_label(label))
            except RuntimeError as error:
                _logger.debug("left out a sample: %s", error)
                continue
            pixels = _restored(image.asnumpy(), mean, std, clip)
            for one in objects:
                _draw_object(cv2, pixels, one, color, thickness, id2labels)
            if waitKey is not None:
                cv2.imshow(window_name, pixels)
                cv2.waitKey(waitKey)
            yield pixels


def _restored(image: Any, mean: Any, std: Any, clip: bool) -> np.ndarray[Any, Any]:
    """The image with its normalization undone, as OpenCV wants it."""
    image = image.astype("float32")
    if std is not None:
        image = image * (IMAGENET_STD if std is True else std)
    if mean is not None:
        image = image + (IMAGENET_MEAN if mean is True else mean)
    image = image[:, :, ::-1]
    return np.ascontiguousarray(image.clip(0, 255) if clip else image).astype(np.uint8)


def _draw_object(
    cv2: Any, image: Any, one: Label, color: Any, thickness: int, id2labels: dict[int, str] | None
) -> None:
    height, width = image.shape[:2]
    left, top, right, bottom = (int(share * size) for share, size in zip(one[1:5], (width, height, width, height)))
    if left < 0:
        return
    drawn = tuple(float(value) for value in (color[::-1] if color else np.random.rand(3) * 255))
    cv2.rectangle(image, (left, top), (right, bottom), drawn, thickness)
    name = (id2labels or {}).get(int(one[0]))
    if name is not None:
        font, scale = cv2.FONT_HERSHEY_SIMPLEX, 0.5
        below = cv2.getTextSize(name, font, scale, 2)[0][1]
        cv2.putText(image, name, (left + 5, top + below + 5), font, scale, (255, 255, 255), 2)

"""The SVG that Matplotlib writes, painted with Qt.

Qt's own renderer ignores clip paths, so that curves would leave their axes. Matplotlib uses few
elements: groups, paths, uses, images, clip paths and patterns (hatches). The rest is left out.
"""

import base64
import binascii
import re
from dataclasses import dataclass, field
from xml.etree import ElementTree

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QImage, QPainter, QPainterPath, QPen, QTransform

MAX_DEPTH = 40
"""Deepest nesting of elements and uses."""
MAX_SHAPES = 60_000
"""Most shapes that are painted."""
MAX_IMAGE_SIDE = 8192
_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_TOKEN = re.compile(r"[MLQCZz]|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_CALL = re.compile(r"(\w+)\(([^)]*)\)")
_CAPS = {
    "round": Qt.PenCapStyle.RoundCap,
    "square": Qt.PenCapStyle.SquareCap,
    "butt": Qt.PenCapStyle.FlatCap,
}
_JOINS = {
    "round": Qt.PenJoinStyle.RoundJoin,
    "miter": Qt.PenJoinStyle.SvgMiterJoin,
    "bevel": Qt.PenJoinStyle.BevelJoin,
}
_POINTS = {"M": 1, "L": 1, "Q": 2, "C": 3}

Style = dict[str, str]


@dataclass(slots=True)
class _Shape:
    """A path with its pen and brush, or an image, with transform and clip path."""

    transform: QTransform
    clip: QPainterPath | None
    path: QPainterPath = field(default_factory=QPainterPath)
    pen: QPen = field(default_factory=lambda: QPen(Qt.PenStyle.NoPen))
    brush: QBrush = field(default_factory=QBrush)
    opacity: float = 1.0
    image: QImage | None = None
    area: QRectF = field(default_factory=QRectF)


class MatplotlibSvg:
    """A parsed figure.

    Raises:
        ValueError: the data are no SVG, or one beyond the limits above.
    """

    def __init__(self, data: bytes) -> None:
        self._shapes: list[_Shape] = []
        self._paths: dict[str, QPainterPath] = {}
        self._clips: dict[str, QPainterPath] = {}
        self._hatches: dict[str, QBrush] = {}
        try:
            root = ElementTree.fromstring(data)
            self._by_id = {item.get("id"): item for item in root.iter() if item.get("id")}
            _, _, width, height = map(float, root.get("viewBox", "").split())
            self.size = QRectF(0, 0, width, height).size()
            self._visit(root, {}, QTransform(), None, MAX_DEPTH)
        except (ElementTree.ParseError, ValueError, IndexError, KeyError, TypeError) as error:
            raise ValueError(f"The figure cannot be read: {error}") from None

    def paint(self, painter: QPainter, area: QRectF) -> None:
        """Paint the figure into ``area``, which should have its ratio."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(area.topLeft())
        painter.scale(area.width() / self.size.width(), area.height() / self.size.height())
        painter.setClipRect(QRectF(QPointF(), self.size), Qt.ClipOperation.IntersectClip)
        clip: QPainterPath | None = None
        painter.save()
        for shape in self._shapes:
            if shape.clip is not clip:
                painter.restore()
                painter.save()
                clip = shape.clip
                if clip is not None:
                    painter.setClipPath(clip, Qt.ClipOperation.IntersectClip)
            _paint_shape(painter, shape)
        painter.restore()
        painter.restore()

    def _visit(
        self,
        item: ElementTree.Element,
        style: Style,
        transform: QTransform,
        clip: QPainterPath | None,
        depth: int,
    ) -> None:
        """Add the shapes of an element and of those in it."""
        if not depth or len(self._shapes) > MAX_SHAPES:
            raise ValueError("it has too many parts")
        name = item.tag.removeprefix(_SVG)
        if name in ("defs", "metadata", "clipPath", "pattern", "style", "title"):
            return
        style = {**style, **_style(item)}
        transform = _transform(item.get("transform", "")) * transform
        clip = self._clip(item.get("clip-path", ""), clip, transform)
        if name in ("g", "svg"):
            for inner in item:
                self._visit(inner, style, transform, clip, depth - 1)
        elif name == "use":
            target = self._by_id[item.get(_HREF, "")[1:]]
            x, y = float(item.get("x", 0)), float(item.get("y", 0))
            moved = QTransform.fromTranslate(x, y) * transform
            self._visit(target, style, moved, clip, depth - 1)
        elif name == "path":
            self._add_path(item, style, transform, clip)
        elif name == "image":
            self._add_image(item, style, transform, clip)

    def _add_path(
        self,
        item: ElementTree.Element,
        style: Style,
        transform: QTransform,
        clip: QPainterPath | None,
    ) -> None:
        path = self._path(item)
        opacity = float(style.get("opacity", 1))
        brush = self._brush(style)
        self._shapes.append(_Shape(transform, clip, path, _pen(style), brush, opacity))

    def _path(self, item: ElementTree.Element) -> QPainterPath:
        key = item.get("id", "")
        if key not in self._paths:
            path = parse_path(item.get("d", ""))
            if not key:
                return path
            self._paths[key] = path
        return self._paths[key]

    def _add_image(
        self,
        item: ElementTree.Element,
        style: Style,
        transform: QTransform,
        clip: QPainterPath | None,
    ) -> None:
        head, _, text = item.get(_HREF, "").partition(",")
        if head != "data:image/png;base64":
            raise ValueError("an image is no PNG")
        try:
            image = QImage.fromData(base64.b64decode(text), "PNG")  # type: ignore[arg-type]
        except binascii.Error as error:
            raise ValueError(str(error)) from None
        if image.isNull() or max(image.width(), image.height()) > MAX_IMAGE_SIDE:
            raise ValueError("an image cannot be read")
        sides = [float(item.get(word, 0)) for word in ("x", "y", "width", "height")]
        opacity = float(style.get("opacity", 1))
        self._shapes.append(
            _Shape(transform, clip, opacity=opacity, image=image, area=QRectF(*sides))
        )

    def _clip(
        self, reference: str, outer: QPainterPath | None, transform: QTransform
    ) -> QPainterPath | None:
        if not reference.startswith("url(#"):
            return outer
        key = reference[5:-1]
        if key not in self._clips:
            path = QPainterPath()
            for item in self._by_id[key]:
                if item.tag == f"{_SVG}rect":
                    sides = [float(item.get(word, 0)) for word in ("x", "y", "width", "height")]
                    path.addRect(QRectF(*sides))
                elif item.tag == f"{_SVG}path":
                    path.addPath(parse_path(item.get("d", "")))
            self._clips[key] = path
        path = self._clips[key]
        if not transform.isIdentity():
            path = transform.map(path)
        return path if outer is None else outer.intersected(path)

    def _brush(self, style: Style) -> QBrush:
        fill = style.get("fill", "#000000")
        if fill.startswith("url(#"):
            return self._hatch(fill[5:-1])
        if fill == "none":
            return QBrush(Qt.BrushStyle.NoBrush)
        return QBrush(_color(fill, style.get("fill-opacity", "1")))

    def _hatch(self, key: str) -> QBrush:
        """Return a brush with the picture of a pattern."""
        if key not in self._hatches:
            item = self._by_id[key]
            side, scale = min(512, round(float(item.get("width", 72)))), 2
            image = QImage(side * scale, side * scale, QImage.Format.Format_ARGB32_Premultiplied)
            image.fill(Qt.GlobalColor.transparent)
            painter = QPainter(image)
            try:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.scale(scale, scale)
                for part in item:
                    style = _style(part)
                    if part.tag == f"{_SVG}rect":
                        painter.fillRect(QRectF(0, 0, side + 1, side + 1), self._brush(style))
                    elif part.tag == f"{_SVG}path":
                        path = parse_path(part.get("d", ""))
                        _paint_shape(
                            painter,
                            _Shape(QTransform(), None, path, _pen(style), self._brush(style)),
                        )
            finally:
                painter.end()
            brush = QBrush(image)
            brush.setTransform(QTransform.fromScale(1 / scale, 1 / scale))
            self._hatches[key] = brush
        return self._hatches[key]


def _paint_shape(painter: QPainter, shape: _Shape) -> None:
    before = painter.transform()
    painter.setTransform(shape.transform, True)
    painter.setOpacity(shape.opacity)
    if shape.image is not None:
        painter.drawImage(shape.area, shape.image)
    else:
        painter.setPen(shape.pen)
        painter.setBrush(shape.brush)
        painter.drawPath(shape.path)
    painter.setTransform(before)


def parse_path(text: str) -> QPainterPath:
    """Return the path of an attribute ``d`` with Matplotlib's commands M, L, Q, C and z."""
    path = QPainterPath()
    path.setFillRule(Qt.FillRule.WindingFill)
    tokens = _TOKEN.findall(text)
    at, count, command = 0, len(tokens), ""
    while at < count:
        token = tokens[at]
        if token in "Zz":
            path.closeSubpath()
            at += 1
            continue
        if token in _POINTS:
            command, at = token, at + 1
        size = 2 * _POINTS[command]
        p = [float(number) for number in tokens[at : at + size]]
        at += size
        if command == "M":
            path.moveTo(p[0], p[1])
        elif command == "L":
            path.lineTo(p[0], p[1])
        elif command == "Q":
            path.quadTo(p[0], p[1], p[2], p[3])
        else:
            path.cubicTo(p[0], p[1], p[2], p[3], p[4], p[5])
    return path


def _style(item: ElementTree.Element) -> Style:
    text = item.get("style", "")
    found = {}
    for part in text.split(";"):
        word, colon, value = part.partition(":")
        if colon:
            found[word.strip()] = value.strip()
    for word in ("fill", "stroke", "opacity"):
        if word in item.attrib:
            found.setdefault(word, item.attrib[word])
    return found


def _transform(text: str) -> QTransform:
    """Return the transform of an attribute; the last call of it is applied first."""
    made = QTransform()
    for name, inside in _CALL.findall(text):
        n = [float(number) for number in inside.replace(",", " ").split()]
        if name == "translate":
            step = QTransform.fromTranslate(n[0], n[1] if len(n) > 1 else 0.0)
        elif name == "scale":
            step = QTransform.fromScale(n[0], n[-1])
        elif name == "rotate":
            step = QTransform().rotate(n[0])
            if len(n) == 3:
                there = QTransform.fromTranslate(n[1], n[2])
                step = QTransform.fromTranslate(-n[1], -n[2]) * step * there
        elif name == "matrix":
            step = QTransform(*n)
        elif name in ("skewX", "skewY"):
            tangent = QLineF.fromPolar(1, -n[0])
            ratio = tangent.dy() / tangent.dx()
            step = (
                QTransform(1, 0, ratio, 1, 0, 0)
                if name == "skewX"
                else QTransform(1, ratio, 0, 1, 0, 0)
            )
        else:
            raise ValueError(f"the transform {name} is unknown")
        made = step * made
    return made


def _color(text: str, opacity: str) -> QColor:
    color = QColor(text)
    if not color.isValid():
        raise ValueError(f"{text} is no colour")
    color.setAlphaF(min(1.0, max(0.0, float(opacity))))
    return color


def _pen(style: Style) -> QPen:
    stroke = style.get("stroke", "none")
    if stroke == "none":
        return QPen(Qt.PenStyle.NoPen)
    width = float(style.get("stroke-width", 1))
    pen = QPen(_color(stroke, style.get("stroke-opacity", "1")), max(width, 0.01))
    pen.setCapStyle(_CAPS[style.get("stroke-linecap", "butt")])
    pen.setJoinStyle(_JOINS[style.get("stroke-linejoin", "round")])
    pen.setMiterLimit(float(style.get("stroke-miterlimit", 4)))
    dashes = style.get("stroke-dasharray", "none")
    if dashes != "none" and width > 0:
        lengths = [float(length) / width for length in dashes.replace(",", " ").split()]
        if len(lengths) % 2:
            lengths *= 2
        if sum(lengths) > 0:
            pen.setDashPattern(lengths)
            pen.setDashOffset(float(style.get("stroke-dashoffset", 0)) / width)
    return pen

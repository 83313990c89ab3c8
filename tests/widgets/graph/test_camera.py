import pytest
from PySide6.QtCore import QPointF, QRectF, QSizeF

from gradscribe.widgets.graph.camera import MAX_FIT_ZOOM, Camera, centered, fitting


def test_the_camera_goes_there_and_back():
    camera = Camera(1.7, 12.0, -30.0)
    point = QPointF(33, 44)
    back = camera.to_scene(camera.to_view(point))
    assert (back.x(), back.y()) == pytest.approx((33, 44))


def test_zooming_keeps_the_point_under_the_cursor():
    camera, about = Camera(1.0, 10.0, 20.0), QPointF(150, 90)
    held = camera.to_scene(about)
    closer = camera.zoomed(1.5, about)
    assert closer.zoom == pytest.approx(1.5)
    assert closer.to_view(held).x() == pytest.approx(150)
    assert camera.zoomed(1e9, about).zoom == 4.0
    assert camera.zoomed(1e-9, about).zoom == 0.02


def test_fitting_shows_all_but_never_closer_than_asked():
    box, view = QRectF(-50, -20, 2000, 400), QSizeF(800, 600)
    camera = fitting(box, view)
    assert QRectF(0, 0, 800, 600).contains(camera.box_to_view(box))
    assert fitting(QRectF(0, 0, 10, 10), view).zoom == MAX_FIT_ZOOM
    assert camera.to_scene(QPointF(400, 300)) == box.center()


def test_a_flight_ends_where_it_should():
    start, end = Camera(0.5, 0, 0), centered(QRectF(0, 0, 10, 10), QSizeF(100, 100), 2.0)
    assert start.interpolated(end, 0) == start
    assert start.interpolated(end, 1) == end
    assert start.interpolated(end, 0.5).zoom == pytest.approx(1.0)

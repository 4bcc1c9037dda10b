"""The first page of a chat: what it offers to which model."""

import pytest

from llama_gui.ui.transcript.welcome import IDEAS, QUESTIONS, Suggestion, Welcome


@pytest.fixture
def welcome(qtbot) -> Welcome:
    welcome = Welcome()
    qtbot.addWidget(welcome)
    return welcome


def offered(welcome: Welcome) -> tuple[str, ...]:
    return tuple(button.text() for button in welcome.findChildren(Suggestion) if button is not welcome._find)


def test_only_the_starter_is_asked_about_the_application(welcome):
    welcome.greet("Starter model", is_starter=True, is_coming=False, models_keys="Ctrl+M")
    assert offered(welcome) == QUESTIONS
    for name, is_coming in (("Llama 3.2 1B", False), ("", True), ("", False)):
        welcome.greet(name, is_starter=False, is_coming=is_coming, models_keys="Ctrl+M")
        assert offered(welcome) == IDEAS


def test_no_line_ends_in_the_middle_of_the_applications_name(welcome):
    welcome.greet("Starter model", is_starter=True, is_coming=False, models_keys="Ctrl+M")
    assert "llama\u2011gui." in welcome._line.text()


@pytest.mark.parametrize(
    ("width", "height", "zoom"), [(480, 220, 1.0), (480, 220, 2.0), (320, 160, 1.5), (900, 900, 2.0)]
)
def test_nothing_is_squeezed_or_cut_where_there_is_little_room(welcome, qtbot, width, height, zoom):
    welcome.greet("Starter model", is_starter=True, is_coming=False, models_keys="Ctrl+M")
    welcome.set_zoom(zoom)
    welcome.resize(width, height)
    welcome.show()
    qtbot.waitExposed(welcome)
    labels = (welcome._greeting, welcome._line, welcome._way)
    qtbot.waitUntil(lambda: all(label.height() >= label.heightForWidth(label.width()) for label in labels))
    buttons = [*welcome._suggestions, welcome._find]
    assert [button.height() for button in buttons] == [round(38 * zoom)] * len(buttons)
    welcome.ensureWidgetVisible(welcome._find)
    assert welcome._find.visibleRegion().boundingRect().height() == welcome._find.height()
    assert welcome.widget().width() <= welcome.viewport().width()
    lines = [label.font().pixelSize() for label in labels]
    assert lines == [round(pixels * zoom) for pixels in (22, 14, 12)]

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

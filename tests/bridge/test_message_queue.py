"""The queue alone."""

from llama_gui.bridge.message_queue import MessageQueue
from llama_gui.chats.attachments import Draft

ONE, TWO = Draft("one"), Draft("two")


def test_the_next_one_comes_first(qtbot):
    queue = MessageQueue()
    assert queue.take_next() is None
    queue.add(TWO)
    queue.add(ONE, 0)
    assert queue.drafts() == [ONE, TWO]
    assert (queue.take_next(), queue.take_next(), queue.take_next()) == (ONE, TWO, None)


def test_an_empty_queue_does_not_pause(qtbot):
    queue = MessageQueue()
    queue.pause()
    queue.add(ONE)
    assert not queue.is_paused
    assert queue.take_next() == ONE


def test_a_paused_queue_gives_nothing_until_it_is_resumed_or_emptied(qtbot):
    queue = MessageQueue()
    queue.add(ONE)
    queue.add(TWO)
    queue.pause()
    assert queue.take_next() is None
    assert queue.take() == ONE
    assert queue.is_paused
    queue.resume()
    assert queue.take_next() == TWO
    queue.put_back(TWO)
    assert queue.is_paused
    queue.take()
    queue.add(ONE)
    assert not queue.is_paused

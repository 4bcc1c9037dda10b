"""Images: what they are made of, and where in a message they stand."""

import pytest

from llama_gui.errors import InvalidRequestError
from llama_gui.vocabulary import GenerateRequest, Image, Message, media_type_of

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0JFIF", "image/jpeg"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"GIF89a", "image/gif"),
        (b"BM\0\0", "image/bmp"),
        (b"RIFF\0\0\0\0WAVE", ""),
        (b"<svg/>", ""),
        (b"", ""),
    ],
)
def test_a_kind_is_told_from_the_first_bytes(data, kind):
    assert media_type_of(data) == kind


@pytest.mark.parametrize("data", [b"", b"<svg/>", "text", None, PNG + bytes(64 * 2**20)])
def test_what_is_no_image_is_refused(data):
    with pytest.raises(InvalidRequestError, match=r"^image is"):
        Image(data)


def test_equal_bytes_have_one_digest():
    assert Image(PNG, 3).digest == Image(PNG).digest != Image(PNG + b"x").digest
    assert Image(PNG, 3) != Image(PNG)


def test_images_stand_within_a_text_of_the_user_and_in_order():
    assert Message("user", "ab", images=[Image(PNG), Image(PNG, 2)]).images == (Image(PNG), Image(PNG, 2))
    for role, places in (("user", [3]), ("user", [2, 1]), ("assistant", [0]), ("system", [0])):
        with pytest.raises(InvalidRequestError, match=r"^images is"):
            Message(role, "ab", images=[Image(PNG, place) for place in places])
    with pytest.raises(InvalidRequestError, match=r"^place is -1"):
        Image(PNG, -1)


@pytest.mark.parametrize("images", [PNG, "x", [PNG], None])
def test_what_is_no_list_of_images_is_refused(images):
    with pytest.raises(InvalidRequestError, match=r"^images is"):
        Message("user", "Hi", images=images)
    with pytest.raises(InvalidRequestError, match=r"^images is"):
        GenerateRequest(prompt="Hi", images=images)


def test_those_of_messages_are_in_them():
    with pytest.raises(InvalidRequestError, match="within the messages"):
        GenerateRequest(messages=[Message("user", "Hi")], images=[Image(PNG)])

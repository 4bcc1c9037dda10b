"""What people type into the field for an address."""

import pytest

from llama_gui.bridge.typed_address import whole_address


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (" 127.0.0.1:18111 ", "http://127.0.0.1:18111/v1"),
        ("localhost:8000/", "http://localhost:8000/"),
        ("[::1]:8000/api/v1", "http://[::1]:8000/api/v1"),
        ("https://server.example/v1", "https://server.example/v1"),
        ("http://localhost:11434", "http://localhost:11434/v1"),
        ("http://localhost:11434/", "http://localhost:11434/"),
        ("http://nas.local", "http://nas.local/v1"),
        ("http://192.168.1.20", "http://192.168.1.20/v1"),
        ("https://server.example:8443", "https://server.example:8443/v1"),
        ("https://api.openai.com", "https://api.openai.com/v1"),
        ("https://OpenRouter.ai", "https://OpenRouter.ai/api/v1"),
        ("https://api.perplexity.ai", "https://api.perplexity.ai"),
        ("https://models.inference.ai.azure.com", "https://models.inference.ai.azure.com"),
        ("https://server.example", "https://server.example"),
        ("https://server.example/", "https://server.example/"),
        ("https://[half", "https://[half"),
        ("https://server.example:99999", "https://server.example:99999"),
        ("nonsense", "nonsense"),
        ("api.openai.com", "https://api.openai.com/v1"),
        ("openrouter.ai/api/v1", "https://openrouter.ai/api/v1"),
        ("server.example", "https://server.example"),
        ("192.168.1.20", "http://192.168.1.20/v1"),
        ("192.168.1.5", "http://192.168.1.5/v1"),
        ("10.0.0.7/v1", "http://10.0.0.7/v1"),
        ("10.0.0.7/", "http://10.0.0.7/"),
        ("127.0.0.1", "http://127.0.0.1/v1"),
        ("8.8.8.8", "https://8.8.8.8"),
        ("[::1]", "http://[::1]/v1"),
        ("[fd00::7]/api", "http://[fd00::7]/api"),
        ("[2606:4700::1]", "https://[2606:4700::1]"),
        ("1.2.3.", "1.2.3."),
        ("[127.0.0.1]", "[127.0.0.1]"),
        ("[::1", "[::1"),
        ("nas.fritz.box/v1", "http://nas.fritz.box/v1"),
        ("file.txt?", "file.txt?"),
    ],
)
def test_an_address_is_completed_where_its_rest_is_known(typed, meant):
    assert whole_address(typed) == meant


@pytest.mark.parametrize("kept", ["http://localhost:8000", "https://api.openai.com", "localhost:8000"])
def test_an_address_that_is_kept_is_not_completed(kept):
    assert whole_address(f" {kept} ", kept) == kept
    assert whole_address(kept, "https://another.example") != kept

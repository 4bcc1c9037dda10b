"""Names of GGUF files."""

import pytest

from llama_gui.library.gguf_kind import gguf_dtype, gguf_kind


@pytest.mark.parametrize(
    ("path", "kind", "dtype"),
    [
        ("Llama-3.2-1B-Instruct-Q4_K_M.gguf", "Q4_K_M", "int4"),
        ("sub/tinyllama-1.1b-chat-v1.0.Q5_K_S.gguf", "Q5_K_S", "int8"),
        ("model-q8_0.gguf", "Q8_0", "int8"),
        ("Llama-f16.gguf", "F16", "bfloat16"),
        ("x.BF16.gguf", "BF16", "bfloat16"),
        ("x-f32.gguf", "F32", "float32"),
        ("x-IQ3_M.gguf", "IQ3_M", "int4"),
        ("x-Q2_K_S.gguf", "Q2_K_S", "int4"),
        ("x-IQ4_XS.gguf", "IQ4_XS", "int4"),
        ("x-Q5_0.gguf", "Q5_0", "int8"),
        ("plain.gguf", "", ""),
        ("Llama-Q4_K_M", "", ""),
        ("Llama-q4_0.gguf", "Q4_0", "int4"),
        ("Llama-Q4_1.gguf", "Q4_1", "int8"),
        ("gpt-oss-20b-mxfp4.gguf", "MXFP4", "int4"),
        ("gpt-oss-20b-MXFP4_MOE.gguf", "MXFP4_MOE", "int4"),
    ],
)
def test_the_kind_of_a_gguf_file_is_in_its_name(path: str, kind: str, dtype: str):
    assert gguf_kind(path) == kind
    assert gguf_dtype(kind) == dtype

"""RTF."""

from llama_gui.chats.documents.rich_text import read_rich_text


def test_words_paragraphs_and_tables():
    content = rb"""{\rtf1\ansi\ansicpg1252\uc1{\fonttbl{\f0 Arial;}}{\*\generator Writer;}{\info{\title Hidden}}
\pard Gr\'f6\'dfe {\b bold} \u8364?5\par
second\line line \{x\}\par
{\pict\bin4 {{{{ffff}
\trowd a\cell b\cell\row\trowd 1\cell 2\cell\row\pard end \u-10179?\u-8704?}"""
    found = read_rich_text(content)
    assert found == "Größe bold €5\n\nsecond\nline {x}\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\nend 😀\n"


def test_a_code_page_that_there_is_not_is_read_as_western():
    assert read_rich_text(rb"{\rtf1\ansicpg99999 \'e4}") == "ä\n"

"""Markdown as another program renders it: GitHub's tables, links that are found in text, live HTML."""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.token import Token

Cells = list[list[str]]


def rendered_tables(text: str) -> list[Cells]:
    """Return the cells of each table, the headings first; nothing but code is marked up in any text."""
    tables: list[Cells] = []
    in_table = False
    for token in MarkdownIt("gfm-like").parse(text):
        if token.type in {"table_open", "table_close"}:
            in_table = not in_table
            tables += [[]] * in_table
        elif token.type == "tr_open":
            tables[-1] = [*tables[-1], []]
        elif token.type == "inline" and in_table:
            tables[-1][-1].append(shown_text(token))
        elif token.type == "inline":
            shown_text(token)
        else:
            assert token.type.removesuffix("_open").removesuffix("_close") in _BLOCKS, token
    return tables


_BLOCKS = {"table", "thead", "tbody", "tr", "th", "td", "paragraph"}


def rendered_paragraph(text: str) -> str:
    """Return the text of what renders as one paragraph, or as nothing."""
    opened, inline, closed = MarkdownIt("gfm-like").parse(text)
    assert (opened.type, closed.type) == ("paragraph_open", "paragraph_close")
    return shown_text(inline)


def shown_text(inline: Token) -> str:
    """Return what a reader sees of a line."""
    children = inline.children or []
    assert {child.type for child in children} <= {"text", "text_special", "code_inline"}, children
    return "".join(child.content for child in children)

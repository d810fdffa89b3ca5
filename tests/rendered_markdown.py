"""Markdown as another program renders it: GitHub's tables, addresses that become links, live HTML."""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.token import Token

Cells = list[list[str]]

_TABLE = {"table", "thead", "tbody", "tr", "th", "td"}
_BLOCKS = _TABLE | {"paragraph", "heading", "fence", "bullet_list", "list_item"}
_WORDS = {"text", "text_special", "code_inline"}


def rendered_tables(text: str) -> list[Cells]:
    """Return the cells of each table, the headings first.

    Nothing in them is marked up but as code, and nothing around them is a link or HTML, but for comments.
    """
    tables: list[Cells] = []
    in_table = False
    for token in MarkdownIt("gfm-like").parse(text):
        if token.type in {"table_open", "table_close"}:
            in_table = not in_table
            tables += [[]] * in_table
        elif token.type == "tr_open":
            tables[-1] = [*tables[-1], []]
        elif token.type == "inline" and in_table:
            tables[-1][-1].append(_shown(token, _WORDS))
        elif token.type == "inline":
            _shown(token, _WORDS | {"strong_open", "strong_close", "image"})
        elif not token.content.startswith("<!--"):
            assert token.type.removesuffix("_open").removesuffix("_close") in _BLOCKS, token
    return tables


def rendered_paragraph(text: str) -> str:
    """Return the text of what renders as one paragraph, in which nothing is marked up but as code."""
    opened, inline, closed = MarkdownIt("gfm-like").parse(text)
    assert (opened.type, closed.type) == ("paragraph_open", "paragraph_close")
    return _shown(inline, _WORDS)


def _shown(inline: Token, allowed: set[str]) -> str:
    children = inline.children or []
    assert {child.type for child in children} <= allowed, children
    return "".join(child.content for child in children)

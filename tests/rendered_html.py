"""HTML as a browser reads it: tags that nest, the text in them, and nothing that loads or runs."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "br", "rect", "path", "circle", "polyline"}
# What makes a browser fetch or run something.
ACTIVE_TAGS = {"script", "link", "img", "image", "iframe", "object", "embed", "use", "base", "form", "a"}
ACTIVE_ATTRIBUTES = {"src", "href", "xlink:href", "srcset", "action", "data", "style"}


class Page(HTMLParser):
    """A page's tags, attributes and the text of its headings and cells; fails where tags do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.document = text
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.ids: list[str] = []
        self.text: dict[str, list[str]] = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)
            self.text.setdefault(tag, []).append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in set(self.open):
            self.text[tag][-1] += data

    def assert_harmless(self) -> None:
        """Fail where something is loaded or run, and where a name is taken twice."""
        assert len(self.ids) == len(set(self.ids))
        assert not self.tags & ACTIVE_TAGS
        assert not self.attributes & ACTIVE_ATTRIBUTES
        assert not any(name.startswith("on") for name in self.attributes)
        (style,) = self.text["style"]
        assert {"url(", "@import"}.isdisjoint(style.split())
        assert "default-src 'none'" in self.document
        assert "\x1b" not in self.document

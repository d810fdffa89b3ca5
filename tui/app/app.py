"""The app: its keys, its views, its help and palette."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from itertools import chain
from typing import Any

from rich.cells import get_character_cell_size
from rich.segment import Segment
from textual import events, on, work
from textual.app import App, SystemCommand
from textual.binding import Binding
from textual.color import Color
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.filter import LineFilter
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Input

from tui.app.actions import APP, PLANNED, bindings
from tui.app.session_app import ExplainedScreen, LoadingScreen, SessionApp
from tui.app.state import Session
from tui.app.views import FIRST_VIEW, VIEWS, entries, view_named, views_that_open
from tui.terminal.printable import draw_in_ascii, is_ascii

# The screens are imported where they are needed, so that the first paint need not wait for them.

_OTHER_VIEWS_AFTER_SECONDS = 0.3
_UNTIL_READY_SECONDS = 0.05
_MOST_VIEWS_BACK = 16


class EntryProvider(Provider):
    """The app's own commands, in its order; Textual's own provider sorts them by name."""

    async def discover(self) -> Hits:
        for title, explanation, callback, _ in self.app.get_system_commands(self.screen):
            # Textual's markup is to show brackets as they are.
            yield DiscoveryHit(Content(title), callback, text=title, help=explanation.replace("[", r"\["))

    async def search(self, query: str) -> Hits:
        matcher, words = self.matcher(query), query.casefold()
        for title, explanation, callback, _ in self.app.get_system_commands(self.screen):
            score = matcher.match(title)
            # What has the letters in its title somewhere stands behind what is explained by these words.
            if words in title.casefold() or words in explanation.casefold():
                score += 1 + (words in title.casefold())
            if score > 0:
                highlighted = matcher.highlight(title.replace("[", r"\["))
                yield Hit(score, highlighted, callback, text=title, help=explanation.replace("[", r"\["))


class PrintableFilter(LineFilter):
    """Replaces what cannot be printed, without changing widths: the last step before the terminal.

    Widgets escape what they show themselves; Textual's own have glyphs that ASCII lacks.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        """Return the segments with blanks and question marks in place of what cannot be printed."""
        if all(self._is_harmless(segment.text) for segment in segments):
            return segments
        return [Segment("".join(map(self._shown, text)), style, control) for text, style, control in segments]

    def _is_harmless(self, text: str) -> bool:
        return text.isprintable() and (text.isascii() or not is_ascii())

    def _shown(self, mark: str) -> str:
        if self._is_harmless(mark):
            return mark
        return ("?" if mark.isprintable() else " ") * get_character_cell_size(mark)


_LONGEST_SECONDS = 1.5
"""A key whose widget goes away while it is handled is not reported as handled."""


class KeyOrder:
    """Hands keys on one by one, each to the widget that then has the focus.

    Over a slow line several keys come in one packet. Textual hands all of them to the widget in focus before
    the first is handled: text is inserted before an earlier backspace, and what follows the key that opens a
    field goes elsewhere.

    `hand_on`: gives a key to the widget in focus, as Textual does.
    """

    def __init__(self, app: App[Any], hand_on: Callable[[events.Key], Awaitable[None]]) -> None:
        self._app = app
        self._hand_on = hand_on
        self._waiting: deque[events.Key] = deque()
        self._handled = 0
        self._under_way: int | None = None

    @property
    def is_resting(self) -> bool:
        """Whether every key is handled."""
        return self._under_way is None and not self._waiting

    async def take(self, key: events.Key) -> None:
        """Hand a key on, now or in its turn."""
        self._waiting.append(key)
        if self._under_way is None:
            await self._next()

    async def _next(self) -> None:
        if not self._waiting:
            return
        self._under_way = number = self._handled
        target: MessagePump = self._app.focused or self._app.screen
        await self._hand_on(self._waiting.popleft())
        asyncio.get_running_loop().call_later(_LONGEST_SECONDS, self._give_up, number)
        self._follow(target, partial(self._follow, target, partial(self._drawn, number)))

    def _follow(self, node: MessagePump | None, callback: Callable[[], object]) -> None:
        """Wait in the queue of every widget that the key bubbles to, behind the messages its action posts."""
        if node is None or node is self._app or not node.call_later(self._follow, node._parent, callback):
            self._app.call_later(callback)

    def _drawn(self, number: int) -> None:
        """Wait for a change of focus too, which may be put off until after the next drawing."""
        self._app.call_after_refresh(self._done, number)

    def _give_up(self, number: int) -> None:
        if number == self._under_way:
            self._app.call_later(self._done, number)

    async def _done(self, number: int) -> None:
        if number == self._under_way:
            self._under_way = None
            self._handled += 1
            await self._next()


class KernelPointApp(SessionApp):
    """KernelPoint on one workload, or on none."""

    CSS_PATH = "app.tcss"
    TITLE = "KernelPoint"
    MODES = {view.name: view.open for view in VIEWS}  # noqa: RUF012
    BINDINGS = [  # noqa: RUF012
        *bindings(APP, PLANNED),
        *(Binding(view.key, f"view('{view.name}')", view.name, show=False) for view in VIEWS),
    ]

    def __init__(self, session: Session, *, view: str = FIRST_VIEW) -> None:
        views = views_that_open(has_profile=bool(session.profiles))
        super().__init__(session, [(view.key, view.name) for view in views])
        # The terminal's own sixteen colours.
        self.theme, self.ansi_color = "ansi-dark", True
        self.animation_level = "none"
        draw_in_ascii(session.ascii_only)
        self.set_class(session.ascii_only, "-ascii")
        self._filters.append(PrintableFilter())
        self._view = view
        self._came_from: deque[str] = deque(maxlen=_MOST_VIEWS_BACK)
        self._until_ready: Timer | None = None
        self._keys = KeyOrder(self, super().on_event)

    def get_default_screen(self) -> Screen[None]:
        """The screen shown before the first view."""
        return LoadingScreen(self.session.profiles)

    async def on_event(self, event: events.Event) -> None:
        """Take keys in their order; the next key takes away what the last one had to say."""
        if isinstance(event, events.Key) and not event.is_forwarded:
            if self._notifications:
                self.clear_notifications()
            if self.session.problem is not None and not self.session.is_problem_read:
                self.change(is_problem_read=True)
            if self._until_ready is not None:
                self._until_ready.stop()
            await self._keys.take(event)
        else:
            await super().on_event(event)

    async def on_mount(self) -> None:
        """Start to read, or open the view that needs nothing read."""
        # The terminal's other screen is blank by then; Textual itself paints only what changed.
        self.app_resume_signal.subscribe(self, lambda _: self.refresh())
        if self.session.profiles:
            self.draft_session(None, self.session)
        else:
            await self.open_first_view()

    async def open_first_view(self) -> None:
        """Open the view asked for; the others are imported while it is looked at."""
        await self.switch_mode(self._view)
        # The first one is drawn by now.
        self.set_timer(_OTHER_VIEWS_AFTER_SECONDS, self._bring_other_views)

    def import_first_view(self) -> None:
        """Import the screen of the view asked for."""
        _ = view_named(self._view).screen

    @work(thread=True, exit_on_error=False, group="views")
    def _bring_other_views(self) -> None:
        """Import the screens of all views, and what the palette needs, while the first view is looked at."""
        for view in VIEWS:
            _ = view.screen
        _ = list(entries(None, (), has_profile=self.session.draft is not None))

    @on(events.DescendantFocus)
    def _stop_blinking(self, event: events.DescendantFocus) -> None:
        """Stop the cursor of a field blinking: it would be written twice a second, over SSH too."""
        if isinstance(event.widget, Input):
            event.widget.cursor_blink = False

    def action_help(self) -> None:
        """Show what the keys do here."""
        from tui.app.view import HelpScreen, ViewScreen

        screen = self.screen
        if isinstance(screen, ExplainedScreen):
            actions = [*chain.from_iterable(screen.SCOPES)]
            used = {key for action in actions for key in action.keys.split(",")}
            if isinstance(screen, ViewScreen) and self.session.profiles and not screen.TAB:
                actions += [action for action in PLANNED if action.keys not in used]
            self.push_screen(HelpScreen(screen, actions))

    def action_command_palette(self) -> None:
        """Open the palette; its own placeholder ends in a glyph that ASCII lacks."""
        if not isinstance(self.screen, CommandPalette):
            self.push_screen(
                CommandPalette([EntryProvider], placeholder="Search for actions", id="--command-palette")
            )

    async def action_view(self, name: str) -> None:
        """Change to a view; while the workload is read, say which is to open then."""
        if self.session.draft is not None or not view_named(name).needs_profile:
            # Otherwise a page over this view would still be there when the user comes back.
            while len(self.screen_stack) > 1:
                self.pop_screen()
            if self.current_mode in self.MODES and self.current_mode != name:
                self._came_from.append(self.current_mode)
            await self.switch_mode(name)
        elif self.session.profiles:
            self._view = name
        else:
            self.say("no profile is open; `kernelpoint PROFILE` opens one")

    async def action_back(self) -> None:
        """Go to the view that this one was opened from; nothing in the first."""
        if self._came_from:
            await self.switch_mode(self._came_from.pop())

    async def action_in_plan(self, action: str) -> None:
        """Run an action of view 3 from another view, once that is open and the plan drawn."""
        from tui.app.view import ViewScreen

        if isinstance(self.screen, ViewScreen) and not self.screen.TAB and self.session.draft is not None:
            await self._run_entry("Plan", action, self.screen)

    async def action_difference(self) -> None:
        """Open view 7, and ask there for what to compare with."""
        await self.action_view("Difference")
        await self.run_action("screen.ask")

    def action_help_quit(self) -> None:
        """Say how to quit, since ctrl+c does not do it."""
        is_typing = isinstance(self.focused, Input)
        self.say("esc leaves the field, then q quits" if is_typing else "q quits")

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """The palette: the actions of the view, those of the others, and what changes the plan."""
        from tui.app.view import ViewScreen

        view, scopes = (screen.NAME, screen.SCOPES) if isinstance(screen, ViewScreen) else (None, (APP,))
        for entry in entries(view, scopes, has_profile=self.session.draft is not None):
            yield SystemCommand(
                entry.title, entry.help, partial(self._run_entry, entry.view, entry.action, screen)
            )

    async def _run_entry(self, view: str | None, action: str, screen: Screen[Any]) -> None:
        """Run an action of the palette, in its own view where it has one."""
        if view is not None:
            await self.action_view(view)
            screen = self.screen
        await self._run_once_ready(action, screen)

    async def _run_once_ready(self, action: str, screen: Screen[Any]) -> None:
        """Run an action of a view as soon as the view shows what it is about; the next key gives it up."""
        from tui.app.view import ViewScreen

        if self.screen is not screen:
            return
        if isinstance(screen, ViewScreen) and not screen.is_ready:
            self._until_ready = self.set_timer(
                _UNTIL_READY_SECONDS, partial(self._run_once_ready, action, screen)
            )
        else:
            await self.run_action(action, screen)

    def _handle_exception(self, error: Exception) -> None:
        """Leave without Textual's traceback: it prints every local variable, and so the user's data."""
        self._return_code = 1
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
        self._close_messages_no_wait()

    @property
    def crash(self) -> Exception | None:
        """The defect that ended the app; None if none did."""
        return self._exception

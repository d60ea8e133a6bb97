"""Any viewer's own string, reversed by the newest saved weights of the run that is shown."""

from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

import streamlit as st

from core.runs.asking import asking
from core.runs.supervisor import Supervisor
from core.training.events import Sampled
from core.training.recipe import check_watched
from pages.parts.training.pictures import film
from pages.parts.training.scene import Scene, weights_of

_TALK = "_talk_with_weights"
QUICK, CALM = 0.5, 2.0


@dataclass
class _Talk:
    """Questions about one string to one run's weights, and the answers so far, oldest first."""

    about: tuple[Path, str]
    asked: int = 0
    waiting: Future[Sampled] | None = None
    answers: list[Sampled] = field(default_factory=list)
    trouble: str | None = None

    def go_on(self) -> None:
        """Take the answer that has come; ask again when the weights were saved anew."""
        if self.waiting and self.waiting.done():
            try:
                answer = self.waiting.result()
                # Saved while it was read: the same step twice says nothing new.
                if not self.answers or self.answers[-1].step != answer.step:
                    self.answers = [*self.answers, answer]
            except ValueError as problem:
                self.trouble = str(problem)
            self.waiting = None
        file = self.about[0]
        saved = file.stat().st_mtime_ns if file.is_file() else self.asked  # the run may be deleted
        if self.waiting is None and saved != self.asked:
            self.asked, self.trouble = saved, None
            self.waiting = asking().ask(*self.about)


def own_string(supervisor: Supervisor, scene: Scene) -> None:
    """A box for a string, and what the newest saved weights make of it, in a row per saving."""
    text = st.text_input(
        "A string to reverse with the newest saved weights",
        key="r_try",
        bind="query-params",
        placeholder="such as CASSLGQAYEQYF",
        width=420,
    )
    if not text.strip():
        return
    try:
        string = check_watched(scene.recipe, text)
    except ValueError as problem:
        st.error(str(problem), icon=":material/error:")
        return
    file = weights_of(supervisor, scene)
    talk = st.session_state.get(_TALK)
    if talk is None or talk.about != (file, string):
        talk = st.session_state[_TALK] = _Talk((file, string))
    talk.go_on()
    more_to_come = bool(scene.run) and scene.moving
    hurried = talk.waiting is not None and not (more_to_come and talk.answers)
    every = QUICK if hurried else CALM if more_to_come else None
    st.fragment(_answers, run_every=every)(talk, scene.watch.save_every, hurried=hurried)


def _answers(talk: _Talk, save_every: int, *, hurried: bool) -> None:
    talk.go_on()
    if hurried and talk.waiting is None:
        st.rerun()
    if talk.trouble:
        st.error(talk.trouble, icon=":material/error:")
    if not talk.answers:
        is_there = talk.about[0].is_file()
        yet = f"No weights are saved yet: the first will be after {save_every:,} steps."
        st.caption("The weights are being read …" if is_there else yet)
        return
    newest, string = talk.answers[-1], talk.about[1]
    st.caption(f"**{string}** by the weights saved at **step {newest.step:,}**")
    film(talk.answers, newest.expected, "own", alive=False)

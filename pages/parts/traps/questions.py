"""Self-check: eight questions, each answered by running a model, with instant feedback."""

from collections.abc import Callable

import streamlit as st

from core.traps import questions_attention, questions_block, questions_training
from core.traps.question import Question
from pages.parts.traps.words import check_link


def _cross_attention() -> Question:
    from core.traps.questions_cross import cross_attention

    return cross_attention()


QUESTIONS: tuple[Callable[[], Question], ...] = (
    questions_block.one_layer,
    questions_attention.positions,
    questions_attention.several_heads,
    questions_attention.square_root,
    questions_attention.causal_mask,
    _cross_attention,
    questions_training.loss_floor,
    questions_block.feed_forward_share,
)
_RIGHT = "_traps_right"


@st.fragment
def show() -> None:
    """One question at a time; answered questions are kept for this visit."""
    numbers = [str(n) for n in range(1, len(QUESTIONS) + 1)]
    check_link({"x_q": ("question", lambda text: text in numbers)})
    chosen = st.segmented_control(
        "Question", numbers, default="1", required=True, key="x_q", bind="query-params"
    )
    number = int(chosen or "1")
    question = _computed(number - 1)
    st.subheader(f"{number}. {question.title}", anchor=False)
    st.markdown(question.prompt)
    answer = st.radio(
        "Your answer",
        question.options,
        index=None,
        key=f"_traps_answer_{number}",
        persist_state="session",
        label_visibility="collapsed",
    )
    if answer is not None:
        _feedback(number, question, question.options.index(answer))
    right: dict[int, bool] = st.session_state.get(_RIGHT, {})
    st.caption(f"Right at the first attempt: {sum(right.values())} of {len(right)} answered.")
    if number < len(QUESTIONS):
        st.button("Next question", on_click=_go_to, args=(str(number + 1),))


def _feedback(number: int, question: Question, chosen: int) -> None:
    right: dict[int, bool] = st.session_state.setdefault(_RIGHT, {})
    right.setdefault(number, chosen == question.answer)
    if chosen == question.answer:
        st.success(f"**Right.** {question.evidence[chosen]}", icon=":material/check:")
    else:
        st.warning(f"**Not this one.** {question.evidence[chosen]}", icon=":material/close:")


def _go_to(number: str) -> None:
    st.session_state["x_q"] = number


@st.cache_data(show_spinner="Running the model …")
def _computed(index: int) -> Question:
    return QUESTIONS[index]()

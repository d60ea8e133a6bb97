"""Strings reversed with saved weights, by the real answering process."""

import signal
from dataclasses import replace

import pytest

from core.runs.asking import Asking
from core.training.engine import Training
from core.training.events import Saved
from core.training.recipe import SPRINT, Watch

TINY = replace(SPRINT, steps=3, batch=4, max_length=11, d_model=16, num_heads=2, d_ff=32)


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    file = tmp_path_factory.mktemp("run") / "last.pt"
    training = Training(TINY, watch=Watch(string="CASS", held_out=1), save_to=file, threads=1)
    assert any(isinstance(event, Saved) for event in training.events())
    return file


@pytest.fixture(scope="module")
def asking():
    line = Asking()
    yield line
    line.close()


def test_the_answer_names_its_step_and_is_what_the_weights_write(asking, weights):
    from core.training.checkpoint import load_model
    from core.training.evaluate import decode_string

    answer = asking.ask(weights, "casslgq").result(60)
    assert (answer.step, answer.source, answer.expected) == (3, "CASSLGQ", "QGLSSAC")
    assert answer.decoded == decode_string(*load_model(weights), "CASSLGQ")


def test_what_cannot_be_answered_is_said_in_a_sentence_and_ends_nothing(asking, weights, tmp_path):
    questions = {
        (weights, "CASSLGQCASSLGQ"): "11",
        (weights, "CAB"): "B",
        (tmp_path / "none.pt", "CASS"): "no checkpoint",
    }
    for (file, string), part in questions.items():
        with pytest.raises(ValueError, match=part):
            asking.ask(file, string).result(60)
    assert asking.ask(weights, "CASS").result(60).source == "CASS"


def test_a_process_that_was_killed_is_replaced_and_leaves_when_the_pipe_ends(weights):
    line = Asking()
    line.ask(weights, "CASS").result(60)
    line._process.kill()
    line._process.wait()
    assert line.ask(weights, "CASS").result(60).step == 3
    line._process.send_signal(signal.SIGSTOP)  # the question is written, and never read
    waiting = line.ask(weights, "CASS")
    with pytest.raises(TimeoutError):
        waiting.result(0.2)
    line._process.kill()
    assert waiting.result(60).step == 3
    line.close()
    assert line._process.returncode == 0

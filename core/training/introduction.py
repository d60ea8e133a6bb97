"""What a run says of itself before its first step: machine, versions, size, lowest loss.

In: a learner at its start. Out: the first event. Knows nothing of how the run goes on.
"""

import sys

import numpy as np
import torch

from core.alphabet import Vocabulary
from core.training.devices import device_name
from core.training.events import Started
from core.training.learner import Learner
from core.training.recipe import Watch
from core.training.schedule import smoothing_floor


def introduction(learner: Learner, watch: Watch, resumed_from: int) -> Started:
    """The first event of a run that begins after step `resumed_from`."""
    recipe, versions = learner.recipe, {"torch": torch.__version__, "numpy": np.__version__}
    return Started(
        recipe=recipe.to_dict(),
        watch=watch.to_dict(),
        device=learner.device.type,
        device_name=device_name(learner.device),
        threads=torch.get_num_threads(),
        processes=learner.world.size,
        parameters=sum(p.numel() for p in learner.model.parameters()),
        smoothing_floor=smoothing_floor(recipe.label_smoothing, len(Vocabulary(recipe.letters))),
        versions={"python": sys.version.split()[0], **versions},
        resumed_from=resumed_from,
    )

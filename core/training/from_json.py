"""Frozen settings as a dictionary or as JSON text, and back, refusing names they do not have."""

import json
from dataclasses import asdict, fields
from typing import Any, Self, no_type_check


@no_type_check
class FromJson:
    """Reading and writing as a dictionary or as JSON text, refusing names it does not know."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)  # type: ignore[call-overload]

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Build from a dictionary; missing names keep their default.

        Raises ValueError naming a field that does not exist or a value that is not allowed.
        """
        known = [f.name for f in fields(cls)]  # type: ignore[arg-type]
        for name in values:
            if name not in known:
                raise ValueError(f"There is no setting called {name!r}; known: {', '.join(known)}.")
        return cls(**values)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Build from JSON text. Raises ValueError when it is not one JSON object."""
        try:
            values = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"This is not JSON: {error}.") from error
        except RecursionError as error:
            raise ValueError("A recipe in JSON has no brackets within so many brackets.") from error
        except ValueError as error:  # Python reads no whole number of thousands of digits
            raise ValueError("A number in this JSON has more digits than any setting.") from error
        if not isinstance(values, dict):
            raise ValueError("A recipe in JSON is one object of names and values.")
        return cls.from_dict(values)

"""A client of tripnote: ask before a tool call, tell after it, give the model the words in between.

```python
with Client() as client, client.session("run-1") as session:
    with session.guard("charge_card", {"amount": 10}, effect="mutate") as call:
        if call.may_go:
            answer = http.post("/charge", json={"amount": 10})
            call.answered(answer.content, http_status=answer.status_code, headers=answer.headers)
    messages.append(call.text)  # The result, or the contract in its place.
```
"""

from .aio import AsyncCall, AsyncClient, AsyncSession
from .aio import guarded as async_guarded
from .blocking import Call, Client, Session, guarded
from .values import Effect, ErrorKind, Outcome, Result, Told, Trip, TripnoteError, WhenDown

__all__ = [
    "AsyncCall",
    "AsyncClient",
    "AsyncSession",
    "Call",
    "Client",
    "Effect",
    "ErrorKind",
    "Outcome",
    "Result",
    "Session",
    "Told",
    "Trip",
    "TripnoteError",
    "WhenDown",
    "async_guarded",
    "guarded",
]

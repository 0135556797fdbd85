from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Leaf(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LEAF_UNSPECIFIED: _ClassVar[Leaf]
    LEAF_SAME_BINDING_RETRY: _ClassVar[Leaf]
    LEAF_COMPUTE_MOVE: _ClassVar[Leaf]
    LEAF_ROUTE_NARROWING: _ClassVar[Leaf]
    LEAF_HALT: _ClassVar[Leaf]

class LeafReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LEAF_REASON_UNSPECIFIED: _ClassVar[LeafReason]
    LEAF_REASON_POLICY_DENIED: _ClassVar[LeafReason]
    LEAF_REASON_UNKNOWN_CLASS: _ClassVar[LeafReason]
    LEAF_REASON_SCOPE_CREEP: _ClassVar[LeafReason]
    LEAF_REASON_WRITES_OR_TOOLS: _ClassVar[LeafReason]
    LEAF_REASON_AMBIGUOUS_EFFECT: _ClassVar[LeafReason]
    LEAF_REASON_TRANSPORT_FAULT: _ClassVar[LeafReason]
    LEAF_REASON_TRANSPORT_FAULT_REPEATED: _ClassVar[LeafReason]
    LEAF_REASON_READ_ONLY_MISS: _ClassVar[LeafReason]
    LEAF_REASON_SNAPSHOT_CHANGED: _ClassVar[LeafReason]
    LEAF_REASON_NO_ATTEMPT: _ClassVar[LeafReason]
    LEAF_REASON_SCORE_WOBBLE: _ClassVar[LeafReason]
    LEAF_REASON_NO_SPARE_HOST: _ClassVar[LeafReason]
    LEAF_REASON_NO_SPARE_HOST_LEFT: _ClassVar[LeafReason]
    LEAF_REASON_SNAPSHOT_NOT_PUBLISHED: _ClassVar[LeafReason]
    LEAF_REASON_SPARE_CIRCUIT_OPEN: _ClassVar[LeafReason]
    LEAF_REASON_NO_NARROW_ROUTE: _ClassVar[LeafReason]
LEAF_UNSPECIFIED: Leaf
LEAF_SAME_BINDING_RETRY: Leaf
LEAF_COMPUTE_MOVE: Leaf
LEAF_ROUTE_NARROWING: Leaf
LEAF_HALT: Leaf
LEAF_REASON_UNSPECIFIED: LeafReason
LEAF_REASON_POLICY_DENIED: LeafReason
LEAF_REASON_UNKNOWN_CLASS: LeafReason
LEAF_REASON_SCOPE_CREEP: LeafReason
LEAF_REASON_WRITES_OR_TOOLS: LeafReason
LEAF_REASON_AMBIGUOUS_EFFECT: LeafReason
LEAF_REASON_TRANSPORT_FAULT: LeafReason
LEAF_REASON_TRANSPORT_FAULT_REPEATED: LeafReason
LEAF_REASON_READ_ONLY_MISS: LeafReason
LEAF_REASON_SNAPSHOT_CHANGED: LeafReason
LEAF_REASON_NO_ATTEMPT: LeafReason
LEAF_REASON_SCORE_WOBBLE: LeafReason
LEAF_REASON_NO_SPARE_HOST: LeafReason
LEAF_REASON_NO_SPARE_HOST_LEFT: LeafReason
LEAF_REASON_SNAPSHOT_NOT_PUBLISHED: LeafReason
LEAF_REASON_SPARE_CIRCUIT_OPEN: LeafReason
LEAF_REASON_NO_NARROW_ROUTE: LeafReason

class StepBinding(_message.Message):
    __slots__ = ("host", "route", "snapshot")
    HOST_FIELD_NUMBER: _ClassVar[int]
    ROUTE_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    host: str
    route: str
    snapshot: str
    def __init__(self, host: _Optional[str] = ..., route: _Optional[str] = ..., snapshot: _Optional[str] = ...) -> None: ...

class AttemptRecord(_message.Message):
    __slots__ = ("failure_class", "attempt", "writes", "tools_enabled", "snapshot_same", "effect_unknown", "has_idempotency_key", "policy_denied")
    FAILURE_CLASS_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    WRITES_FIELD_NUMBER: _ClassVar[int]
    TOOLS_ENABLED_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_SAME_FIELD_NUMBER: _ClassVar[int]
    EFFECT_UNKNOWN_FIELD_NUMBER: _ClassVar[int]
    HAS_IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    POLICY_DENIED_FIELD_NUMBER: _ClassVar[int]
    failure_class: str
    attempt: int
    writes: bool
    tools_enabled: bool
    snapshot_same: bool
    effect_unknown: bool
    has_idempotency_key: bool
    policy_denied: bool
    def __init__(self, failure_class: _Optional[str] = ..., attempt: _Optional[int] = ..., writes: bool = ..., tools_enabled: bool = ..., snapshot_same: bool = ..., effect_unknown: bool = ..., has_idempotency_key: bool = ..., policy_denied: bool = ...) -> None: ...

class DecideRequest(_message.Message):
    __slots__ = ("step", "binding", "record", "published_at", "sketch", "caller")
    STEP_FIELD_NUMBER: _ClassVar[int]
    BINDING_FIELD_NUMBER: _ClassVar[int]
    RECORD_FIELD_NUMBER: _ClassVar[int]
    PUBLISHED_AT_FIELD_NUMBER: _ClassVar[int]
    SKETCH_FIELD_NUMBER: _ClassVar[int]
    CALLER_FIELD_NUMBER: _ClassVar[int]
    step: str
    binding: StepBinding
    record: AttemptRecord
    published_at: _containers.RepeatedScalarFieldContainer[str]
    sketch: str
    caller: str
    def __init__(self, step: _Optional[str] = ..., binding: _Optional[_Union[StepBinding, _Mapping]] = ..., record: _Optional[_Union[AttemptRecord, _Mapping]] = ..., published_at: _Optional[_Iterable[str]] = ..., sketch: _Optional[str] = ..., caller: _Optional[str] = ...) -> None: ...

class DecideResponse(_message.Message):
    __slots__ = ("attempt", "duplicate")
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_FIELD_NUMBER: _ClassVar[int]
    attempt: Attempt
    duplicate: bool
    def __init__(self, attempt: _Optional[_Union[Attempt, _Mapping]] = ..., duplicate: bool = ...) -> None: ...

class Attempt(_message.Message):
    __slots__ = ("id", "chain", "after", "at", "step", "binding", "record", "leaf", "row", "reason", "next_binding", "next_attempt", "needs_review", "cap_raised_because", "sketch")
    ID_FIELD_NUMBER: _ClassVar[int]
    CHAIN_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    BINDING_FIELD_NUMBER: _ClassVar[int]
    RECORD_FIELD_NUMBER: _ClassVar[int]
    LEAF_FIELD_NUMBER: _ClassVar[int]
    ROW_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    NEXT_BINDING_FIELD_NUMBER: _ClassVar[int]
    NEXT_ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    NEEDS_REVIEW_FIELD_NUMBER: _ClassVar[int]
    CAP_RAISED_BECAUSE_FIELD_NUMBER: _ClassVar[int]
    SKETCH_FIELD_NUMBER: _ClassVar[int]
    id: int
    chain: int
    after: int
    at: _timestamp_pb2.Timestamp
    step: str
    binding: StepBinding
    record: AttemptRecord
    leaf: Leaf
    row: int
    reason: LeafReason
    next_binding: StepBinding
    next_attempt: int
    needs_review: bool
    cap_raised_because: str
    sketch: Sketch
    def __init__(self, id: _Optional[int] = ..., chain: _Optional[int] = ..., after: _Optional[int] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., step: _Optional[str] = ..., binding: _Optional[_Union[StepBinding, _Mapping]] = ..., record: _Optional[_Union[AttemptRecord, _Mapping]] = ..., leaf: _Optional[_Union[Leaf, str]] = ..., row: _Optional[int] = ..., reason: _Optional[_Union[LeafReason, str]] = ..., next_binding: _Optional[_Union[StepBinding, _Mapping]] = ..., next_attempt: _Optional[int] = ..., needs_review: bool = ..., cap_raised_because: _Optional[str] = ..., sketch: _Optional[_Union[Sketch, _Mapping]] = ...) -> None: ...

class Sketch(_message.Message):
    __slots__ = ("reference", "accepted", "accepted_at")
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    ACCEPTED_FIELD_NUMBER: _ClassVar[int]
    ACCEPTED_AT_FIELD_NUMBER: _ClassVar[int]
    reference: str
    accepted: bool
    accepted_at: _timestamp_pb2.Timestamp
    def __init__(self, reference: _Optional[str] = ..., accepted: bool = ..., accepted_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListAttemptsRequest(_message.Message):
    __slots__ = ("step", "caller")
    STEP_FIELD_NUMBER: _ClassVar[int]
    CALLER_FIELD_NUMBER: _ClassVar[int]
    step: str
    caller: str
    def __init__(self, step: _Optional[str] = ..., caller: _Optional[str] = ...) -> None: ...

class ListAttemptsResponse(_message.Message):
    __slots__ = ("attempts", "dropped")
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    attempts: _containers.RepeatedCompositeFieldContainer[Attempt]
    dropped: int
    def __init__(self, attempts: _Optional[_Iterable[_Union[Attempt, _Mapping]]] = ..., dropped: _Optional[int] = ...) -> None: ...

class AcceptSketchRequest(_message.Message):
    __slots__ = ("id", "caller")
    ID_FIELD_NUMBER: _ClassVar[int]
    CALLER_FIELD_NUMBER: _ClassVar[int]
    id: int
    caller: str
    def __init__(self, id: _Optional[int] = ..., caller: _Optional[str] = ...) -> None: ...

class AcceptSketchResponse(_message.Message):
    __slots__ = ("attempt", "duplicate")
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_FIELD_NUMBER: _ClassVar[int]
    attempt: Attempt
    duplicate: bool
    def __init__(self, attempt: _Optional[_Union[Attempt, _Mapping]] = ..., duplicate: bool = ...) -> None: ...

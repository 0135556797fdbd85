from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Action(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ACTION_UNSPECIFIED: _ClassVar[Action]
    ACTION_STOP_AND_ESCALATE: _ClassVar[Action]
    ACTION_VERIFY_EFFECT: _ClassVar[Action]
    ACTION_SWITCH_TO_FALLBACK: _ClassVar[Action]
    ACTION_HALT_WITH_PARTIAL_FINDINGS: _ClassVar[Action]
    ACTION_AWAIT_RECOVERY: _ClassVar[Action]
    ACTION_WAIT_FOR_QUOTA: _ClassVar[Action]
    ACTION_REDUCE_PAYLOAD: _ClassVar[Action]
    ACTION_CHANGE_ROUTE: _ClassVar[Action]
    ACTION_CALL_IN_NEXT_WAVE: _ClassVar[Action]

class Signal(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SIGNAL_UNSPECIFIED: _ClassVar[Signal]
    SIGNAL_AUTH_FAILURE: _ClassVar[Signal]
    SIGNAL_QUOTA_EXHAUSTED: _ClassVar[Signal]
    SIGNAL_MALFORMED_RESPONSE: _ClassVar[Signal]
    SIGNAL_ERROR_RATE: _ClassVar[Signal]
    SIGNAL_LATENCY: _ClassVar[Signal]
    SIGNAL_OPERATOR_OVERRIDE: _ClassVar[Signal]
    SIGNAL_NO_PROGRESS: _ClassVar[Signal]
    SIGNAL_FAN_OUT: _ClassVar[Signal]
    SIGNAL_SCOPE_CREEP: _ClassVar[Signal]
    SIGNAL_AMBIGUOUS_EFFECT: _ClassVar[Signal]

class Urgency(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    URGENCY_UNSPECIFIED: _ClassVar[Urgency]
    URGENCY_CORRUPTION: _ClassVar[Urgency]
    URGENCY_CRASH: _ClassVar[Urgency]
    URGENCY_STUCK_LOOP: _ClassVar[Urgency]
    URGENCY_WRONG_OUTPUT: _ClassVar[Urgency]
    URGENCY_RATE_LIMIT: _ClassVar[Urgency]

class Phase(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PHASE_UNSPECIFIED: _ClassVar[Phase]
    PHASE_CLOSED: _ClassVar[Phase]
    PHASE_OPEN: _ClassVar[Phase]
    PHASE_HALF_OPEN: _ClassVar[Phase]

class Variant(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VARIANT_UNSPECIFIED: _ClassVar[Variant]
    VARIANT_CONTRACT: _ClassVar[Variant]
    VARIANT_CONTRACT_LINES: _ClassVar[Variant]
    VARIANT_WEAK: _ClassVar[Variant]
    VARIANT_SILENT: _ClassVar[Variant]
    VARIANT_TEMPLATE: _ClassVar[Variant]

class CircuitKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CIRCUIT_KIND_UNSPECIFIED: _ClassVar[CircuitKind]
    CIRCUIT_KIND_AUTH_FAILURE_AUTHENTICATION: _ClassVar[CircuitKind]
    CIRCUIT_KIND_AUTH_FAILURE_AUTHORISATION: _ClassVar[CircuitKind]
    CIRCUIT_KIND_MALFORMED_RESPONSE: _ClassVar[CircuitKind]
    CIRCUIT_KIND_ERROR_RATE: _ClassVar[CircuitKind]
    CIRCUIT_KIND_QUOTA_EXHAUSTED_RATE: _ClassVar[CircuitKind]
    CIRCUIT_KIND_QUOTA_EXHAUSTED_BILLING: _ClassVar[CircuitKind]
    CIRCUIT_KIND_LATENCY: _ClassVar[CircuitKind]
ACTION_UNSPECIFIED: Action
ACTION_STOP_AND_ESCALATE: Action
ACTION_VERIFY_EFFECT: Action
ACTION_SWITCH_TO_FALLBACK: Action
ACTION_HALT_WITH_PARTIAL_FINDINGS: Action
ACTION_AWAIT_RECOVERY: Action
ACTION_WAIT_FOR_QUOTA: Action
ACTION_REDUCE_PAYLOAD: Action
ACTION_CHANGE_ROUTE: Action
ACTION_CALL_IN_NEXT_WAVE: Action
SIGNAL_UNSPECIFIED: Signal
SIGNAL_AUTH_FAILURE: Signal
SIGNAL_QUOTA_EXHAUSTED: Signal
SIGNAL_MALFORMED_RESPONSE: Signal
SIGNAL_ERROR_RATE: Signal
SIGNAL_LATENCY: Signal
SIGNAL_OPERATOR_OVERRIDE: Signal
SIGNAL_NO_PROGRESS: Signal
SIGNAL_FAN_OUT: Signal
SIGNAL_SCOPE_CREEP: Signal
SIGNAL_AMBIGUOUS_EFFECT: Signal
URGENCY_UNSPECIFIED: Urgency
URGENCY_CORRUPTION: Urgency
URGENCY_CRASH: Urgency
URGENCY_STUCK_LOOP: Urgency
URGENCY_WRONG_OUTPUT: Urgency
URGENCY_RATE_LIMIT: Urgency
PHASE_UNSPECIFIED: Phase
PHASE_CLOSED: Phase
PHASE_OPEN: Phase
PHASE_HALF_OPEN: Phase
VARIANT_UNSPECIFIED: Variant
VARIANT_CONTRACT: Variant
VARIANT_CONTRACT_LINES: Variant
VARIANT_WEAK: Variant
VARIANT_SILENT: Variant
VARIANT_TEMPLATE: Variant
CIRCUIT_KIND_UNSPECIFIED: CircuitKind
CIRCUIT_KIND_AUTH_FAILURE_AUTHENTICATION: CircuitKind
CIRCUIT_KIND_AUTH_FAILURE_AUTHORISATION: CircuitKind
CIRCUIT_KIND_MALFORMED_RESPONSE: CircuitKind
CIRCUIT_KIND_ERROR_RATE: CircuitKind
CIRCUIT_KIND_QUOTA_EXHAUSTED_RATE: CircuitKind
CIRCUIT_KIND_QUOTA_EXHAUSTED_BILLING: CircuitKind
CIRCUIT_KIND_LATENCY: CircuitKind

class Trip(_message.Message):
    __slots__ = ("action", "breaker", "target", "signal", "observed", "threshold", "state", "do_not", "fallback", "text", "variant", "urgency", "retry_at", "retry_after_ms", "also_open", "generation", "event_seq", "facts", "fallback_target", "withdraw", "variant_name")
    ACTION_FIELD_NUMBER: _ClassVar[int]
    BREAKER_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    SIGNAL_FIELD_NUMBER: _ClassVar[int]
    OBSERVED_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    DO_NOT_FIELD_NUMBER: _ClassVar[int]
    FALLBACK_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    VARIANT_FIELD_NUMBER: _ClassVar[int]
    URGENCY_FIELD_NUMBER: _ClassVar[int]
    RETRY_AT_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_MS_FIELD_NUMBER: _ClassVar[int]
    ALSO_OPEN_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    EVENT_SEQ_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    FALLBACK_TARGET_FIELD_NUMBER: _ClassVar[int]
    WITHDRAW_FIELD_NUMBER: _ClassVar[int]
    VARIANT_NAME_FIELD_NUMBER: _ClassVar[int]
    action: Action
    breaker: str
    target: str
    signal: Signal
    observed: str
    threshold: str
    state: str
    do_not: str
    fallback: str
    text: str
    variant: Variant
    urgency: Urgency
    retry_at: _timestamp_pb2.Timestamp
    retry_after_ms: int
    also_open: _containers.RepeatedCompositeFieldContainer[AlsoOpen]
    generation: int
    event_seq: int
    facts: Facts
    fallback_target: str
    withdraw: _containers.RepeatedScalarFieldContainer[str]
    variant_name: str
    def __init__(self, action: _Optional[_Union[Action, str]] = ..., breaker: _Optional[str] = ..., target: _Optional[str] = ..., signal: _Optional[_Union[Signal, str]] = ..., observed: _Optional[str] = ..., threshold: _Optional[str] = ..., state: _Optional[str] = ..., do_not: _Optional[str] = ..., fallback: _Optional[str] = ..., text: _Optional[str] = ..., variant: _Optional[_Union[Variant, str]] = ..., urgency: _Optional[_Union[Urgency, str]] = ..., retry_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., retry_after_ms: _Optional[int] = ..., also_open: _Optional[_Iterable[_Union[AlsoOpen, _Mapping]]] = ..., generation: _Optional[int] = ..., event_seq: _Optional[int] = ..., facts: _Optional[_Union[Facts, _Mapping]] = ..., fallback_target: _Optional[str] = ..., withdraw: _Optional[_Iterable[str]] = ..., variant_name: _Optional[str] = ...) -> None: ...

class AlsoOpen(_message.Message):
    __slots__ = ("kind", "phase", "breaker", "scope", "retry_after_ms")
    KIND_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    BREAKER_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_MS_FIELD_NUMBER: _ClassVar[int]
    kind: CircuitKind
    phase: Phase
    breaker: str
    scope: str
    retry_after_ms: int
    def __init__(self, kind: _Optional[_Union[CircuitKind, str]] = ..., phase: _Optional[_Union[Phase, str]] = ..., breaker: _Optional[str] = ..., scope: _Optional[str] = ..., retry_after_ms: _Optional[int] = ...) -> None: ...

class Facts(_message.Message):
    __slots__ = ("failed", "results", "window_ms", "max_argument_bytes")
    FAILED_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    WINDOW_MS_FIELD_NUMBER: _ClassVar[int]
    MAX_ARGUMENT_BYTES_FIELD_NUMBER: _ClassVar[int]
    failed: int
    results: int
    window_ms: int
    max_argument_bytes: int
    def __init__(self, failed: _Optional[int] = ..., results: _Optional[int] = ..., window_ms: _Optional[int] = ..., max_argument_bytes: _Optional[int] = ...) -> None: ...

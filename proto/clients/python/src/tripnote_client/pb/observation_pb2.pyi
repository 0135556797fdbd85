from . import contract_pb2 as _contract_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Observation(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OBSERVATION_UNSPECIFIED: _ClassVar[Observation]
    OBSERVATION_OBSERVED: _ClassVar[Observation]
    OBSERVATION_TRUNCATED: _ClassVar[Observation]
    OBSERVATION_EMPTY: _ClassVar[Observation]
    OBSERVATION_UNAVAILABLE: _ClassVar[Observation]
    OBSERVATION_ERROR: _ClassVar[Observation]
    OBSERVATION_CONTEXT: _ClassVar[Observation]

class FailureClass(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FAILURE_CLASS_UNSPECIFIED: _ClassVar[FailureClass]
    FAILURE_CLASS_TRANSPORT: _ClassVar[FailureClass]
    FAILURE_CLASS_CONTRACT_MISS: _ClassVar[FailureClass]
    FAILURE_CLASS_SCOPE_CREEP: _ClassVar[FailureClass]
    FAILURE_CLASS_SCORE_WOBBLE: _ClassVar[FailureClass]
    FAILURE_CLASS_UNKNOWN: _ClassVar[FailureClass]

class Disposition(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DISPOSITION_UNSPECIFIED: _ClassVar[Disposition]
    DISPOSITION_TRIP: _ClassVar[Disposition]
    DISPOSITION_STEER: _ClassVar[Disposition]
    DISPOSITION_RETURN_ERROR: _ClassVar[Disposition]
    DISPOSITION_RETRY_SILENTLY: _ClassVar[Disposition]
    DISPOSITION_MOVE: _ClassVar[Disposition]
    DISPOSITION_NARROW: _ClassVar[Disposition]
    DISPOSITION_DELIVER: _ClassVar[Disposition]
    DISPOSITION_DELIVER_FAILURE: _ClassVar[Disposition]

class Effect(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EFFECT_UNSPECIFIED: _ClassVar[Effect]
    EFFECT_READ: _ClassVar[Effect]
    EFFECT_MUTATE: _ClassVar[Effect]
    EFFECT_UNKNOWN: _ClassVar[Effect]

class Carrier(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CARRIER_UNSPECIFIED: _ClassVar[Carrier]
    CARRIER_HTTP: _ClassVar[Carrier]
    CARRIER_GRPC: _ClassVar[Carrier]
    CARRIER_MCP: _ClassVar[Carrier]
    CARRIER_PROCESS: _ClassVar[Carrier]
OBSERVATION_UNSPECIFIED: Observation
OBSERVATION_OBSERVED: Observation
OBSERVATION_TRUNCATED: Observation
OBSERVATION_EMPTY: Observation
OBSERVATION_UNAVAILABLE: Observation
OBSERVATION_ERROR: Observation
OBSERVATION_CONTEXT: Observation
FAILURE_CLASS_UNSPECIFIED: FailureClass
FAILURE_CLASS_TRANSPORT: FailureClass
FAILURE_CLASS_CONTRACT_MISS: FailureClass
FAILURE_CLASS_SCOPE_CREEP: FailureClass
FAILURE_CLASS_SCORE_WOBBLE: FailureClass
FAILURE_CLASS_UNKNOWN: FailureClass
DISPOSITION_UNSPECIFIED: Disposition
DISPOSITION_TRIP: Disposition
DISPOSITION_STEER: Disposition
DISPOSITION_RETURN_ERROR: Disposition
DISPOSITION_RETRY_SILENTLY: Disposition
DISPOSITION_MOVE: Disposition
DISPOSITION_NARROW: Disposition
DISPOSITION_DELIVER: Disposition
DISPOSITION_DELIVER_FAILURE: Disposition
EFFECT_UNSPECIFIED: Effect
EFFECT_READ: Effect
EFFECT_MUTATE: Effect
EFFECT_UNKNOWN: Effect
CARRIER_UNSPECIFIED: Carrier
CARRIER_HTTP: Carrier
CARRIER_GRPC: Carrier
CARRIER_MCP: Carrier
CARRIER_PROCESS: Carrier

class Payload(_message.Message):
    __slots__ = ("body", "content_type", "truncated_by_caller")
    BODY_FIELD_NUMBER: _ClassVar[int]
    CONTENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_BY_CALLER_FIELD_NUMBER: _ClassVar[int]
    body: bytes
    content_type: str
    truncated_by_caller: bool
    def __init__(self, body: _Optional[bytes] = ..., content_type: _Optional[str] = ..., truncated_by_caller: bool = ...) -> None: ...

class Typing(_message.Message):
    __slots__ = ("observation", "usable", "signal", "kind", "failure_class", "retry_after_ms", "format", "rule", "reason", "total_known", "values_degraded", "digest")
    OBSERVATION_FIELD_NUMBER: _ClassVar[int]
    USABLE_FIELD_NUMBER: _ClassVar[int]
    SIGNAL_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    FAILURE_CLASS_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_MS_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    TOTAL_KNOWN_FIELD_NUMBER: _ClassVar[int]
    VALUES_DEGRADED_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    observation: Observation
    usable: bool
    signal: _contract_pb2.Signal
    kind: _contract_pb2.CircuitKind
    failure_class: FailureClass
    retry_after_ms: int
    format: str
    rule: str
    reason: str
    total_known: int
    values_degraded: bool
    digest: str
    def __init__(self, observation: _Optional[_Union[Observation, str]] = ..., usable: bool = ..., signal: _Optional[_Union[_contract_pb2.Signal, str]] = ..., kind: _Optional[_Union[_contract_pb2.CircuitKind, str]] = ..., failure_class: _Optional[_Union[FailureClass, str]] = ..., retry_after_ms: _Optional[int] = ..., format: _Optional[str] = ..., rule: _Optional[str] = ..., reason: _Optional[str] = ..., total_known: _Optional[int] = ..., values_degraded: bool = ..., digest: _Optional[str] = ...) -> None: ...

class Handling(_message.Message):
    __slots__ = ("disposition", "after_ms", "text")
    DISPOSITION_FIELD_NUMBER: _ClassVar[int]
    AFTER_MS_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    disposition: Disposition
    after_ms: int
    text: str
    def __init__(self, disposition: _Optional[_Union[Disposition, str]] = ..., after_ms: _Optional[int] = ..., text: _Optional[str] = ...) -> None: ...

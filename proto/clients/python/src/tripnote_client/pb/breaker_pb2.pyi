from . import contract_pb2 as _contract_pb2
from . import failure_pb2 as _failure_pb2
from . import observation_pb2 as _observation_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RefusedBy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REFUSED_BY_UNSPECIFIED: _ClassVar[RefusedBy]
    REFUSED_BY_USER: _ClassVar[RefusedBy]
    REFUSED_BY_HOST: _ClassVar[RefusedBy]

class ErrorKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ERROR_KIND_UNSPECIFIED: _ClassVar[ErrorKind]
    ERROR_KIND_CONNECT_REFUSED: _ClassVar[ErrorKind]
    ERROR_KIND_DNS: _ClassVar[ErrorKind]
    ERROR_KIND_TLS: _ClassVar[ErrorKind]
    ERROR_KIND_RESET: _ClassVar[ErrorKind]
    ERROR_KIND_TIMEOUT: _ClassVar[ErrorKind]
    ERROR_KIND_CANCELLED_BY_CALLER: _ClassVar[ErrorKind]
    ERROR_KIND_REFUSED_BY_HOST: _ClassVar[ErrorKind]
    ERROR_KIND_NOT_SENT: _ClassVar[ErrorKind]
    ERROR_KIND_MALFORMED_BODY: _ClassVar[ErrorKind]

class Acknowledgement(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ACKNOWLEDGEMENT_UNSPECIFIED: _ClassVar[Acknowledgement]
    ACKNOWLEDGEMENT_COUNTED: _ClassVar[Acknowledgement]
    ACKNOWLEDGEMENT_STALE: _ClassVar[Acknowledgement]
    ACKNOWLEDGEMENT_DUPLICATE: _ClassVar[Acknowledgement]
    ACKNOWLEDGEMENT_EXPIRED: _ClassVar[Acknowledgement]
    ACKNOWLEDGEMENT_UNKNOWN: _ClassVar[Acknowledgement]
REFUSED_BY_UNSPECIFIED: RefusedBy
REFUSED_BY_USER: RefusedBy
REFUSED_BY_HOST: RefusedBy
ERROR_KIND_UNSPECIFIED: ErrorKind
ERROR_KIND_CONNECT_REFUSED: ErrorKind
ERROR_KIND_DNS: ErrorKind
ERROR_KIND_TLS: ErrorKind
ERROR_KIND_RESET: ErrorKind
ERROR_KIND_TIMEOUT: ErrorKind
ERROR_KIND_CANCELLED_BY_CALLER: ErrorKind
ERROR_KIND_REFUSED_BY_HOST: ErrorKind
ERROR_KIND_NOT_SENT: ErrorKind
ERROR_KIND_MALFORMED_BODY: ErrorKind
ACKNOWLEDGEMENT_UNSPECIFIED: Acknowledgement
ACKNOWLEDGEMENT_COUNTED: Acknowledgement
ACKNOWLEDGEMENT_STALE: Acknowledgement
ACKNOWLEDGEMENT_DUPLICATE: Acknowledgement
ACKNOWLEDGEMENT_EXPIRED: Acknowledgement
ACKNOWLEDGEMENT_UNKNOWN: Acknowledgement

class AdmitRequest(_message.Message):
    __slots__ = ("target", "tool_name", "session_id", "turn", "call_id", "attempt", "wave_id", "task_id", "purpose", "arguments", "arguments_digest", "arguments_bytes", "credential", "caller", "effect", "user_approved", "lane", "idempotency_key", "reports")
    TARGET_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    WAVE_ID_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_DIGEST_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_BYTES_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_FIELD_NUMBER: _ClassVar[int]
    CALLER_FIELD_NUMBER: _ClassVar[int]
    EFFECT_FIELD_NUMBER: _ClassVar[int]
    USER_APPROVED_FIELD_NUMBER: _ClassVar[int]
    LANE_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    REPORTS_FIELD_NUMBER: _ClassVar[int]
    target: str
    tool_name: str
    session_id: str
    turn: int
    call_id: str
    attempt: int
    wave_id: str
    task_id: str
    purpose: str
    arguments: bytes
    arguments_digest: bytes
    arguments_bytes: int
    credential: str
    caller: str
    effect: _observation_pb2.Effect
    user_approved: bool
    lane: str
    idempotency_key: str
    reports: _containers.RepeatedCompositeFieldContainer[Outcome]
    def __init__(self, target: _Optional[str] = ..., tool_name: _Optional[str] = ..., session_id: _Optional[str] = ..., turn: _Optional[int] = ..., call_id: _Optional[str] = ..., attempt: _Optional[int] = ..., wave_id: _Optional[str] = ..., task_id: _Optional[str] = ..., purpose: _Optional[str] = ..., arguments: _Optional[bytes] = ..., arguments_digest: _Optional[bytes] = ..., arguments_bytes: _Optional[int] = ..., credential: _Optional[str] = ..., caller: _Optional[str] = ..., effect: _Optional[_Union[_observation_pb2.Effect, str]] = ..., user_approved: bool = ..., lane: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., reports: _Optional[_Iterable[_Union[Outcome, _Mapping]]] = ...) -> None: ...

class AdmitResponse(_message.Message):
    __slots__ = ("permit", "trip", "shadow_trip", "reports")
    PERMIT_FIELD_NUMBER: _ClassVar[int]
    TRIP_FIELD_NUMBER: _ClassVar[int]
    SHADOW_TRIP_FIELD_NUMBER: _ClassVar[int]
    REPORTS_FIELD_NUMBER: _ClassVar[int]
    permit: Permit
    trip: _contract_pb2.Trip
    shadow_trip: _contract_pb2.Trip
    reports: _containers.RepeatedCompositeFieldContainer[ReportResult]
    def __init__(self, permit: _Optional[_Union[Permit, _Mapping]] = ..., trip: _Optional[_Union[_contract_pb2.Trip, _Mapping]] = ..., shadow_trip: _Optional[_Union[_contract_pb2.Trip, _Mapping]] = ..., reports: _Optional[_Iterable[_Union[ReportResult, _Mapping]]] = ...) -> None: ...

class Permit(_message.Message):
    __slots__ = ("token", "probe", "expires_in_ms", "breaker", "notices")
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    PROBE_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_IN_MS_FIELD_NUMBER: _ClassVar[int]
    BREAKER_FIELD_NUMBER: _ClassVar[int]
    NOTICES_FIELD_NUMBER: _ClassVar[int]
    token: bytes
    probe: bool
    expires_in_ms: int
    breaker: str
    notices: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, token: _Optional[bytes] = ..., probe: bool = ..., expires_in_ms: _Optional[int] = ..., breaker: _Optional[str] = ..., notices: _Optional[_Iterable[str]] = ...) -> None: ...

class AdmitWaveRequest(_message.Message):
    __slots__ = ("calls", "reports")
    CALLS_FIELD_NUMBER: _ClassVar[int]
    REPORTS_FIELD_NUMBER: _ClassVar[int]
    calls: _containers.RepeatedCompositeFieldContainer[AdmitRequest]
    reports: _containers.RepeatedCompositeFieldContainer[Outcome]
    def __init__(self, calls: _Optional[_Iterable[_Union[AdmitRequest, _Mapping]]] = ..., reports: _Optional[_Iterable[_Union[Outcome, _Mapping]]] = ...) -> None: ...

class AdmitWaveResponse(_message.Message):
    __slots__ = ("results", "reports")
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    REPORTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[AdmitResult]
    reports: _containers.RepeatedCompositeFieldContainer[ReportResult]
    def __init__(self, results: _Optional[_Iterable[_Union[AdmitResult, _Mapping]]] = ..., reports: _Optional[_Iterable[_Union[ReportResult, _Mapping]]] = ...) -> None: ...

class AdmitResult(_message.Message):
    __slots__ = ("answer", "error")
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    answer: AdmitResponse
    error: ItemError
    def __init__(self, answer: _Optional[_Union[AdmitResponse, _Mapping]] = ..., error: _Optional[_Union[ItemError, _Mapping]] = ...) -> None: ...

class ReportRequest(_message.Message):
    __slots__ = ("outcomes",)
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    outcomes: _containers.RepeatedCompositeFieldContainer[Outcome]
    def __init__(self, outcomes: _Optional[_Iterable[_Union[Outcome, _Mapping]]] = ...) -> None: ...

class GuardRequest(_message.Message):
    __slots__ = ("tag", "admit", "wave", "report")
    TAG_FIELD_NUMBER: _ClassVar[int]
    ADMIT_FIELD_NUMBER: _ClassVar[int]
    WAVE_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    tag: int
    admit: AdmitRequest
    wave: AdmitWaveRequest
    report: ReportRequest
    def __init__(self, tag: _Optional[int] = ..., admit: _Optional[_Union[AdmitRequest, _Mapping]] = ..., wave: _Optional[_Union[AdmitWaveRequest, _Mapping]] = ..., report: _Optional[_Union[ReportRequest, _Mapping]] = ...) -> None: ...

class GuardResponse(_message.Message):
    __slots__ = ("tag", "admit", "wave", "report", "error")
    TAG_FIELD_NUMBER: _ClassVar[int]
    ADMIT_FIELD_NUMBER: _ClassVar[int]
    WAVE_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    tag: int
    admit: AdmitResponse
    wave: AdmitWaveResponse
    report: ReportResponse
    error: ItemError
    def __init__(self, tag: _Optional[int] = ..., admit: _Optional[_Union[AdmitResponse, _Mapping]] = ..., wave: _Optional[_Union[AdmitWaveResponse, _Mapping]] = ..., report: _Optional[_Union[ReportResponse, _Mapping]] = ..., error: _Optional[_Union[ItemError, _Mapping]] = ...) -> None: ...

class ReportResponse(_message.Message):
    __slots__ = ("results",)
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[ReportResult]
    def __init__(self, results: _Optional[_Iterable[_Union[ReportResult, _Mapping]]] = ...) -> None: ...

class Outcome(_message.Message):
    __slots__ = ("permit", "call_ref", "classification", "transport", "payload", "tool_name", "arguments", "attempt", "effect", "idempotent", "refused_by", "latency_ms", "binding")
    PERMIT_FIELD_NUMBER: _ClassVar[int]
    CALL_REF_FIELD_NUMBER: _ClassVar[int]
    CLASSIFICATION_FIELD_NUMBER: _ClassVar[int]
    TRANSPORT_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    EFFECT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENT_FIELD_NUMBER: _ClassVar[int]
    REFUSED_BY_FIELD_NUMBER: _ClassVar[int]
    LATENCY_MS_FIELD_NUMBER: _ClassVar[int]
    BINDING_FIELD_NUMBER: _ClassVar[int]
    permit: bytes
    call_ref: CallRef
    classification: Classification
    transport: TransportFacts
    payload: _observation_pb2.Payload
    tool_name: str
    arguments: bytes
    attempt: int
    effect: _observation_pb2.Effect
    idempotent: bool
    refused_by: RefusedBy
    latency_ms: int
    binding: Binding
    def __init__(self, permit: _Optional[bytes] = ..., call_ref: _Optional[_Union[CallRef, _Mapping]] = ..., classification: _Optional[_Union[Classification, _Mapping]] = ..., transport: _Optional[_Union[TransportFacts, _Mapping]] = ..., payload: _Optional[_Union[_observation_pb2.Payload, _Mapping]] = ..., tool_name: _Optional[str] = ..., arguments: _Optional[bytes] = ..., attempt: _Optional[int] = ..., effect: _Optional[_Union[_observation_pb2.Effect, str]] = ..., idempotent: bool = ..., refused_by: _Optional[_Union[RefusedBy, str]] = ..., latency_ms: _Optional[int] = ..., binding: _Optional[_Union[Binding, _Mapping]] = ...) -> None: ...

class Binding(_message.Message):
    __slots__ = ("step", "host", "route", "snapshot", "published_at", "writes", "tools_enabled", "snapshot_same", "effect_unknown", "policy_denied", "sketch")
    STEP_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    ROUTE_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    PUBLISHED_AT_FIELD_NUMBER: _ClassVar[int]
    WRITES_FIELD_NUMBER: _ClassVar[int]
    TOOLS_ENABLED_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_SAME_FIELD_NUMBER: _ClassVar[int]
    EFFECT_UNKNOWN_FIELD_NUMBER: _ClassVar[int]
    POLICY_DENIED_FIELD_NUMBER: _ClassVar[int]
    SKETCH_FIELD_NUMBER: _ClassVar[int]
    step: str
    host: str
    route: str
    snapshot: str
    published_at: _containers.RepeatedScalarFieldContainer[str]
    writes: bool
    tools_enabled: bool
    snapshot_same: bool
    effect_unknown: bool
    policy_denied: bool
    sketch: str
    def __init__(self, step: _Optional[str] = ..., host: _Optional[str] = ..., route: _Optional[str] = ..., snapshot: _Optional[str] = ..., published_at: _Optional[_Iterable[str]] = ..., writes: bool = ..., tools_enabled: bool = ..., snapshot_same: bool = ..., effect_unknown: bool = ..., policy_denied: bool = ..., sketch: _Optional[str] = ...) -> None: ...

class CallRef(_message.Message):
    __slots__ = ("session_id", "call_id", "attempt", "caller")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    CALLER_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    call_id: str
    attempt: int
    caller: str
    def __init__(self, session_id: _Optional[str] = ..., call_id: _Optional[str] = ..., attempt: _Optional[int] = ..., caller: _Optional[str] = ...) -> None: ...

class Classification(_message.Message):
    __slots__ = ("result", "kind", "retry_after_ms")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        KIND_UNSPECIFIED: _ClassVar[Classification.Kind]
        KIND_OK: _ClassVar[Classification.Kind]
        KIND_IGNORED: _ClassVar[Classification.Kind]
        KIND_FAILED: _ClassVar[Classification.Kind]
    KIND_UNSPECIFIED: Classification.Kind
    KIND_OK: Classification.Kind
    KIND_IGNORED: Classification.Kind
    KIND_FAILED: Classification.Kind
    RESULT_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_MS_FIELD_NUMBER: _ClassVar[int]
    result: Classification.Kind
    kind: _contract_pb2.CircuitKind
    retry_after_ms: int
    def __init__(self, result: _Optional[_Union[Classification.Kind, str]] = ..., kind: _Optional[_Union[_contract_pb2.CircuitKind, str]] = ..., retry_after_ms: _Optional[int] = ...) -> None: ...

class TransportFacts(_message.Message):
    __slots__ = ("http_status", "headers", "grpc_code", "error_kind", "exit_code", "carrier")
    HTTP_STATUS_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    GRPC_CODE_FIELD_NUMBER: _ClassVar[int]
    ERROR_KIND_FIELD_NUMBER: _ClassVar[int]
    EXIT_CODE_FIELD_NUMBER: _ClassVar[int]
    CARRIER_FIELD_NUMBER: _ClassVar[int]
    http_status: int
    headers: _containers.RepeatedCompositeFieldContainer[Header]
    grpc_code: int
    error_kind: ErrorKind
    exit_code: int
    carrier: _observation_pb2.Carrier
    def __init__(self, http_status: _Optional[int] = ..., headers: _Optional[_Iterable[_Union[Header, _Mapping]]] = ..., grpc_code: _Optional[int] = ..., error_kind: _Optional[_Union[ErrorKind, str]] = ..., exit_code: _Optional[int] = ..., carrier: _Optional[_Union[_observation_pb2.Carrier, str]] = ...) -> None: ...

class Header(_message.Message):
    __slots__ = ("name", "value")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: str
    def __init__(self, name: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...

class ReportResult(_message.Message):
    __slots__ = ("ack", "error")
    ACK_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    ack: ReportAck
    error: ItemError
    def __init__(self, ack: _Optional[_Union[ReportAck, _Mapping]] = ..., error: _Optional[_Union[ItemError, _Mapping]] = ...) -> None: ...

class ReportAck(_message.Message):
    __slots__ = ("acknowledgement", "phase_after", "trip", "typing", "handling", "next_binding", "next_attempt", "leaf", "leaf_reason", "attempt_id")
    ACKNOWLEDGEMENT_FIELD_NUMBER: _ClassVar[int]
    PHASE_AFTER_FIELD_NUMBER: _ClassVar[int]
    TRIP_FIELD_NUMBER: _ClassVar[int]
    TYPING_FIELD_NUMBER: _ClassVar[int]
    HANDLING_FIELD_NUMBER: _ClassVar[int]
    NEXT_BINDING_FIELD_NUMBER: _ClassVar[int]
    NEXT_ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    LEAF_FIELD_NUMBER: _ClassVar[int]
    LEAF_REASON_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_ID_FIELD_NUMBER: _ClassVar[int]
    acknowledgement: Acknowledgement
    phase_after: _contract_pb2.Phase
    trip: _contract_pb2.Trip
    typing: _observation_pb2.Typing
    handling: _observation_pb2.Handling
    next_binding: _failure_pb2.StepBinding
    next_attempt: int
    leaf: _failure_pb2.Leaf
    leaf_reason: _failure_pb2.LeafReason
    attempt_id: int
    def __init__(self, acknowledgement: _Optional[_Union[Acknowledgement, str]] = ..., phase_after: _Optional[_Union[_contract_pb2.Phase, str]] = ..., trip: _Optional[_Union[_contract_pb2.Trip, _Mapping]] = ..., typing: _Optional[_Union[_observation_pb2.Typing, _Mapping]] = ..., handling: _Optional[_Union[_observation_pb2.Handling, _Mapping]] = ..., next_binding: _Optional[_Union[_failure_pb2.StepBinding, _Mapping]] = ..., next_attempt: _Optional[int] = ..., leaf: _Optional[_Union[_failure_pb2.Leaf, str]] = ..., leaf_reason: _Optional[_Union[_failure_pb2.LeafReason, str]] = ..., attempt_id: _Optional[int] = ...) -> None: ...

class PeekRequest(_message.Message):
    __slots__ = ("targets",)
    TARGETS_FIELD_NUMBER: _ClassVar[int]
    targets: _containers.RepeatedCompositeFieldContainer[PeekTarget]
    def __init__(self, targets: _Optional[_Iterable[_Union[PeekTarget, _Mapping]]] = ...) -> None: ...

class PeekTarget(_message.Message):
    __slots__ = ("target", "tool_name", "session_id", "credential", "caller")
    TARGET_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_FIELD_NUMBER: _ClassVar[int]
    CALLER_FIELD_NUMBER: _ClassVar[int]
    target: str
    tool_name: str
    session_id: str
    credential: str
    caller: str
    def __init__(self, target: _Optional[str] = ..., tool_name: _Optional[str] = ..., session_id: _Optional[str] = ..., credential: _Optional[str] = ..., caller: _Optional[str] = ...) -> None: ...

class PeekResponse(_message.Message):
    __slots__ = ("results",)
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[PeekResult]
    def __init__(self, results: _Optional[_Iterable[_Union[PeekResult, _Mapping]]] = ...) -> None: ...

class PeekResult(_message.Message):
    __slots__ = ("callable", "trip", "error")
    CALLABLE_FIELD_NUMBER: _ClassVar[int]
    TRIP_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    callable: Callable
    trip: _contract_pb2.Trip
    error: ItemError
    def __init__(self, callable: _Optional[_Union[Callable, _Mapping]] = ..., trip: _Optional[_Union[_contract_pb2.Trip, _Mapping]] = ..., error: _Optional[_Union[ItemError, _Mapping]] = ...) -> None: ...

class Callable(_message.Message):
    __slots__ = ("breaker", "probe")
    BREAKER_FIELD_NUMBER: _ClassVar[int]
    PROBE_FIELD_NUMBER: _ClassVar[int]
    breaker: str
    probe: bool
    def __init__(self, breaker: _Optional[str] = ..., probe: bool = ...) -> None: ...

class ItemError(_message.Message):
    __slots__ = ("field", "message")
    FIELD_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    field: str
    message: str
    def __init__(self, field: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

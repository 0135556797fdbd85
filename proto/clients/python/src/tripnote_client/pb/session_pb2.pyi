from . import contract_pb2 as _contract_pb2
from . import observation_pb2 as _observation_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SessionOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SESSION_OUTCOME_UNSPECIFIED: _ClassVar[SessionOutcome]
    SESSION_OUTCOME_ANSWERED: _ClassVar[SessionOutcome]
    SESSION_OUTCOME_ESCALATED: _ClassVar[SessionOutcome]
    SESSION_OUTCOME_HALTED: _ClassVar[SessionOutcome]
    SESSION_OUTCOME_ABANDONED: _ClassVar[SessionOutcome]

class ReviewVerdict(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REVIEW_VERDICT_UNSPECIFIED: _ClassVar[ReviewVerdict]
    REVIEW_VERDICT_ALLOW: _ClassVar[ReviewVerdict]
    REVIEW_VERDICT_SEND_BACK: _ClassVar[ReviewVerdict]
    REVIEW_VERDICT_ALLOW_UNSUPPORTED: _ClassVar[ReviewVerdict]

class ReviewRule(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REVIEW_RULE_UNSPECIFIED: _ClassVar[ReviewRule]
    REVIEW_RULE_NO_USABLE_EVIDENCE: _ClassVar[ReviewRule]
    REVIEW_RULE_INVENTED_IDENTIFIER: _ClassVar[ReviewRule]
    REVIEW_RULE_GAP_AS_NEGATIVE: _ClassVar[ReviewRule]
    REVIEW_RULE_UNNAMED_GAP: _ClassVar[ReviewRule]
    REVIEW_RULE_REQUIRED_MISSING: _ClassVar[ReviewRule]
    REVIEW_RULE_EXCLUDED_HYPOTHESIS: _ClassVar[ReviewRule]
    REVIEW_RULE_CAPPED_TOTAL: _ClassVar[ReviewRule]
    REVIEW_RULE_FIGURES_DROPPED: _ClassVar[ReviewRule]
SESSION_OUTCOME_UNSPECIFIED: SessionOutcome
SESSION_OUTCOME_ANSWERED: SessionOutcome
SESSION_OUTCOME_ESCALATED: SessionOutcome
SESSION_OUTCOME_HALTED: SessionOutcome
SESSION_OUTCOME_ABANDONED: SessionOutcome
REVIEW_VERDICT_UNSPECIFIED: ReviewVerdict
REVIEW_VERDICT_ALLOW: ReviewVerdict
REVIEW_VERDICT_SEND_BACK: ReviewVerdict
REVIEW_VERDICT_ALLOW_UNSUPPORTED: ReviewVerdict
REVIEW_RULE_UNSPECIFIED: ReviewRule
REVIEW_RULE_NO_USABLE_EVIDENCE: ReviewRule
REVIEW_RULE_INVENTED_IDENTIFIER: ReviewRule
REVIEW_RULE_GAP_AS_NEGATIVE: ReviewRule
REVIEW_RULE_UNNAMED_GAP: ReviewRule
REVIEW_RULE_REQUIRED_MISSING: ReviewRule
REVIEW_RULE_EXCLUDED_HYPOTHESIS: ReviewRule
REVIEW_RULE_CAPPED_TOTAL: ReviewRule
REVIEW_RULE_FIGURES_DROPPED: ReviewRule

class SessionRef(_message.Message):
    __slots__ = ("session_id", "caller")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    CALLER_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    caller: str
    def __init__(self, session_id: _Optional[str] = ..., caller: _Optional[str] = ...) -> None: ...

class OpenSessionRequest(_message.Message):
    __slots__ = ("session", "policy")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    session: SessionRef
    policy: SessionPolicy
    def __init__(self, session: _Optional[_Union[SessionRef, _Mapping]] = ..., policy: _Optional[_Union[SessionPolicy, _Mapping]] = ...) -> None: ...

class OpenSessionResponse(_message.Message):
    __slots__ = ("opened",)
    OPENED_FIELD_NUMBER: _ClassVar[int]
    opened: bool
    def __init__(self, opened: bool = ...) -> None: ...

class SessionPolicy(_message.Message):
    __slots__ = ("required_tools", "allow", "tools", "escalation_tool", "excluded_hypotheses", "known_ids", "thresholds", "strict")
    REQUIRED_TOOLS_FIELD_NUMBER: _ClassVar[int]
    ALLOW_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    ESCALATION_TOOL_FIELD_NUMBER: _ClassVar[int]
    EXCLUDED_HYPOTHESES_FIELD_NUMBER: _ClassVar[int]
    KNOWN_IDS_FIELD_NUMBER: _ClassVar[int]
    THRESHOLDS_FIELD_NUMBER: _ClassVar[int]
    STRICT_FIELD_NUMBER: _ClassVar[int]
    required_tools: _containers.RepeatedScalarFieldContainer[str]
    allow: _containers.RepeatedScalarFieldContainer[str]
    tools: _containers.RepeatedCompositeFieldContainer[DeclaredTool]
    escalation_tool: str
    excluded_hypotheses: _containers.RepeatedScalarFieldContainer[str]
    known_ids: _containers.RepeatedScalarFieldContainer[str]
    thresholds: SessionThresholds
    strict: bool
    def __init__(self, required_tools: _Optional[_Iterable[str]] = ..., allow: _Optional[_Iterable[str]] = ..., tools: _Optional[_Iterable[_Union[DeclaredTool, _Mapping]]] = ..., escalation_tool: _Optional[str] = ..., excluded_hypotheses: _Optional[_Iterable[str]] = ..., known_ids: _Optional[_Iterable[str]] = ..., thresholds: _Optional[_Union[SessionThresholds, _Mapping]] = ..., strict: bool = ...) -> None: ...

class DeclaredTool(_message.Message):
    __slots__ = ("name", "target", "effect", "domain", "alternative")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    EFFECT_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_FIELD_NUMBER: _ClassVar[int]
    ALTERNATIVE_FIELD_NUMBER: _ClassVar[int]
    name: str
    target: str
    effect: _observation_pb2.Effect
    domain: str
    alternative: str
    def __init__(self, name: _Optional[str] = ..., target: _Optional[str] = ..., effect: _Optional[_Union[_observation_pb2.Effect, str]] = ..., domain: _Optional[str] = ..., alternative: _Optional[str] = ...) -> None: ...

class SessionThresholds(_message.Message):
    __slots__ = ("steer_at", "halt_at", "sweep_steer_at", "sweep_halt_at", "broad_steer_at", "broad_halt_at", "observed_steer_at", "observed_halt_at", "max_halts", "fan_out_per_wave")
    STEER_AT_FIELD_NUMBER: _ClassVar[int]
    HALT_AT_FIELD_NUMBER: _ClassVar[int]
    SWEEP_STEER_AT_FIELD_NUMBER: _ClassVar[int]
    SWEEP_HALT_AT_FIELD_NUMBER: _ClassVar[int]
    BROAD_STEER_AT_FIELD_NUMBER: _ClassVar[int]
    BROAD_HALT_AT_FIELD_NUMBER: _ClassVar[int]
    OBSERVED_STEER_AT_FIELD_NUMBER: _ClassVar[int]
    OBSERVED_HALT_AT_FIELD_NUMBER: _ClassVar[int]
    MAX_HALTS_FIELD_NUMBER: _ClassVar[int]
    FAN_OUT_PER_WAVE_FIELD_NUMBER: _ClassVar[int]
    steer_at: int
    halt_at: int
    sweep_steer_at: int
    sweep_halt_at: int
    broad_steer_at: int
    broad_halt_at: int
    observed_steer_at: int
    observed_halt_at: int
    max_halts: int
    fan_out_per_wave: int
    def __init__(self, steer_at: _Optional[int] = ..., halt_at: _Optional[int] = ..., sweep_steer_at: _Optional[int] = ..., sweep_halt_at: _Optional[int] = ..., broad_steer_at: _Optional[int] = ..., broad_halt_at: _Optional[int] = ..., observed_steer_at: _Optional[int] = ..., observed_halt_at: _Optional[int] = ..., max_halts: _Optional[int] = ..., fan_out_per_wave: _Optional[int] = ...) -> None: ...

class CloseSessionRequest(_message.Message):
    __slots__ = ("session", "outcome", "success")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    session: SessionRef
    outcome: SessionOutcome
    success: bool
    def __init__(self, session: _Optional[_Union[SessionRef, _Mapping]] = ..., outcome: _Optional[_Union[SessionOutcome, str]] = ..., success: bool = ...) -> None: ...

class CloseSessionResponse(_message.Message):
    __slots__ = ("counts",)
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    counts: SessionCounts
    def __init__(self, counts: _Optional[_Union[SessionCounts, _Mapping]] = ...) -> None: ...

class BeginTaskRequest(_message.Message):
    __slots__ = ("session", "task_id")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    session: SessionRef
    task_id: str
    def __init__(self, session: _Optional[_Union[SessionRef, _Mapping]] = ..., task_id: _Optional[str] = ...) -> None: ...

class BeginTaskResponse(_message.Message):
    __slots__ = ("task",)
    TASK_FIELD_NUMBER: _ClassVar[int]
    task: int
    def __init__(self, task: _Optional[int] = ...) -> None: ...

class EndWaveRequest(_message.Message):
    __slots__ = ("session", "lane")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    LANE_FIELD_NUMBER: _ClassVar[int]
    session: SessionRef
    lane: str
    def __init__(self, session: _Optional[_Union[SessionRef, _Mapping]] = ..., lane: _Optional[str] = ...) -> None: ...

class EndWaveResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class AdvanceContextEpochRequest(_message.Message):
    __slots__ = ("session", "context_epoch")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_EPOCH_FIELD_NUMBER: _ClassVar[int]
    session: SessionRef
    context_epoch: int
    def __init__(self, session: _Optional[_Union[SessionRef, _Mapping]] = ..., context_epoch: _Optional[int] = ...) -> None: ...

class AdvanceContextEpochResponse(_message.Message):
    __slots__ = ("context_epoch",)
    CONTEXT_EPOCH_FIELD_NUMBER: _ClassVar[int]
    context_epoch: int
    def __init__(self, context_epoch: _Optional[int] = ...) -> None: ...

class GetSessionRequest(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: SessionRef
    def __init__(self, session: _Optional[_Union[SessionRef, _Mapping]] = ...) -> None: ...

class GetSessionResponse(_message.Message):
    __slots__ = ("counts", "calls", "dropped_calls", "exhausted_tools", "required_tools")
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    DROPPED_CALLS_FIELD_NUMBER: _ClassVar[int]
    EXHAUSTED_TOOLS_FIELD_NUMBER: _ClassVar[int]
    REQUIRED_TOOLS_FIELD_NUMBER: _ClassVar[int]
    counts: SessionCounts
    calls: _containers.RepeatedCompositeFieldContainer[SessionCall]
    dropped_calls: int
    exhausted_tools: _containers.RepeatedScalarFieldContainer[str]
    required_tools: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, counts: _Optional[_Union[SessionCounts, _Mapping]] = ..., calls: _Optional[_Iterable[_Union[SessionCall, _Mapping]]] = ..., dropped_calls: _Optional[int] = ..., exhausted_tools: _Optional[_Iterable[str]] = ..., required_tools: _Optional[_Iterable[str]] = ...) -> None: ...

class SessionCounts(_message.Message):
    __slots__ = ("admitted", "refused", "steered", "halted", "steer_then_halt", "alert_steer_then_halt", "session_halted", "task", "context_epoch")
    ADMITTED_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    STEERED_FIELD_NUMBER: _ClassVar[int]
    HALTED_FIELD_NUMBER: _ClassVar[int]
    STEER_THEN_HALT_FIELD_NUMBER: _ClassVar[int]
    ALERT_STEER_THEN_HALT_FIELD_NUMBER: _ClassVar[int]
    SESSION_HALTED_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_EPOCH_FIELD_NUMBER: _ClassVar[int]
    admitted: int
    refused: int
    steered: int
    halted: int
    steer_then_halt: int
    alert_steer_then_halt: int
    session_halted: bool
    task: int
    context_epoch: int
    def __init__(self, admitted: _Optional[int] = ..., refused: _Optional[int] = ..., steered: _Optional[int] = ..., halted: _Optional[int] = ..., steer_then_halt: _Optional[int] = ..., alert_steer_then_halt: _Optional[int] = ..., session_halted: bool = ..., task: _Optional[int] = ..., context_epoch: _Optional[int] = ...) -> None: ...

class SessionCall(_message.Message):
    __slots__ = ("turn", "tool", "observation", "signal", "told", "ago_ms", "lane")
    TURN_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    OBSERVATION_FIELD_NUMBER: _ClassVar[int]
    SIGNAL_FIELD_NUMBER: _ClassVar[int]
    TOLD_FIELD_NUMBER: _ClassVar[int]
    AGO_MS_FIELD_NUMBER: _ClassVar[int]
    LANE_FIELD_NUMBER: _ClassVar[int]
    turn: int
    tool: str
    observation: _observation_pb2.Observation
    signal: _contract_pb2.Signal
    told: str
    ago_ms: int
    lane: int
    def __init__(self, turn: _Optional[int] = ..., tool: _Optional[str] = ..., observation: _Optional[_Union[_observation_pb2.Observation, str]] = ..., signal: _Optional[_Union[_contract_pb2.Signal, str]] = ..., told: _Optional[str] = ..., ago_ms: _Optional[int] = ..., lane: _Optional[int] = ...) -> None: ...

class GetEvidenceRequest(_message.Message):
    __slots__ = ("session", "current_task_only")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    CURRENT_TASK_ONLY_FIELD_NUMBER: _ClassVar[int]
    session: SessionRef
    current_task_only: bool
    def __init__(self, session: _Optional[_Union[SessionRef, _Mapping]] = ..., current_task_only: bool = ...) -> None: ...

class GetEvidenceResponse(_message.Message):
    __slots__ = ("rows", "text", "dropped_rows")
    ROWS_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    DROPPED_ROWS_FIELD_NUMBER: _ClassVar[int]
    rows: _containers.RepeatedCompositeFieldContainer[EvidenceRow]
    text: str
    dropped_rows: int
    def __init__(self, rows: _Optional[_Iterable[_Union[EvidenceRow, _Mapping]]] = ..., text: _Optional[str] = ..., dropped_rows: _Optional[int] = ...) -> None: ...

class EvidenceRow(_message.Message):
    __slots__ = ("number", "usable", "domain", "role", "tool", "observation", "digest", "task", "turn")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    USABLE_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    OBSERVATION_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    number: int
    usable: bool
    domain: str
    role: str
    tool: str
    observation: _observation_pb2.Observation
    digest: str
    task: int
    turn: int
    def __init__(self, number: _Optional[int] = ..., usable: bool = ..., domain: _Optional[str] = ..., role: _Optional[str] = ..., tool: _Optional[str] = ..., observation: _Optional[_Union[_observation_pb2.Observation, str]] = ..., digest: _Optional[str] = ..., task: _Optional[int] = ..., turn: _Optional[int] = ...) -> None: ...

class ReviewAnswerRequest(_message.Message):
    __slots__ = ("session", "text", "task_id")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    session: SessionRef
    text: str
    task_id: str
    def __init__(self, session: _Optional[_Union[SessionRef, _Mapping]] = ..., text: _Optional[str] = ..., task_id: _Optional[str] = ...) -> None: ...

class ReviewAnswerResponse(_message.Message):
    __slots__ = ("verdict", "rule", "message", "cautions")
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    CAUTIONS_FIELD_NUMBER: _ClassVar[int]
    verdict: ReviewVerdict
    rule: ReviewRule
    message: str
    cautions: _containers.RepeatedScalarFieldContainer[ReviewRule]
    def __init__(self, verdict: _Optional[_Union[ReviewVerdict, str]] = ..., rule: _Optional[_Union[ReviewRule, str]] = ..., message: _Optional[str] = ..., cautions: _Optional[_Iterable[_Union[ReviewRule, str]]] = ...) -> None: ...

class ReleaseEffectRequest(_message.Message):
    __slots__ = ("session", "tool_name")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    session: SessionRef
    tool_name: str
    def __init__(self, session: _Optional[_Union[SessionRef, _Mapping]] = ..., tool_name: _Optional[str] = ...) -> None: ...

class ReleaseEffectResponse(_message.Message):
    __slots__ = ("released",)
    RELEASED_FIELD_NUMBER: _ClassVar[int]
    released: int
    def __init__(self, released: _Optional[int] = ...) -> None: ...

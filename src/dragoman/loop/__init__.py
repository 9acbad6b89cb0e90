"""The loop: a model asked again and again, its tools run, its mistakes corrected, until it has answered.

In reading order: `outcomes` (how a run ends), `policy` (what it may do), `steps` (what it emits), `call_errors` and
`check_calls` (what is wrong with a call), `example_arguments` and `corrections` (what the model is told of it),
`missed_calls` and `classify` (what an answer without a call is), `transcript`, `stall_guard`, `long_results`, `output`,
`deadline`, `run_calls`, `history`, `state`, `next_step`, `machine` (the loop itself).
"""

from ..effects import ToolProgress
from .machine import Ask, loop
from .outcomes import (
    Answered,
    Bound,
    End,
    Failed,
    FinalAction,
    FinalTool,
    Interrupted,
    Limit,
    Refused,
    Run,
    RunUnfinished,
)
from .output import How, Output
from .policy import Allowed, ApprovalRequest, Decision, Denied, Duplicates, Edited, Policy
from .steps import ApprovalDecided, Corrected, RunEvent, Step, ToolEnded, ToolStarted, TurnEnded, TurnStarted

__all__ = [
    "Allowed",
    "Answered",
    "ApprovalDecided",
    "ApprovalRequest",
    "Ask",
    "Bound",
    "Corrected",
    "Decision",
    "Denied",
    "Duplicates",
    "Edited",
    "End",
    "Failed",
    "FinalAction",
    "FinalTool",
    "How",
    "Interrupted",
    "Limit",
    "Output",
    "Policy",
    "Refused",
    "Run",
    "RunEvent",
    "RunUnfinished",
    "Step",
    "ToolEnded",
    "ToolProgress",
    "ToolStarted",
    "TurnEnded",
    "TurnStarted",
    "loop",
]  # fmt: skip

"""The loop: a model asked again and again, its tools run, its mistakes corrected, until it has answered.

The door to the package.  In reading order: `ends` (how a run ends), `policy` (what it may do), `steps` (what it tells),
`errors` and `checking` (what is wrong with a call), `specimen` and `corrections` (what the model is told of it),
`misread` and `replies` (what an answer without a call is), `transcript`, `guard`, `archive`, `output`, `acting`
(running calls), `state`, `answering`, `machine` (the loop itself).
"""

from ..effects import ToolProgress
from .machine import Ask, loop
from .outcomes import Answered, Bound, End, Failed, FinalAction, FinalTool, Interrupted, Limit, Refused, Run
from .output import How, Output
from .policy import Allowed, ApprovalRequest, Decision, Denied, Duplicates, Edited, Policy
from .steps import ApprovalDecided, Corrected, Step, ToolEnded, ToolStarted, TurnEnded, TurnStarted

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
    "Step",
    "ToolEnded",
    "ToolProgress",
    "ToolStarted",
    "TurnEnded",
    "TurnStarted",
    "loop",
]  # fmt: skip

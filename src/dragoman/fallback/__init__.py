"""Several routes to an answer: which to ask, when to ask again, when to go elsewhere, and what was learnt of each.

In reading order: `failure_policy` (what each kind of failure means for the next attempt), `health` (which routes
failed lately), `balance` (how routes share requests), `chain` (the machine).  Performs nothing; the clock is an effect
and chance an argument.
"""

from .balance import Balance as Balance
from .balance import Balancer as Balancer
from .balance import Sharing as Sharing
from .balance import Spread as Spread
from .chain import Answered as Answered
from .chain import ChainError as ChainError
from .chain import Note as Note
from .chain import RouteAsked as RouteAsked
from .chain import RouteFailed as RouteFailed
from .chain import RouteSkipped as RouteSkipped
from .chain import Then as Then
from .chain import chain as chain
from .chain import chaining as chaining
from .failure_policy import TREATMENTS as TREATMENTS
from .failure_policy import Cooling as Cooling
from .failure_policy import Rules as Rules
from .failure_policy import Treatment as Treatment
from .health import Condition as Condition
from .health import Health as Health
from .health import Place as Place
from .health import place as place

"""What a client does, each thing once: machines that either client performs.

Knows the loop, the chain and journals; performs nothing itself but opening a journal.  Contract: the caller's mistakes
are raised before anything is asked; a journal is let go of however the machine ends; keys are in no journal.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeAlias, TypeVar

from ..effects import Effect, Machine, Now, RunTools, ToolProgress, relay
from ..errors import JournalError
from ..fallback import Health, Rules, chain
from ..io.cancel import Cancel
from ..io.execution import Attend, Begin, Notify, ToolObserver
from ..io.ids import mint
from ..loop import Failed, Output, Policy, Run, loop
from ..loop.journal import Recorder, Store
from ..providers.route import Route
from ..tools import ToolSet
from ..turn.capabilities import Learned
from ..types import NOTHING, JsonObject, Message, Request, Response, Sampling, ToolChoice, ToolResult
from .conversation import Said, conversation
from .journal_header import About, names_of, read_about
from .models import Catalogue, Models
from .output import form_of
from .tools import Tools, toolset
from .tools import told as told_of

T = TypeVar("T")
Listener: TypeAlias = Callable[[Any], Any]
Opened: TypeAlias = "Callable[[], tuple[Store, _Task, float | None]]"
Path: TypeAlias = "str | os.PathLike[str]"

PLAIN = Policy()
DEFAULT = Sampling()
NO_ROUTES = "{path} began with routes of its own; give them again, as routes of the client or as model=…"


class LateObserver:
    """The observer of the tools of a machine, once it is known: a journal is opened when the machine begins."""

    def __init__(self) -> None:
        self._observer: ToolObserver | None = None

    def to(self, observer: ToolObserver) -> None:
        """From now on `observer` is told."""
        self._observer = observer

    def started(self, job: Any) -> None:
        """The job is about to start."""
        if self._observer is not None:
            self._observer.started(job)

    def ended(self, job: Any, result: ToolResult) -> None:
        """The job has its result."""
        if self._observer is not None:
            self._observer.ended(job, result)


@dataclass(frozen=True, slots=True)
class Plan(Generic[T]):
    """Something to do: `steps(listening)` is its machine; `listening` says whether somebody wants to see it happen."""

    steps: Callable[[bool], Machine[T]]
    cancel: Cancel | None = None
    observer: ToolObserver | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """What holds where a call says nothing else."""

    model: Models = ""
    tools: ToolSet = field(default_factory=ToolSet)
    system: str | None = None
    policy: Policy = PLAIN
    sampling: Sampling = DEFAULT


class Plans:
    """What one client can do.  `health` and what was learnt of models are shared by everything it does."""

    def __init__(self, catalogue: Catalogue, defaults: Defaults, rules: Rules | None, health: Health | None) -> None:
        self._catalogue, self._defaults = catalogue, defaults
        rules = rules or Rules()
        self._rules = rules if rules.chance is not None else replace(rules, chance=random.random)
        self._learned = Learned()
        self.health = health or Health()

    def run(
        self,
        prompt: Said = "",
        *,
        messages: Said = (),
        tools: Tools | None = None,
        model: Models = "",
        system: str | None = None,
        output_type: Any = None,
        policy: Policy | None = None,
        sampling: Sampling | None = None,
        tool_choice: ToolChoice | None = None,
        extra: JsonObject = NOTHING,
        journal: Path | None = None,
        on_event: Listener | None = None,
        cancel: Cancel | None = None,
    ) -> Plan[Run]:
        """Ask the model, run its tools and correct its mistakes until it has answered; how it ended is in `Run.end`.

        prompt, messages  what is said: a text or messages; `messages` come first (a run's, to go on with it)
        tools             functions, runnables, tool sets;  model: `provider/model`, several of them, or routes
        output_type       the type, or the JSON Schema, of the value wanted: `Run.value`
        journal           a file that does not exist yet: every step is written there, for `resume`
        on_event          hears every event and step, as it happens;  cancel: ends the run when it is told to
        extra             fields of the request that we do not model

        Raises UsageError for what cannot be asked; what providers and tools do wrong is in the `Run`.
        """
        wanted: Models = model or self._defaults.model
        routes = self._catalogue.routes(wanted)
        asked = self._request(conversation(prompt, messages, self._system(system)), sampling, tool_choice, extra)
        task = _Task(
            request=asked,
            routes=routes,
            tools=self._tools(tools),
            policy=policy or self._defaults.policy,
            output=form_of(output_type),
            run_id=mint("run_"),
            models=wanted,
        )

        def made(observer: LateObserver, listening: bool) -> Machine[Run]:
            if journal is None:
                return audible(self._loop(task, listening))
            return self._recorded(lambda: (Store(journal, new=True), task, None), observer, listening)

        return self._plan(made, on_event, cancel)

    def resume(
        self,
        journal: Path,
        *,
        tools: Tools | None = None,
        model: Models = "",
        output_type: Any = None,
        policy: Policy | None = None,
        on_event: Listener | None = None,
        cancel: Cancel | None = None,
    ) -> Plan[Run]:
        """Go on with the run in `journal` where it was when its program ended; one that had ended is told again.

        Tools and policy must be those it began with.  Tools that ended are not run again; one that was running then is
        run again if it is `read_only` or `idempotent`, with the same `Context.key`; else its call is answered with
        the code MissingResult.

        Raises JournalError for a file that is none, is in use, or does not fit.
        """

        def opened() -> tuple[Store, _Task, float]:
            store = Store(journal, new=False)
            try:
                about = read_about(store)
                models = model or about.models or self._defaults.model
                if not models:
                    raise JournalError(NO_ROUTES.format(path=store.path))
                task = _Task(
                    request=about.request,
                    routes=self._catalogue.routes(models),
                    tools=self._tools(tools),
                    policy=policy or self._defaults.policy,
                    output=form_of(output_type) or about.output,
                    run_id=about.run_id,
                    models=models,
                )
            except BaseException:
                store.close()
                raise
            return store, task, about.begun

        return self._plan(lambda observer, listening: self._recorded(opened, observer, listening), on_event, cancel)

    def turn(
        self,
        prompt: Said = "",
        *,
        messages: Said = (),
        tools: Tools | None = None,
        model: Models = "",
        system: str | None = None,
        sampling: Sampling | None = None,
        tool_choice: ToolChoice | None = None,
        extra: JsonObject = NOTHING,
        on_event: Listener | None = None,
        cancel: Cancel | None = None,
    ) -> Plan[Response]:
        """Ask the model once; the calls it made are in the answer, judged, and are not run.

        Takes what `run` takes; tools may also be definitions, of any API.  Raises ProviderError where no answer came,
        UsageError for what cannot be asked.
        """
        routes = self._catalogue.routes(model or self._defaults.model)
        asked = self._request(conversation(prompt, messages, self._system(system)), sampling, tool_choice, extra)
        asked = replace(asked, tools=self._defaults.tools.definitions if tools is None else told_of(tools))

        def steps(listening: bool) -> Machine[Response]:
            return self._asking(replace(asked, stream=listening), routes)

        return Plan(lambda listening: told(steps(listening or on_event is not None), on_event), cancel)

    # ── parts of plans ───────────────────────────────────────────────────────

    def _system(self, system: str | None) -> str | None:
        return self._defaults.system if system is None else system

    def _tools(self, tools: Tools | None) -> ToolSet:
        return self._defaults.tools if tools is None else toolset(tools)

    def _request(
        self,
        messages: tuple[Message, ...],
        sampling: Sampling | None,
        tool_choice: ToolChoice | None,
        extra: JsonObject,
    ) -> Request:
        chosen = sampling or self._defaults.sampling
        return Request(model="", messages=messages, sampling=chosen, tool_choice=tool_choice, extra=extra)

    def _asking(self, request: Request, routes: Sequence[Route]) -> Machine[Response]:
        return chain(request, routes, self.health, self._learned, self._rules)

    def _plan(
        self,
        made: Callable[[LateObserver, bool], Machine[Run]],
        on_event: Listener | None,
        cancel: Cancel | None,
    ) -> Plan[Run]:
        observer = LateObserver()
        return Plan(
            lambda listening: told(made(observer, listening or on_event is not None), on_event), cancel, observer
        )

    def _recorded(self, opened: Opened, observer: LateObserver, listening: bool) -> Machine[Run]:
        """The run, written down as it happens and taken from there as far as it was."""
        store, task, begun = opened()
        try:
            if begun is None:
                begun = yield Now()
                _about(task, begun).write(store)
            recorder = Recorder(store, task.run_id, begun)
            observer.to(recorder)
            run = yield from audible(recorder.machine(self._loop(task, listening, recorder)))
            if isinstance(run.end, Failed) and isinstance(run.end.error, JournalError):
                raise run.end.error
            return run
        finally:
            store.close()

    def _loop(self, task: _Task, listening: bool, recorder: Recorder | None = None) -> Machine[Run]:
        def ask(request: Request) -> Machine[Response]:
            return self._asking(request, task.routes)

        request = replace(task.request, stream=listening)
        return loop(request, recorder.ask(ask) if recorder else ask, task.tools, task.policy, task.output, task.run_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """A run: what is asked of whom, with what."""

    request: Request
    routes: Sequence[Route]
    tools: ToolSet
    policy: Policy
    output: Output | None
    run_id: str
    models: Models


# ── machines around machines ─────────────────────────────────────────────────


def audible(steps: Machine[T]) -> Machine[T]:
    """`steps`, with what its tools report told while they run."""
    return relay(steps, _attended)


def _attended(effect: Effect) -> Machine[Any]:
    if not isinstance(effect, RunTools):
        return (yield effect)
    yield Begin(effect)
    while isinstance(heard := (yield Attend()), ToolProgress):
        yield heard
    return heard


def told(steps: Machine[T], listener: Listener | None) -> Machine[T]:
    """`steps`, each told to `listener` too."""
    if listener is None:
        return steps

    def hear(step: Any) -> Machine[None]:
        yield Notify(listener, (step,))
        yield step

    return relay(steps, on_step=hear)


def _about(task: _Task, begun: float) -> About:
    return About(
        run_id=task.run_id,
        begun=begun,
        request=task.request,
        models=names_of(task.models),
        output=task.output,
    )

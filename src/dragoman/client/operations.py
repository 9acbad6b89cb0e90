"""The operations of a client, each written once: machines that either client performs.

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
from ..errors import JournalError, UsageError
from ..fallback import Health, Rules, chaining
from ..io.cancel import Cancel
from ..io.execution import Attend, Begin, Notify, ToolObserver
from ..io.ids import mint
from ..loop import Failed, Output, Policy, Run, RunEvent, loop
from ..loop.journal import JournalStore, RunRecorder
from ..loop.outcomes import V
from ..providers.route import Route
from ..tools import ToolSet
from ..turn.capabilities import Capabilities
from ..turn.ignored_tools import AnsweredBesides, AskedBesides
from ..turn.reask import Ask
from ..types import NOTHING, JsonObject, Message, Request, Response, Sampling, ToolResult
from .conversation import Prompt, conversation
from .given import Choice, check, check_choice, choice_of
from .journal_header import JournalHeader, names_of, read_header
from .models import Catalogue, Models
from .output import form_of
from .tools import Tools, definitions_of, toolset

T = TypeVar("T")
OnEvent: TypeAlias = Callable[[RunEvent], Any]
Form: TypeAlias = "type[V] | Output | JsonObject | None"
Opened: TypeAlias = "Callable[[], tuple[JournalStore, _Task, float | None]]"
Path: TypeAlias = "str | os.PathLike[str]"

PLAIN = Policy()
DEFAULT = Sampling()
NO_JOURNAL = "there is no journal to go on with; give the path of the file that run(…, journal=…) wrote"
NO_ROUTES = "{path} began with routes of its own; give them again, as routes of the client or as model=…"


class LateObserver:
    """The observer of the tools of a machine, once it is known: a journal is opened when the machine begins."""

    def __init__(self) -> None:
        self._observer: ToolObserver | None = None

    def to(self, observer: ToolObserver) -> None:
        """From now on `observer` is called."""
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
class Operation(Generic[T]):
    """Something to do: `steps(streaming)` is its machine; `streaming` says whether somebody wants to see it happen."""

    steps: Callable[[bool], Machine[T]]
    cancel: Cancel | None = None
    observer: ToolObserver | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """The values used where a call gives none."""

    model: Models = ""
    tools: ToolSet = field(default_factory=ToolSet)
    system: str | None = None
    policy: Policy = PLAIN
    sampling: Sampling = DEFAULT
    raise_on_failure: bool = True


class Operations:
    """The operations of one client; they share `health` and what was learnt of models."""

    def __init__(self, catalogue: Catalogue, defaults: Defaults, rules: Rules | None, health: Health | None) -> None:
        self._catalogue, self._defaults = catalogue, defaults
        rules = rules or Rules()
        self._rules = replace(rules, complete=True, chance=rules.chance or random.random)
        self._learned = Capabilities()
        self.health: Health = health or Health()

    def run(
        self,
        prompt: Prompt = "",
        *,
        messages: Prompt = (),
        tools: Tools | None = None,
        model: Models = "",
        system: str | None = None,
        output: Form[V] = None,
        raise_on_failure: bool | None = None,
        policy: Policy | None = None,
        sampling: Sampling | None = None,
        tool_choice: Choice | None = None,
        extra: JsonObject = NOTHING,
        journal: Path | None = None,
        on_event: OnEvent | None = None,
        cancel: Cancel | None = None,
    ) -> Operation[Run[V]]:
        """Ask the model, run its tools and correct its mistakes until it has answered.

        prompt, messages  the conversation: a text or messages; `messages` come first (a run's, to go on with it)
        tools             functions, runnables, tool sets;  model: `provider/model`, several of them, or routes
        output            the type, or the JSON Schema, of the value wanted: `Run.value`
        raise_on_failure  False returns every run, and `Run.end` says how it ended; None: as the client does
        journal           a file that does not exist yet: every step is written there, for `resume`
        on_event          is called with every event and step, as it happens;  cancel: ends the run when it is told to
        tool_choice       "auto", "none", "required", a `ToolChoice`, or one as OpenAI or Anthropic writes it
        extra             fields of the request that we do not model

        Raises UsageError for what cannot be asked; ProviderError where no provider answered; RunUnfinished where a
        limit of the policy or a refusal ended the run.  The run so far is their `run`.  What tools do wrong is told
        to the model; a run that was cancelled is returned.
        """
        check(policy=policy, sampling=sampling, system=system, extra=extra, journal=journal, on_event=on_event)
        check(cancel=cancel)
        wanted: Models = model or self._defaults.model
        routes = self._catalogue.routes(wanted)
        runnables = self._tools(tools)
        request = self._request(self._said(prompt, messages, system), sampling, tool_choice, extra)
        check_choice(request.tool_choice, [*runnables], request.extra)
        task = _Task(
            request=request,
            routes=routes,
            tools=runnables,
            policy=policy or self._defaults.policy,
            output=form_of(output),
            run_id=mint("run_"),
            models=wanted,
        )

        def made(observer: LateObserver, streaming: bool) -> Machine[Run[Any]]:
            if journal is None:
                return with_progress(self._loop(task, streaming))
            return self._recorded(lambda: (JournalStore(journal, new=True), task, None), observer, streaming)

        return self._operation(made, on_event, cancel, raise_on_failure)

    def resume(
        self,
        journal: Path,
        *,
        tools: Tools | None = None,
        model: Models = "",
        output: Form[V] = None,
        raise_on_failure: bool | None = None,
        policy: Policy | None = None,
        on_event: OnEvent | None = None,
        cancel: Cancel | None = None,
    ) -> Operation[Run[V]]:
        """Go on with the run in `journal` where it was when its program ended; one that had ended is replayed.

        Tools and policy must be those it began with.  Tools that ended are not run again; one that was running then is
        run again if it is `read_only` or `idempotent`, with the same `Context.key`; else its call is answered with
        the code MissingResult.

        Raises JournalError for a file that is none, is in use, or does not fit; else as `run` does.
        """

        check(policy=policy, journal=journal, on_event=on_event, cancel=cancel)
        if journal is None:
            raise UsageError(NO_JOURNAL)

        def opened() -> tuple[JournalStore, _Task, float]:
            store = JournalStore(journal, new=False)
            try:
                header = read_header(store)
                models = model or header.models or self._defaults.model
                if not models:
                    raise JournalError(NO_ROUTES.format(path=store.path))
                task = _Task(
                    request=header.request,
                    routes=self._catalogue.routes(models),
                    tools=self._tools(tools),
                    policy=policy or self._defaults.policy,
                    output=form_of(output) or header.output,
                    run_id=header.run_id,
                    models=models,
                )
            except BaseException:
                store.close()
                raise
            return store, task, header.begun

        return self._operation(
            lambda observer, streaming: self._recorded(opened, observer, streaming), on_event, cancel, raise_on_failure
        )

    def turn(
        self,
        prompt: Prompt = "",
        *,
        messages: Prompt = (),
        tools: Tools | None = None,
        model: Models = "",
        system: str | None = None,
        sampling: Sampling | None = None,
        tool_choice: Choice | None = None,
        extra: JsonObject = NOTHING,
        on_event: OnEvent | None = None,
        cancel: Cancel | None = None,
    ) -> Operation[Response]:
        """Ask the model once; the calls it made are in the answer, judged, and are not run.

        Takes what `run` takes; tools may also be definitions, of any API.  Raises ProviderError where no answer came,
        UsageError for what cannot be asked.
        """
        check(sampling=sampling, system=system, extra=extra, on_event=on_event, cancel=cancel)
        routes = self._catalogue.routes(model or self._defaults.model)
        request = self._request(self._said(prompt, messages, system), sampling, tool_choice, extra)
        request = replace(request, tools=self._defaults.tools.definitions if tools is None else definitions_of(tools))
        check_choice(request.tool_choice, [tool.name for tool in request.tools], request.extra)

        def steps(streaming: bool) -> Machine[Response]:
            return self._asks(routes)(replace(request, stream=streaming))

        return Operation(lambda streaming: observed(steps(streaming or on_event is not None), on_event), cancel)

    # ── parts of plans ───────────────────────────────────────────────────────

    def _said(self, prompt: Prompt, messages: Prompt, system: str | None) -> tuple[Message, ...]:
        return conversation(prompt, messages, system, self._defaults.system)

    def _tools(self, tools: Tools | None) -> ToolSet:
        return self._defaults.tools if tools is None else toolset(tools)

    def _request(
        self,
        messages: tuple[Message, ...],
        sampling: Sampling | None,
        tool_choice: Choice | None,
        extra: JsonObject | None,
    ) -> Request:
        chosen, choice = sampling or self._defaults.sampling, choice_of(tool_choice)
        return Request(model="", messages=messages, sampling=chosen, tool_choice=choice, extra=extra or NOTHING)

    def _asks(self, routes: Sequence[Route]) -> Ask:
        ask = chaining(routes, self.health, self._learned, self._rules)
        return lambda request: relay(ask(request), on_step=_of_the_run)

    def _operation(
        self,
        made: Callable[[LateObserver, bool], Machine[Run[Any]]],
        on_event: OnEvent | None,
        cancel: Cancel | None,
        raises: bool | None,
    ) -> Operation[Run[Any]]:
        observer = LateObserver()
        raises = self._defaults.raise_on_failure if raises is None else raises

        def steps(streaming: bool) -> Machine[Run[Any]]:
            run = yield from observed(made(observer, streaming or on_event is not None), on_event)
            if raises:
                run.raise_for_end()
            return run

        return Operation(steps, cancel, observer)

    def _recorded(self, opened: Opened, observer: LateObserver, streaming: bool) -> Machine[Run[Any]]:
        """The run, written down as it happens and taken from there as far as it was."""
        store, task, begun = opened()
        try:
            if begun is None:
                begun = yield Now()
                _header(task, begun).write(store)
            recorder = RunRecorder(store, task.run_id, begun)
            observer.to(recorder)
            run = yield from with_progress(recorder.machine(self._loop(task, streaming, recorder)))
            if isinstance(run.end, Failed) and isinstance(run.end.error, JournalError):
                raise run.end.error
            return run
        finally:
            store.close()

    def _loop(self, task: _Task, streaming: bool, recorder: RunRecorder | None = None) -> Machine[Run[Any]]:
        strict = task.policy.strict
        routes = task.routes if strict is None else [replace(route, strict=strict) for route in task.routes]
        ask = self._asks(routes)
        request = replace(task.request, stream=streaming)
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


def with_progress(steps: Machine[T]) -> Machine[T]:
    """`steps`, with what its tools report while they run."""
    return relay(steps, _attended)


def _attended(effect: Effect) -> Machine[Any]:
    if not isinstance(effect, RunTools):
        return (yield effect)
    yield Begin(effect)
    while isinstance(reply := (yield Attend()), ToolProgress):
        yield reply
    return reply


def observed(steps: Machine[T], on_event: OnEvent | None) -> Machine[T]:
    """`steps`, with which `on_event` is called too."""
    if on_event is None:
        return steps

    def notify(step: Any) -> Machine[None]:
        yield Notify(on_event, (step,))
        yield step

    return relay(steps, on_step=notify)


def _of_the_run(step: Any) -> tuple[Any, ...]:
    """What is seen of a run: what a model was asked besides is told in its issues and its usage."""
    return () if isinstance(step, AskedBesides | AnsweredBesides) else (step,)


def _header(task: _Task, begun: float) -> JournalHeader:
    return JournalHeader(
        run_id=task.run_id,
        begun=begun,
        request=task.request,
        models=names_of(task.models),
        output=task.output,
    )

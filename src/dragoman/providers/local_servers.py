"""Servers of one's own, which speak OpenAI's chat API: one frozen row each.

Rows and nothing else; `spec.py` says what the fields mean, `rows.py` holds all of them.
Sources: seeds.md (b); peers.md §4 (names of variables); the recorded addresses of wire-quirks.md; each row's `docs`.
"""

from __future__ import annotations

from ..codecs.shared.spec import Quirks
from ..conversation.requirements import CHAT, UNRESTRICTED, WireRequirements
from ..schema import api_rules as schema_rules
from .row_forms import GRAMMARS, SCHEMAS, TAGGED, bearer, local
from .spec import Provider

LOCAL: tuple[Provider, ...] = (
    local("llamacpp", 8080, "LLAMA_API_KEY", aliases=("llama.cpp", "llama-server"), constraints=GRAMMARS,
           requirements=WireRequirements(schema=schema_rules.LLAMACPP), notes=("tools without --jinja",),
           docs="https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md"),
    local("vllm", 8000, "VLLM_API_KEY", constraints=TAGGED, quirks=Quirks(reasoning_field="reasoning"),
           notes=("tools without --enable-auto-tool-choice and --tool-call-parser",),
           docs="https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html"),
    local("sglang", 30000, "SGLANG_API_KEY", constraints=TAGGED, notes=("tools without --tool-call-parser",),
           docs="https://docs.sglang.ai/basic_usage/openai_api_completions.html"),
    local("lmstudio", 1234, "LMSTUDIO_API_KEY", aliases=("lm-studio",), constraints=SCHEMAS,
           docs="https://lmstudio.ai/docs/app/api/endpoints/openai"),
    local("exo", 52415, "EXO_API_KEY", docs="https://github.com/exo-explore/exo",
           notes=("calls it did not read itself: they come as text (seeds.md b)",)),
    local("litellm", 4000, "LITELLM_API_KEY", url_env=("LITELLM_BASE_URL",), requirements=CHAT,
           docs="https://docs.litellm.ai/docs/simple_proxy"),
    local("mlx", 8080, "MLX_API_KEY", docs="https://github.com/ml-explore/mlx-lm/blob/main/mlx_lm/SERVER.md"),
    local("koboldcpp", 5001, "KOBOLDCPP_API_KEY", docs="https://github.com/LostRuins/koboldcpp/wiki"),
    Provider(name="gpustack", codec="openai_chat", auth=bearer("GPUSTACK_API_KEY", required=False),
             requirements=UNRESTRICTED, url_env=("GPUSTACK_BASE_URL", "GPUSTACK_SERVER_URL"), docs="https://docs.gpustack.ai"),
)  # fmt: skip

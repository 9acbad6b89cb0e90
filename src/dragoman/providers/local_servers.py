"""Servers of one's own, which speak OpenAI's chat API: one frozen row each.

Rows and nothing else; `spec.py` says what the fields mean, `rows.py` holds all of them.
Sources: seeds.md (b); peers.md §4 (names of variables); the recorded addresses of wire-quirks.md; each row's `docs`.
"""

from __future__ import annotations

from ..codecs.shared.spec import Quirks
from ..conversation.requirements import CHAT, UNRESTRICTED, WireRequirements
from ..schema import api_rules as schema_rules
from .row_forms import GRAMMARS, SCHEMAS, TAGGED, bearer, local, others, vendor_docs
from .spec import Provider

LOCAL: tuple[Provider, ...] = (
    local("llamacpp", 8080, "LLAMA_API_KEY", aliases=("llama.cpp", "llama-server"), constraints=GRAMMARS,
           requirements=WireRequirements(schema=schema_rules.LLAMACPP), notes=("tools without --jinja",),
           docs="https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
          evidence=(others("github: ggml-org/llama.cpp, tools/server/README.md"),)),
    local("vllm", 8000, "VLLM_API_KEY", constraints=TAGGED, quirks=Quirks(reasoning_field="reasoning"),
           notes=("tools without --enable-auto-tool-choice and --tool-call-parser",),
           docs="https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html",
          evidence=(vendor_docs("https://docs.vllm.ai/en/stable/serving/online_serving.html"),)),
    local("sglang", 30000, "SGLANG_API_KEY", constraints=TAGGED, notes=("tools without --tool-call-parser",),
           docs="https://docs.sglang.ai/basic_usage/openai_api_completions.html",
          evidence=(vendor_docs("https://docs.sglang.io/docs/basic_usage/native_api"),)),
    local("lmstudio", 1234, "LMSTUDIO_API_KEY", aliases=("lm-studio",), constraints=SCHEMAS,
           docs="https://lmstudio.ai/docs/app/api/endpoints/openai",
          evidence=(vendor_docs("https://lmstudio.ai/docs/api/openai-api"),)),
    local("exo", 52415, "EXO_API_KEY", docs="https://github.com/exo-explore/exo",
           notes=("calls it did not read itself: they come as text (seeds.md b)",),
          evidence=(others("github: clients of exo (localhost:52415/v1/chat/completions)"),)),
    local("litellm", 4000, "LITELLM_API_KEY", url_env=("LITELLM_BASE_URL",), requirements=CHAT,
           docs="https://docs.litellm.ai/docs/simple_proxy",
          evidence=(others("litellm 1.106.2, proxy/proxy_server.py"),)),
    local("mlx", 8080, "MLX_API_KEY", docs="https://github.com/ml-explore/mlx-lm/blob/main/mlx_lm/SERVER.md",
          evidence=(others("gist.github.com/awni/a4613c7b25ec0f7c2935d511cf579c07 (by an author)"),)),
    local("koboldcpp", 5001, "KOBOLDCPP_API_KEY", docs="https://github.com/LostRuins/koboldcpp/wiki",
          evidence=(others("github: clients of KoboldCpp (localhost:5001/v1)"),)),
    Provider(name="gpustack", codec="openai_chat", auth=bearer("GPUSTACK_API_KEY", required=False),
             requirements=UNRESTRICTED, url_env=("GPUSTACK_BASE_URL", "GPUSTACK_SERVER_URL"), docs="https://docs.gpustack.ai",
             evidence=(vendor_docs("https://docs.gpustack.ai/latest/integrations/openai-compatible-apis"),)),
)  # fmt: skip

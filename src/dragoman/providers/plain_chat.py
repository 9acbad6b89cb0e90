"""Providers that speak OpenAI's chat API as it is: one frozen row each.

Rows and nothing else; `spec.py` says what the fields mean, `rows.py` holds all of them.
Sources: seeds.md (b); peers.md §4 (names of variables); the recorded addresses of wire-quirks.md; each row's `docs`.
"""

from __future__ import annotations

from ..codecs.shared.spec import Quirks
from ..conversation.requirements import WORD_NAMES, WireRequirements
from ..schema import api_rules as schema_rules
from .auth import Setting
from .row_forms import AUTO, chat, others, recorded, vendor_docs
from .spec import NO_LIST, Provider

PLAIN_CHAT: tuple[Provider, ...] = (
    chat("together", "https://api.together.ai/v1", "TOGETHER_API_KEY", "TOGETHERAI_API_KEY",
          docs="https://docs.together.ai/reference/chat-completions-1",
         evidence=(recorded("api.together.ai/v1/chat/completions"),)),
    chat("fireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY", "FIREWORKS_AI_API_KEY",
          docs="https://docs.fireworks.ai/api-reference/post-chatcompletions",
         evidence=(others("litellm 1.106.2, litellm_core_utils/get_llm_provider_logic.py"),)),
    chat("huggingface", "https://router.huggingface.co/v1", "HF_TOKEN", "HUGGINGFACE_API_KEY", aliases=("hf",),
          docs="https://huggingface.co/docs/inference-providers",
         evidence=(recorded("router.huggingface.co/together/v1/chat/completions"),
                   others("huggingface_hub 2.4.0, inference/_providers"),)),
    chat("nvidia", "https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY", "NVIDIA_NIM_API_KEY", aliases=("nim",),
          docs="https://docs.api.nvidia.com/nim/reference/llm-apis",
         evidence=(others("litellm 1.106.2, constants.py"),)),
    chat("alibaba", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY", "ALIBABA_API_KEY",
          url_env=("DASHSCOPE_BASE_URL", "ALIBABA_BASE_URL"), aliases=("dashscope",),
          quirks=Quirks(thinking_off={"enable_thinking": False}),
          notes=("file parts",), docs="https://www.alibabacloud.com/help/en/model-studio/compatibility-of-openai",
         evidence=(others("litellm 1.106.2, constants.py"),)),
    chat("crusoe", "https://api.inference.crusoecloud.com/v1", "CRUSOE_API_KEY",
          docs="https://docs.crusoecloud.com/managed-inference/overview",
         evidence=(recorded("api.inference.crusoecloud.com/v1/chat/completions"),)),
    chat("deepinfra", "https://api.deepinfra.com/v1/openai", "DEEPINFRA_API_KEY",
          docs="https://deepinfra.com/docs/openai_api",
         evidence=(others("litellm 1.106.2, constants.py"),)),
    chat("nebius", "https://api.tokenfactory.nebius.com/v1", "NEBIUS_API_KEY",
          docs="https://docs.tokenfactory.nebius.com/api-reference/introduction",
         evidence=(vendor_docs("https://docs.tokenfactory.nebius.com/api-reference/introduction"),)),
    chat("novita", "https://api.novita.ai/openai/v1", "NOVITA_API_KEY", docs="https://novita.ai/docs",
         evidence=(vendor_docs("https://novita.ai/docs/api-reference/model-apis-llm-create-chat-completion"),)),
    chat("sambanova", "https://api.sambanova.ai/v1", "SAMBANOVA_API_KEY", docs="https://docs.sambanova.ai",
         evidence=(others("litellm 1.106.2, constants.py"),)),
    chat("hyperbolic", "https://api.hyperbolic.xyz/v1", "HYPERBOLIC_API_KEY", docs="https://docs.hyperbolic.xyz",
         evidence=(others("litellm 1.106.2, constants.py"),)),
    chat("baseten", "https://inference.baseten.co/v1", "BASETEN_API_KEY", docs="https://docs.baseten.co",
         evidence=(others("litellm 1.106.2, llms/baseten/chat.py"),)),
    chat("scaleway", "https://api.scaleway.ai/v1", "SCW_SECRET_KEY",
          docs="https://www.scaleway.com/en/docs/generative-apis/",
         evidence=(others("litellm 1.106.2, llms/openai_like/providers.json"),)),
    chat("siliconflow", "https://api.siliconflow.com/v1", "SILICONFLOW_API_KEY", docs="https://docs.siliconflow.com",
         evidence=(others("github: clients of SiliconFlow (api.siliconflow.com/v1/chat/completions)"),)),
    chat("volcengine", "https://ark.cn-beijing.volces.com/api/v3", "ARK_API_KEY", aliases=("ark", "doubao"),
          url_env=("ARK_BASE_URL", "VOLCENGINE_BASE_URL"), docs="https://www.volcengine.com/docs/82379",
         evidence=(others("litellm 1.106.2, litellm_core_utils/get_llm_provider_logic.py"),)),
    chat("stepfun", "https://api.stepfun.com/v1", "STEPFUN_API_KEY", docs="https://platform.stepfun.com/docs",
         evidence=(others("github: lobe-chat, model-runtime stepfun (api.stepfun.com/v1)"),)),
    chat("upstage", "https://api.upstage.ai/v1", "UPSTAGE_API_KEY", docs="https://console.upstage.ai/docs",
         evidence=(others("github: clients of Upstage (api.upstage.ai/v1/chat/completions)"),)),
    chat("friendli", "https://api.friendli.ai/serverless/v1", "FRIENDLI_TOKEN", "FRIENDLI_API_KEY",
          aliases=("friendliai",), docs="https://friendli.ai/docs/openapi/serverless/chat-completions",
         evidence=(others("litellm 1.106.2, constants.py"),)),
    chat("chutes", "https://llm.chutes.ai/v1", "CHUTES_API_KEY", docs="https://chutes.ai/docs",
         evidence=(others("litellm 1.106.2, constants.py"),)),
    chat("vercel", "https://ai-gateway.vercel.sh/v1", "AI_GATEWAY_API_KEY", "VERCEL_AI_GATEWAY_API_KEY",
          aliases=("vercel-ai-gateway",), docs="https://vercel.com/docs/ai-gateway/openai-compat",
         evidence=(others("litellm 1.106.2, main.py"),)),
    chat("cloudflare", "https://api.cloudflare.com/client/v4/accounts/{account_id}/ai/v1", "CLOUDFLARE_API_TOKEN",
          "CLOUDFLARE_API_KEY", settings=(Setting("account_id", ("CLOUDFLARE_ACCOUNT_ID",)),), models=NO_LIST,
          docs="https://developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility/",
         evidence=(others("litellm 1.106.2, llms/cloudflare/chat/transformation.py"),)),
    chat("zai-coding", "https://api.z.ai/api/coding/paas/v4", "ZAI_CODING_API_KEY", "ZAI_API_KEY",
          quirks=Quirks(choices=AUTO, omit=frozenset({"parallel_tool_calls", "top_k"})),
          docs="https://docs.z.ai/devpack/overview",
         evidence=(recorded("api.z.ai/api/coding/paas/v4/chat/completions"),)),
    chat("gemini-openai", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY",
          "GOOGLE_API_KEY", requirements=WireRequirements(names=WORD_NAMES, schema=schema_rules.PORTABLE),
          quirks=Quirks(reasoning_field=""), docs="https://ai.google.dev/gemini-api/docs/openai",
         evidence=(recorded("generativelanguage.googleapis.com/v1beta/openai/chat/completions"),)),
)  # fmt: skip

// The AI SDK (npm ai): streamText with tools over four APIs.
import { streamText, stepCountIs, tool } from "ai";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { z } from "zod";

const url = process.env.DRAGOMAN_URL;
const apiKey = "not-a-real-key";
const reports = { Oslo: "rain", Paris: "sun" };
let ran = [];
const get_weather = tool({
  description: "The weather in a city.",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => {
    ran.push(city);
    return reports[city];
  },
});
const openai = createOpenAI({ baseURL: url + "/v1", apiKey });
const paths = {
  openai_compatible: createOpenAICompatible({ name: "dragoman", baseURL: url + "/v1", apiKey })("weak"),
  openai_chat: openai.chat("weak"),
  openai_responses: openai.responses("weak"),
  anthropic: createAnthropic({ baseURL: url + "/v1", apiKey })("weak"),
  google: createGoogleGenerativeAI({ baseURL: url + "/v1beta", apiKey })("weak"),
};

for (const [path, model] of Object.entries(paths)) {
  ran = [];
  const start = Date.now();
  let ok = false;
  let note = "";
  try {
    const result = streamText({
      model,
      prompt: "What is the weather in Oslo and Paris?",
      tools: { get_weather },
      stopWhen: stepCountIs(4),
      onError: ({ error }) => { note = String(error).slice(0, 300); },
    });
    let text = "";
    for await (const piece of result.textStream) text += piece;
    ok = ran.sort().join() === "Oslo,Paris" && /Oslo: .*rain.*Paris: .*sun/s.test(text);
    if (!ok) note ||= `ran ${ran}, text ${text.slice(0, 200)}`;
  } catch (error) {
    note = String(error).slice(0, 300);
  }
  console.log(JSON.stringify({ path, ok, seconds: Math.round((Date.now() - start) / 100) / 10, note }));
  await new Promise((next) => process.stdin.once("data", next));
}
process.exit();

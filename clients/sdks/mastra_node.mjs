// Mastra: an agent of tools, streamed and whole.
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { z } from "zod";
import { apiKey, description, question, run, url, weather } from "./common.mjs";

const get_weather = createTool({
  id: "get_weather",
  description,
  inputSchema: z.object({ city: z.string() }),
  execute: async (given) => weather(given.context ?? given),
});
const ask = (model) =>
  new Agent({ id: "weather", name: "weather", instructions: "Answer.", model, tools: { get_weather } });
const provided = ask(createOpenAICompatible({ name: "dragoman", baseURL: url + "/v1", apiKey })("weak"));
// Its own router of models, given an address.
const routed = ask({ id: "dragoman/weak", url: url + "/v1", apiKey });

await run({
  streamed: async () => (await provided.stream(question)).text,
  whole: async () => (await provided.generate(question)).text,
  routed: async () => (await routed.stream(question)).text,
});

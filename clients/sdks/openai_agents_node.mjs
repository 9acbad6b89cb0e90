// OpenAI Agents for Node: responses and chat completions, streamed and whole.
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from "@openai/agents";
import { z } from "zod";
import { apiKey, description, question, run, url, weather } from "./common.mjs";

setTracingDisabled(true);
const get_weather = tool({
  name: "get_weather",
  description,
  parameters: z.object({ city: z.string() }),
  execute: async (given) => weather(given),
});

const ask = async (useResponses, stream) => {
  const runner = new Runner({ modelProvider: new OpenAIProvider({ apiKey, baseURL: url + "/v1", useResponses }) });
  const agent = new Agent({ name: "weather", instructions: "Answer.", model: "weak", tools: [get_weather] });
  const result = await runner.run(agent, question, { stream });
  if (stream) {
    for await (const _ of result);
    await result.completed;
  }
  return result.finalOutput;
};

await run({
  responses: () => ask(true, true),
  responses_whole: () => ask(true, false),
  chat: () => ask(false, true),
  chat_whole: () => ask(false, false),
});

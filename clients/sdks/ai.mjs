// The AI SDK (npm ai): tools over four APIs, streamed and whole, and an answer in a form.
import * as ai from "ai";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { z } from "zod";
import { apiKey, description, formQuestion, question, run, url, weather } from "./common.mjs";

const get_weather = ai.tool({ description, inputSchema: z.object({ city: z.string() }), execute: async (given) => weather(given) });
const openai = createOpenAI({ baseURL: url + "/v1", apiKey });
const models = {
  openai_compatible: createOpenAICompatible({ name: "dragoman", baseURL: url + "/v1", apiKey })("weak"),
  openai_chat: openai.chat("weak"),
  openai_responses: openai.responses("weak"),
  anthropic: createAnthropic({ baseURL: url + "/v1", apiKey })("weak"),
  google: createGoogleGenerativeAI({ baseURL: url + "/v1beta", apiKey })("weak"),
};
const asked = (model) => ({ model, prompt: question, tools: { get_weather }, stopWhen: ai.stepCountIs(4) });

const streamed = async (model) => {
  let text = "";
  let failure;
  const result = ai.streamText({ ...asked(model), onError: ({ error }) => { failure = error; } });
  for await (const piece of result.textStream) text += piece;
  if (failure) throw failure;
  return text;
};
const whole = async (model) => (await ai.generateText(asked(model))).text;
const parsed = async (model) => {
  const schema = z.object({ city: z.string(), temperature: z.number() });
  return (await ai.generateText({ model, prompt: formQuestion, output: ai.Output.object({ schema }) })).output;
};

const paths = {};
for (const [name, model] of Object.entries(models)) paths[name] = () => streamed(model);
for (const [name, model] of Object.entries(models)) paths[name + "_whole"] = () => whole(model);
const forms = { openai_chat_parsed: () => parsed(models.openai_chat), anthropic_parsed: () => parsed(models.anthropic) };
await run(paths, forms);

// Scenes over Vercel's AI SDK, with its providers for four of the APIs.
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool } from "ai";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";

import * as s from "./scenes.mjs";

const openai = createOpenAI({ baseURL: s.url + "/v1", apiKey: s.apiKey });
const compatible = createOpenAICompatible({ name: "dragoman", baseURL: s.url + "/v1", apiKey: s.apiKey });
const anthropic = createAnthropic({ baseURL: s.url + "/v1", apiKey: s.apiKey });
const google = createGoogleGenerativeAI({ baseURL: s.url + "/v1beta", apiKey: s.apiKey });
const tools = {
  weather: tool({ description: s.description, inputSchema: jsonSchema(s.schema), execute: async (given) => s.weather(given) }),
};

const ask = async (stream, body) => {
  const asked = { maxRetries: 0, ...body };
  if (!stream) return await generateText(asked);
  const failed = [];
  const result = streamText({ ...asked, onError: ({ error }) => failed.push(error) });
  await result.consumeStream();
  if (failed.length) throw failed[0];
  const [text, steps, sources] = await Promise.all([result.text, result.steps, result.sources]);
  return { text, steps, sources, output: body.output && (await result.output), response: await result.response };
};
const user = (...content) => ({ role: "user", content });
const text = (given) => ({ type: "text", text: given });

const scenesOf = (language, providerOptions) => {
  const shown = (part) => async (model, stream) => ({
    text: (await ask(stream, { model: language(model), messages: [user(text(s.asked), part)] })).text,
  });
  return {
    think: async (model, stream) => {
      const body = { model: language(model), tools, stopWhen: stepCountIs(3), prompt: s.question, providerOptions };
      const done = await ask(stream, body);
      return { thinking: done.steps[0].reasoningText ?? null, ran: s.ran(), text: done.text };
    },
    image: shown({ type: "image", image: s.image, mediaType: "image/png" }),
    "image by address": shown({ type: "image", image: new URL(s.picture), mediaType: "image/png" }),
    pdf: shown({ type: "file", data: s.pdf, mediaType: "application/pdf", filename: "notes.pdf" }),
    citations: async (model, stream) => {
      const done = await ask(stream, { model: language(model), prompt: s.question });
      return { text: done.text, citations: done.sources.map(({ url, title }) => [url, title]) };
    },
    state: async (model, stream) => {
      const first = await ask(stream, { model: language(model), messages: [user(text(s.named))] });
      const messages = [user(text(s.named)), ...first.response.messages, user(text(s.name))];
      return { first: first.text, text: (await ask(stream, { model: language(model), messages })).text };
    },
    structured: async (model, stream) => {
      const output = Output.object({ schema: jsonSchema(s.form) });
      return { parsed: (await ask(stream, { model: language(model), prompt: s.question, output, providerOptions })).output };
    },
    tools: async (model, stream) => {
      const done = await ask(stream, { model: language(model), tools, stopWhen: stepCountIs(3), prompt: s.questions });
      return { ran: s.ran(), text: done.text };
    },
  };
};

const effort = { reasoningEffort: "low", forceReasoning: true };
const claude = { thinking: { type: "enabled", budgetTokens: 2048 }, structuredOutputMode: "outputFormat" };
const gemini = { thinkingConfig: { includeThoughts: true, thinkingLevel: "low" } };
// It downloads images by itself for an API that takes addresses of a few hosts only.
const { "image by address": _, ...googleScenes } = scenesOf((model) => google(model), { google: gemini });
await s.serve({
  "openai chat": {
    ...scenesOf((model) => openai.chat(model)),
    think: scenesOf((model) => compatible(model), { dragoman: { reasoningEffort: "low" } }).think, // the other reads none
  },
  "openai responses": scenesOf((model) => openai.responses(model), { openai: { ...effort, reasoningSummary: "auto" } }),
  anthropic: scenesOf((model) => anthropic(model), { anthropic: claude }),
  google: googleScenes,
});

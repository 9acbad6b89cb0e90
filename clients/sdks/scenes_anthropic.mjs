// Scenes over the official Anthropic SDK for Node.
import Anthropic from "@anthropic-ai/sdk";
import { jsonSchemaOutputFormat } from "@anthropic-ai/sdk/helpers/json-schema";

import * as s from "./scenes.mjs";

const client = new Anthropic({ baseURL: s.url, apiKey: s.apiKey, maxRetries: 0 });
const user = (content) => ({ role: "user", content });
const about = { name: "weather", description: s.description, input_schema: s.schema };

const ask = async (model, stream, messages, more = {}) => {
  const body = { model, max_tokens: 20000, messages, ...more };
  return stream
    ? await client.messages.stream(body).finalMessage()
    : await client.messages.create(body, { timeout: 60000 });
};
const textOf = (message) => message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
const shown = (block) => async (model, stream) => ({
  text: textOf(await ask(model, stream, [user([{ type: "text", text: s.asked }, block])])),
});
const base64 = (media_type, data) => ({ type: "base64", media_type, data });

const scenes = {
  think: async (model, stream) => {
    const more = { tools: [about], thinking: { type: "enabled", budget_tokens: 2048 } };
    const first = await ask(model, stream, [user(s.question)], more);
    const thinking = first.content.map((block) => block.thinking ?? "").join("");
    const results = first.content
      .filter((block) => block.type === "tool_use")
      .map((call) => ({ type: "tool_result", tool_use_id: call.id, content: s.weather(call.input) }));
    const messages = [user(s.question), { role: "assistant", content: first.content }, user(results)];
    return { thinking, ran: s.ran(), text: textOf(await ask(model, stream, messages, more)) };
  },
  image: shown({ type: "image", source: base64("image/png", s.image) }),
  "image by address": shown({ type: "image", source: { type: "url", url: s.picture } }),
  pdf: shown({ type: "document", title: "notes.pdf", source: base64("application/pdf", s.pdf) }),
  "text file": shown({
    type: "document", title: "notes.txt", source: { type: "text", media_type: "text/plain", data: s.notes },
  }),
  citations: async (model, stream) => {
    const message = await ask(model, stream, [user(s.question)]);
    const found = message.content.flatMap((block) => block.citations ?? []).map((one) => [one.url, one.title]);
    return { text: textOf(message), citations: found };
  },
  state: async (model, stream) => {
    const first = await ask(model, stream, [user(s.named)]);
    const messages = [user(s.named), { role: "assistant", content: first.content }, user(s.name)];
    return { first: textOf(first), text: textOf(await ask(model, stream, messages)) };
  },
  structured: async (model, stream) => {
    const output_config = { format: jsonSchemaOutputFormat(s.form) };
    const body = { model, max_tokens: 1024, messages: [user(s.question)], output_config };
    const done = stream ? await client.messages.stream(body).finalMessage() : await client.messages.parse(body);
    return { parsed: done.parsed_output };
  },
  // The SDK's own loop.
  tools: async (model, stream) => {
    const run = { ...about, type: "custom", run: s.weather, parse: (given) => given };
    const body = { model, max_tokens: 1024, messages: [user(s.questions)], tools: [run], stream };
    const runner = client.beta.messages.toolRunner(body);
    if (!stream) return { text: textOf(await runner.runUntilDone()), ran: s.ran() };
    let text = "";
    for await (const events of runner) text = textOf(await events.finalMessage());
    return { ran: s.ran(), text };
  },
};

export const fronts = { anthropic: scenes };

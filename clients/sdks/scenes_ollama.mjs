// Scenes over the official Ollama SDK for Node.  Its API has no files, no addresses of images and no citations.
import { Ollama } from "ollama";

import * as s from "./scenes.mjs";

const client = new Ollama({ host: s.url });
const user = (content, more = {}) => ({ role: "user", content, ...more });
const tools = [{ type: "function", function: s.tool }];

const ask = async (model, stream, messages, more = {}) => {
  const body = { model, messages, ...more };
  if (!stream) return (await client.chat(body)).message;
  const whole = { role: "assistant", content: "", thinking: "", tool_calls: [] };
  for await (const { message } of await client.chat({ ...body, stream: true })) {
    whole.content += message.content;
    whole.thinking += message.thinking ?? "";
    whole.tool_calls.push(...(message.tool_calls ?? []));
  }
  return whole;
};
const results = (message) =>
  (message.tool_calls ?? []).map(({ function: called }) => ({
    role: "tool", tool_name: called.name, content: s.weather(called.arguments),
  }));

const scenes = {
  think: async (model, stream) => {
    const first = await ask(model, stream, [user(s.question)], { tools, think: true });
    const messages = [user(s.question), first, ...results(first)];
    const last = await ask(model, stream, messages, { tools, think: true });
    return { thinking: first.thinking, ran: s.ran(), text: last.content };
  },
  image: async (model, stream) => ({ text: (await ask(model, stream, [user(s.asked, { images: [s.image] })])).content }),
  citations: async (model, stream) => ({ text: (await ask(model, stream, [user(s.question)])).content }),
  state: async (model, stream) => {
    const first = await ask(model, stream, [user(s.named)]);
    const last = await ask(model, stream, [user(s.named), first, user(s.name)]);
    return { first: first.content, text: last.content };
  },
  structured: async (model, stream) => ({
    parsed: JSON.parse((await ask(model, stream, [user(s.question)], { format: s.form })).content),
  }),
  tools: async (model, stream) => {
    const messages = [user(s.questions)];
    for (;;) {
      const message = await ask(model, stream, messages, { tools });
      const found = results(message);
      if (!found.length) return { ran: s.ran(), text: message.content };
      messages.push(message, ...found);
    }
  },
};

export const fronts = { ollama: scenes };

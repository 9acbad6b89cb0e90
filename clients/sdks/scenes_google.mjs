// Scenes over the official Google Gen AI SDK for Node.
import { GoogleGenAI } from "@google/genai";

import * as s from "./scenes.mjs";

const client = new GoogleGenAI({ apiKey: s.apiKey, httpOptions: { baseUrl: s.url } });
const user = (...parts) => ({ role: "user", parts });

const ask = async (model, stream, contents, config = {}) => {
  const body = { model, contents, config };
  if (!stream) return (await client.models.generateContent(body)).candidates ?? [];
  const found = [];
  for await (const chunk of await client.models.generateContentStream(body)) found.push(...(chunk.candidates ?? []));
  return found;
};
const partsOf = (candidates) => candidates.flatMap((one) => one.content?.parts ?? []);
const textOf = (candidates) =>
  partsOf(candidates)
    .map((part) => (part.thought ? "" : part.text ?? ""))
    .join("");
const shown = (part) => async (model, stream) => ({
  text: textOf(await ask(model, stream, [user({ text: s.asked }, part)])),
});
const inline = (mimeType, data) => ({ inlineData: { mimeType, data } });
const declared = [{ functionDeclarations: [{ name: "weather", description: s.description, parametersJsonSchema: s.schema }] }];

const callsOf = (parts) => parts.map((part) => part.functionCall).filter(Boolean);
const answered = (calls) =>
  user(
    ...calls.map(({ id, name, args }) => ({ functionResponse: { id, name, response: { output: s.weather(args) } } })),
  );

const scenes = {
  think: async (model, stream) => {
    const config = { tools: declared, thinkingConfig: { includeThoughts: true, thinkingLevel: "LOW" } };
    const first = partsOf(await ask(model, stream, [user({ text: s.question })], config));
    const thinking = first.map((part) => (part.thought ? part.text : "")).join("");
    const contents = [user({ text: s.question }), { role: "model", parts: first }, answered(callsOf(first))];
    return { thinking, ran: s.ran(), text: textOf(await ask(model, stream, contents, config)) };
  },
  image: shown(inline("image/png", s.image)),
  "image by address": shown({ fileData: { fileUri: s.picture, mimeType: "image/png" } }),
  pdf: shown(inline("application/pdf", s.pdf)),
  "text file": shown(inline("text/plain", s.notesData)),
  citations: async (model, stream) => {
    const candidates = await ask(model, stream, [user({ text: s.question })]);
    const chunks = candidates.flatMap((one) => one.groundingMetadata?.groundingChunks ?? []);
    return { text: textOf(candidates), citations: chunks.map(({ web }) => [web.uri, web.title]) };
  },
  // The SDK's own chat keeps the conversation.
  state: async (model, stream) => {
    const chat = client.chats.create({ model });
    const say = async (message) => {
      if (!stream) return (await chat.sendMessage({ message })).text;
      let text = "";
      for await (const chunk of await chat.sendMessageStream({ message })) text += chunk.text ?? "";
      return text;
    };
    return { first: await say(s.named), text: await say(s.name) };
  },
  structured: async (model, stream) => {
    const config = { responseMimeType: "application/json", responseJsonSchema: s.form };
    return { parsed: JSON.parse(textOf(await ask(model, stream, [user({ text: s.question })], config))) };
  },
  tools: async (model, stream) => {
    const contents = [user({ text: s.questions })];
    for (;;) {
      const candidates = await ask(model, stream, contents, { tools: declared });
      const calls = callsOf(partsOf(candidates));
      if (!calls.length) return { ran: s.ran(), text: textOf(candidates) };
      contents.push({ role: "model", parts: partsOf(candidates) }, answered(calls));
    }
  },
};

export const fronts = { google: scenes };

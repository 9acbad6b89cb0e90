// Scenes over the official OpenAI SDK for Node: chat completions and responses.
import OpenAI from "openai";

import * as s from "./scenes.mjs";

const client = new OpenAI({ baseURL: s.url + "/v1", apiKey: s.apiKey, maxRetries: 0 });
const imageUrl = "data:image/png;base64," + s.image;
const pdfUrl = "data:application/pdf;base64," + s.pdf;
const notesUrl = "data:text/plain;base64," + s.notesData;
const user = (content) => ({ role: "user", content });

const chat = async (model, stream, messages, more = {}, onChunk = () => {}) => {
  const body = { model, messages, ...more };
  if (!stream) return (await client.chat.completions.create(body)).choices[0].message;
  return (await client.chat.completions.stream(body).on("chunk", onChunk).finalChatCompletion()).choices[0].message;
};
const results = (message) =>
  (message.tool_calls ?? []).map((call) => ({
    role: "tool", tool_call_id: call.id, content: s.weather(JSON.parse(call.function.arguments)),
  }));
const chatShown = (part) => async (model, stream) => ({
  text: (await chat(model, stream, [user([{ type: "text", text: s.asked }, part])])).content,
});

const chatScenes = {
  think: async (model, stream) => {
    const more = { tools: [{ type: "function", function: s.tool }], reasoning_effort: "low" };
    let streamed = "";
    const first = await chat(model, stream, [user(s.question)], more, ({ choices: [choice] }) => {
      streamed += choice?.delta.reasoning_content ?? choice?.delta.reasoning ?? "";
    });
    const messages = [user(s.question), first, ...results(first)];
    const last = await chat(model, stream, messages, more);
    // The SDK's accumulator keeps the last piece only of a field that it does not know.
    const thinking = stream ? streamed : first.reasoning_content ?? first.reasoning;
    return { thinking, ran: s.ran(), text: last.content };
  },
  image: chatShown({ type: "image_url", image_url: { url: imageUrl } }),
  "image by address": chatShown({ type: "image_url", image_url: { url: s.picture } }),
  pdf: chatShown({ type: "file", file: { filename: "notes.pdf", file_data: pdfUrl } }),
  "text file": chatShown({ type: "file", file: { filename: "notes.txt", file_data: notesUrl } }),
  citations: async (model, stream) => {
    const message = await chat(model, stream, [user(s.question)]);
    const found = (message.annotations ?? []).map(({ url_citation: one }) => [one.url, one.title]);
    return { text: message.content, citations: found };
  },
  state: async (model, stream) => {
    const first = await chat(model, stream, [user(s.named)]);
    const last = await chat(model, stream, [user(s.named), first, user(s.name)]);
    return { first: first.content, text: last.content };
  },
  structured: async (model, stream) => {
    const format = { type: "json_schema", json_schema: { name: "report", schema: s.form, strict: true } };
    const body = { model, messages: [user(s.question)], response_format: format };
    const done = stream
      ? await client.chat.completions.stream(body).finalChatCompletion()
      : await client.chat.completions.parse(body);
    return { parsed: done.choices[0].message.parsed };
  },
  // The SDK's own loop.
  tools: async (model, stream) => {
    const run = { ...s.tool, parse: JSON.parse, function: s.weather };
    const body = { model, stream, messages: [user(s.questions)], tools: [{ type: "function", function: run }] };
    const text = await client.chat.completions.runTools(body).finalContent();
    return { ran: s.ran(), text };
  },
};

const respond = async (model, stream, input, more = {}) => {
  const body = { model, input, ...more };
  return stream ? await client.responses.stream(body).finalResponse() : await client.responses.create(body);
};
const textOf = (response) =>
  response.output
    .filter((item) => item.type === "message")
    .flatMap((item) => item.content.map((part) => part.text))
    .join("");
const outputs = (response) =>
  response.output
    .filter((item) => item.type === "function_call")
    .map((call) => ({
      type: "function_call_output", call_id: call.call_id, output: s.weather(JSON.parse(call.arguments)),
    }));
const responsesTool = { type: "function", strict: false, ...s.tool };
const responsesShown = (part) => async (model, stream) => ({
  text: textOf(await respond(model, stream, [user([{ type: "input_text", text: s.asked }, part])])),
});

const responsesScenes = {
  think: async (model, stream) => {
    const more = {
      tools: [responsesTool], reasoning: { effort: "low", summary: "auto" }, store: false,
      include: ["reasoning.encrypted_content"],
    };
    const first = await respond(model, stream, [user(s.question)], more);
    const thinking = first.output
      .filter((item) => item.type === "reasoning")
      .flatMap((item) => item.summary.map((part) => part.text))
      .join("");
    const last = await respond(model, stream, [user(s.question), ...first.output, ...outputs(first)], more);
    return { thinking, ran: s.ran(), text: textOf(last) };
  },
  image: responsesShown({ type: "input_image", image_url: imageUrl, detail: "auto" }),
  "image by address": responsesShown({ type: "input_image", image_url: s.picture, detail: "auto" }),
  pdf: responsesShown({ type: "input_file", filename: "notes.pdf", file_data: pdfUrl }),
  "text file": responsesShown({ type: "input_file", filename: "notes.txt", file_data: notesUrl }),
  citations: async (model, stream) => {
    const response = await respond(model, stream, s.question);
    const parts = response.output.filter((item) => item.type === "message").flatMap((item) => item.content);
    return { text: textOf(response), citations: parts.flatMap((part) => part.annotations.map((a) => [a.url, a.title])) };
  },
  state: async (model, stream) => {
    const first = await respond(model, stream, s.named);
    const last = await respond(model, stream, s.name, { previous_response_id: first.id });
    return { first: textOf(first), text: textOf(last) };
  },
  conversation: async (model, stream) => {
    const { id } = await client.conversations.create({});
    const first = await respond(model, stream, s.named, { conversation: id });
    const last = await respond(model, stream, s.name, { conversation: id });
    const kept = (await client.conversations.items.list(id, { order: "asc" })).data;
    return { first: textOf(first), text: textOf(last), kept: kept.length };
  },
  structured: async (model, stream) => {
    const format = { type: "json_schema", name: "report", schema: s.form, strict: true };
    const body = { model, input: s.question, text: { format } };
    const done = stream ? await client.responses.stream(body).finalResponse() : await client.responses.parse(body);
    return { parsed: done.output_parsed };
  },
  tools: async (model, stream) => {
    let input = s.questions;
    let previous = {};
    for (;;) {
      const response = await respond(model, stream, input, { tools: [responsesTool], ...previous });
      input = outputs(response);
      previous = { previous_response_id: response.id };
      if (!input.length) return { ran: s.ran(), text: textOf(response) };
    }
  },
};

export const fronts = { "openai chat": chatScenes, "openai responses": responsesScenes };

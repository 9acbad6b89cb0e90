// The official SDKs for Node: each with its own loop over tools where it has one, streamed.
import OpenAI from "openai";
import Anthropic from "@anthropic-ai/sdk";
import { Ollama } from "ollama";
import { GoogleGenAI } from "@google/genai";

import { apiKey, description, form, formQuestion, question, run, schema, url, weather } from "./common.mjs";

const about = { name: "get_weather", description };
const formSchema = {
  type: "object",
  properties: { city: { type: "string" }, temperature: { type: "integer" } },
  required: Object.keys(form),
  additionalProperties: false,
};
const openai = new OpenAI({ baseURL: url + "/v1", apiKey });
const paths = {
  openai_run_tools: async () => {
    const runner = openai.chat.completions.runTools({
      model: "weak",
      stream: true,
      messages: [{ role: "user", content: question }],
      tools: [{ type: "function", function: { ...about, parameters: schema, parse: JSON.parse, function: weather } }],
    });
    return await runner.finalContent();
  },
  openai_run_tools_whole: async () => {
    const tools = [{ type: "function", function: { ...about, parameters: schema, parse: JSON.parse, function: weather } }];
    const runner = openai.chat.completions.runTools({ model: "weak", messages: [{ role: "user", content: question }], tools });
    return await runner.finalContent();
  },
  openai_responses: async () => {
    const input = [{ role: "user", content: question }];
    for (;;) {
      const tools = [{ type: "function", ...about, parameters: schema, strict: false }];
      const response = await openai.responses.stream({ model: "weak", input, tools }).finalResponse();
      const calls = response.output.filter((item) => item.type === "function_call");
      if (!calls.length) return response.output_text;
      input.push(...response.output);
      for (const call of calls) {
        const output = weather(JSON.parse(call.arguments));
        input.push({ type: "function_call_output", call_id: call.call_id, output });
      }
    }
  },
  anthropic_stream: async () => {
    const client = new Anthropic({ baseURL: url, apiKey });
    const messages = [{ role: "user", content: question }];
    for (;;) {
      const tools = [{ ...about, input_schema: schema }];
      const message = await client.messages.stream({ model: "weak", max_tokens: 1024, messages, tools }).finalMessage();
      const calls = message.content.filter((block) => block.type === "tool_use");
      if (!calls.length) return message.content.map((block) => block.text ?? "").join("");
      messages.push({ role: "assistant", content: message.content });
      const content = calls.map((call) => ({ type: "tool_result", tool_use_id: call.id, content: weather(call.input) }));
      messages.push({ role: "user", content });
    }
  },
  anthropic_tool_runner: async () => {
    const client = new Anthropic({ baseURL: url, apiKey });
    const tool = { ...about, type: "custom", input_schema: schema, run: weather, parse: (given) => given };
    const messages = [{ role: "user", content: question }];
    const asked = { model: "weak", max_tokens: 1024, messages, tools: [tool] };
    const message = await client.beta.messages.toolRunner(asked).runUntilDone();
    return message.content.map((block) => block.text ?? "").join("");
  },
  ollama: async () => {
    const client = new Ollama({ host: url });
    const messages = [{ role: "user", content: question }];
    for (;;) {
      const tools = [{ type: "function", function: { ...about, parameters: schema } }];
      let text = "";
      const calls = [];
      for await (const part of await client.chat({ model: "weak", messages, tools, stream: true })) {
        text += part.message.content;
        calls.push(...(part.message.tool_calls ?? []));
      }
      if (!calls.length) return text;
      messages.push({ role: "assistant", content: text, tool_calls: calls });
      for (const call of calls) {
        messages.push({ role: "tool", tool_name: call.function.name, content: weather(call.function.arguments) });
      }
    }
  },
  google: async () => {
    const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } });
    const contents = [{ role: "user", parts: [{ text: question }] }];
    const config = { tools: [{ functionDeclarations: [{ ...about, parametersJsonSchema: schema }] }] };
    for (;;) {
      const parts = [];
      for await (const chunk of await client.models.generateContentStream({ model: "weak", contents, config })) {
        parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
      }
      const calls = parts.map((part) => part.functionCall).filter(Boolean);
      if (!calls.length) return parts.map((part) => part.text ?? "").join("");
      contents.push({ role: "model", parts });
      const results = calls.map(({ id, name, args }) => ({
        functionResponse: { id, name, response: { output: weather(args) } },
      }));
      contents.push({ role: "user", parts: results });
    }
  },
};

const forms = {
  openai_parsed: async () => {
    const asked = { role: "user", content: formQuestion };
    const format = { type: "json_schema", json_schema: { name: "report", schema: formSchema, strict: true } };
    const done = await openai.chat.completions.parse({ model: "weak", messages: [asked], response_format: format });
    return done.choices[0].message.parsed;
  },
  ollama_formed: async () => {
    const messages = [{ role: "user", content: formQuestion }];
    const done = await new Ollama({ host: url }).chat({ model: "weak", messages, format: formSchema });
    return JSON.parse(done.message.content);
  },
};
await run(paths, forms);

// The AI SDK with its community's provider for Ollama, streamed and whole.
import { generateText, stepCountIs, streamText, tool } from "ai";
import { createOllama } from "ai-sdk-ollama";
import { z } from "zod";
import { description, question, run, url, weather } from "./common.mjs";

const get_weather = tool({ description, inputSchema: z.object({ city: z.string() }), execute: async (given) => weather(given) });
const model = createOllama({ baseURL: url })("weak");
const asked = { model, prompt: question, tools: { get_weather }, stopWhen: stepCountIs(4) };

await run({
  ollama: async () => {
    let text = "";
    let failure;
    const result = streamText({ ...asked, onError: ({ error }) => { failure = error; } });
    for await (const piece of result.textStream) text += piece;
    if (failure) throw failure;
    return text;
  },
  ollama_whole: async () => (await generateText(asked)).text,
});

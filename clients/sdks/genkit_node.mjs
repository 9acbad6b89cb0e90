// Genkit: its plugins for OpenAI-compatible servers and for Ollama, streamed and whole, and a form.
import { genkit, z } from "genkit";
import { openAICompatible } from "@genkit-ai/compat-oai";
import { ollama } from "genkitx-ollama";
import { apiKey, description, formQuestion, question, run, url, weather } from "./common.mjs";

const ai = genkit({
  plugins: [
    openAICompatible({ name: "dragoman", apiKey, baseURL: url + "/v1" }),
    ollama({ models: [{ name: "weak", type: "chat", supports: { tools: true } }], serverAddress: url }),
  ],
});
const get_weather = ai.defineTool(
  { name: "get_weather", description, inputSchema: z.object({ city: z.string() }), outputSchema: z.string() },
  async (given) => weather(given),
);
const schema = z.object({ city: z.string(), temperature: z.number() });

const streamed = async (model) => {
  const { stream, response } = ai.generateStream({ model, prompt: question, tools: [get_weather] });
  for await (const _ of stream);
  return (await response).text;
};

await run(
  {
    openai: () => streamed("dragoman/weak"),
    openai_whole: async () => (await ai.generate({ model: "dragoman/weak", prompt: question, tools: [get_weather] })).text,
    ollama_whole: async () => (await ai.generate({ model: "ollama/weak", prompt: question, tools: [get_weather] })).text,
  },
  { openai_formed: async () => (await ai.generate({ model: "dragoman/weak", prompt: formQuestion, output: { schema } })).output },
);

// LangChain and LangGraph for Node: chat models of three providers, streamed; agents; a form.
import { createAgent, tool } from "langchain";
import { HumanMessage } from "@langchain/core/messages";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { ChatAnthropic } from "@langchain/anthropic";
import { ChatOllama } from "@langchain/ollama";
import { ChatOpenAI } from "@langchain/openai";
import { z } from "zod";
import { apiKey, description, formQuestion, question, run, url, weather } from "./common.mjs";

const get_weather = tool(weather, { name: "get_weather", description, schema: z.object({ city: z.string() }) });
const configuration = { baseURL: url + "/v1" };
const models = {
  openai_chat: new ChatOpenAI({ model: "weak", apiKey, configuration }),
  openai_responses: new ChatOpenAI({ model: "weak", apiKey, configuration, useResponsesApi: true }),
  anthropic: new ChatAnthropic({ model: "weak", apiKey, anthropicApiUrl: url, maxTokens: 1024 }),
  ollama: new ChatOllama({ model: "weak", baseUrl: url }),
};

const loop = async (model) => {
  const bound = model.bindTools([get_weather]);
  const messages = [new HumanMessage(question)];
  for (;;) {
    let whole;
    for await (const chunk of await bound.stream(messages)) whole = whole ? whole.concat(chunk) : chunk;
    if (!whole.tool_calls?.length) return whole.text;
    messages.push(whole);
    for (const call of whole.tool_calls) messages.push(await get_weather.invoke(call));
  }
};

const paths = {};
for (const [name, model] of Object.entries(models)) paths[name] = () => loop(model);
const asked = { messages: [new HumanMessage(question)] };
paths.agent = async () => (await createAgent({ model: models.openai_chat, tools: [get_weather] }).invoke(asked)).messages.at(-1).text;
paths.langgraph_agent = async () => {
  const graph = createReactAgent({ llm: models.anthropic, tools: [get_weather] });
  return (await graph.invoke(asked)).messages.at(-1).text;
};

const schema = z.object({ city: z.string(), temperature: z.number() });
const forms = {};
for (const name of ["openai_chat", "anthropic", "ollama"])
  forms[name + "_formed"] = () => models[name].withStructuredOutput(schema, { name: "report" }).invoke(formQuestion);
await run(paths, forms);

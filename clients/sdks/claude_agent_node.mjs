// Claude Agent SDK for Node: Claude Code as a library, with a tool of our own served to it over MCP.
import { createSdkMcpServer, query, tool } from "@anthropic-ai/claude-agent-sdk";
import { z } from "zod";
import { apiKey, description, question, run, url, weather } from "./common.mjs";

const get_weather = tool("get_weather", description, { city: z.string() }, async (given) => ({
  content: [{ type: "text", text: weather(given) }],
}));

await run({
  query: async () => {
    const servers = { weather: createSdkMcpServer({ name: "weather", version: "1.0.0", tools: [get_weather] }) };
    const quiet = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", ENABLE_TOOL_SEARCH: "false" };
    const environ = { ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: apiKey, ...quiet };
    const options = {
      model: "weak",
      mcpServers: servers,
      allowedTools: ["mcp__weather__get_weather"],
      env: { ...process.env, ...environ },
    };
    let text = "";
    for await (const message of query({ prompt: question, options })) if (message.type === "result") text = message.result;
    return text;
  },
});

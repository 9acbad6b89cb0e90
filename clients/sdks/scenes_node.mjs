// The scenes of all official SDKs for Node.
import { fronts as anthropic } from "./scenes_anthropic.mjs";
import { fronts as google } from "./scenes_google.mjs";
import { fronts as ollama } from "./scenes_ollama.mjs";
import { fronts as openai } from "./scenes_openai.mjs";
import { serve } from "./scenes.mjs";

await serve({ ...openai, ...anthropic, ...google, ...ollama });

// What the Node scripts of scenes share: the things they send, and the lines they talk in (see scenes.py).
import { createInterface } from "node:readline";

export const url = process.env.DRAGOMAN_URL;
export const apiKey = "not-a-real-key";
export const image =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
export const picture = "https://pictures.test/cat.png";
const base64 = (text) => Buffer.from(text).toString("base64");
export const pdf = base64("%PDF-1.4\n%%EOF\n");
export const notes = "Alpha\nBeta\n";
export const notesData = base64(notes);
export const asked = "What is this?";
export const question = "What is the weather in Oslo?";
export const questions = "What is the weather in Oslo and Paris?";
export const named = "My name is Ada.";
export const name = "What is my name?";
export const description = "The weather in a city.";
export const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
export const tool = { name: "weather", description, parameters: schema };
export const form = {
  type: "object",
  properties: { city: { type: "string" }, temperature: { type: "integer" } },
  required: ["city", "temperature"],
  additionalProperties: false,
};

let done = [];
export const weather = ({ city }) => {
  done.push(city);
  return { Oslo: "rain", Paris: "sun" }[city];
};
export const ran = () => [...done].sort();

// Play the scenes that are asked for, until there are no more lines.
export const serve = async (fronts) => {
  const known = Object.fromEntries(Object.entries(fronts).map(([front, scenes]) => [front, Object.keys(scenes)]));
  console.log(JSON.stringify(known));
  for await (const line of createInterface({ input: process.stdin })) {
    const { front, scene, model, stream } = JSON.parse(line);
    done = [];
    let told;
    try {
      told = { got: await fronts[front][scene](model, stream) };
    } catch (error) {
      console.error(error);
      told = { error: String(error) || "an error without words" };
    }
    console.log(JSON.stringify(told));
  }
  process.exit();
};

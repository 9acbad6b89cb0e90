// What the scripts for Node share: the task, the tool, and how a result is told (one JSON line each, answered by a line).
export const url = process.env.DRAGOMAN_URL;
export const apiKey = "not-a-real-key";
export const question = "What is the weather in Oslo and Paris?";
export const formQuestion = "Report that the temperature in Oslo is 21 degrees, in the form you are given.";
export const form = { city: "Oslo", temperature: 21 };
export const description = "The weather in a city.";
export const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const reports = { Oslo: "rain", Paris: "sun" };
let ran = [];

export const weather = ({ city }) => {
  ran.push(city);
  return reports[city];
};

// What is wrong with the end of the task.
const wrong = (text) =>
  ran.sort().join() === "Oslo,Paris" && /Oslo: .*rain.*Paris: .*sun/s.test(text)
    ? ""
    : `ran ${ran}, text ${String(text).slice(0, 200)}`;

const same = (given) =>
  given?.city === form.city && given?.temperature === form.temperature ? "" : `gave ${JSON.stringify(given)}`;

const tell = async (path, tried, judge) => {
  ran = [];
  const start = Date.now();
  let note;
  try {
    note = judge(await tried());
  } catch (error) {
    note = (String(error) || "an error without words").slice(0, 300);
    console.error(error);
  }
  const seconds = Math.round((Date.now() - start) / 100) / 10;
  console.log("\n" + JSON.stringify({ path, ok: !note, seconds, note }));
  await new Promise((next) => process.stdin.once("data", next));
};

// Run every path: it asks, runs the tool, and gives the final text; those of `forms` give a filled form.
export const run = async (paths, forms = {}) => {
  const only = process.argv.slice(2);
  const chosen = (rows) => Object.entries(rows).filter(([path]) => !only.length || only.includes(path));
  for (const [path, tried] of chosen(paths)) await tell(path, tried, wrong);
  for (const [path, tried] of chosen(forms)) await tell(path, tried, same);
  console.log('\n{"path": null}');
  process.exit();
};

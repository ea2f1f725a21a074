/** One line of a Prometheus endpoint. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** Read a real endpoint as a scraper does. */
export async function scrape(url: string): Promise<Sample[]> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  const lines = (await response.text()).split("\n");
  return lines.filter((line) => line !== "" && !line.startsWith("#")).map(toSample);
}

/** Add up the samples of a name that have these labels. */
export function sum(samples: Sample[], name: string, labels: Record<string, string> = {}): number {
  return samples
    .filter((sample) => sample.name === name)
    .filter((sample) => Object.entries(labels).every(([key, value]) => sample.labels[key] === value))
    .reduce((total, { value }) => total + value, 0);
}

function toSample(line: string): Sample {
  const match = /^([\w:]+)(?:\{(.*)\})? (\S+)$/.exec(line);
  if (match === null) throw new Error(`this is no sample: ${line}`);
  const [, name = "", labels = "", value = ""] = match;
  const pairs = [...labels.matchAll(/([\w]+)="((?:[^"\\]|\\.)*)"/g)];
  return {
    name,
    labels: Object.fromEntries(pairs.map(([, key = "", text = ""]) => [key, text])),
    value: Number(value),
  };
}

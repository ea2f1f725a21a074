import { existsSync } from "node:fs";

/** Variables whose values open the worker's own doors: keys of model providers, and the access to its Temporal server. */
const ownKeys = [
  /(^|_)API_?KEYS?(_|$)/i,
  /_(AUTH|OAUTH|BEARER|IDENTITY|SESSION)_TOKEN(_|$)/i,
  /^AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN|BEARER_TOKEN_\w+)$/i,
  /^ANTHROPIC_CUSTOM_HEADERS$/i,
  /^(HF|HUGGING_FACE_HUB|HUGGINGFACEHUB_API|COPILOT_GITHUB|CLOUDFLARE_API)_TOKEN$/i,
  /^TEMPORAL_(API_KEY|TLS_CLIENT_KEY_DATA|GRPC_META_AUTHORIZATION|CODEC_AUTH)$/i,
  /^OTEL_EXPORTER_OTLP_(\w+_)?HEADERS$/i,
];

/** What goes with those keys and is no secret in itself: profiles, addresses, files, names of models. */
const ownSurroundings = [
  /^ANTHROPIC_/i,
  // The region and the certificates of an account open nothing.
  /^AWS_(?!(CA_BUNDLE|REGION|DEFAULT_REGION)$)/i,
  /^GOOGLE_APPLICATION_CREDENTIALS$/i,
  /^TEMPORAL_(API_KEY|TLS|GRPC_META|CODEC)(_|$)/i,
];

/** Secrets of the user's own work, such as `GITHUB_TOKEN`: commands may need them. */
const workKeys = [
  /(^|_)(TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)$/i,
  /(^|_)(SECRET|PRIVATE|ACCESS|ENCRYPTION|SIGNING|MASTER|CODEC)_KEY$/i,
];

/** Tells where a secret is, how long it lives or what it is called. */
const aboutSecret =
  /_(FILE|PATH|DIR|FOLDER|URL|URI|HOST|PORT|NAME|TYPE|PREFIX|HEADER|TTL|TIMEOUT|EXPIRY|SECONDS|MS|SIZE|LENGTH|LIMIT|COUNT|ENABLED)$/i;

/** Whether processes that tools start do without a variable: it belongs to the worker's own access to models and server. */
export function isWithheld(name: string): boolean {
  return [...ownKeys, ...ownSurroundings].some((pattern) => pattern.test(name));
}

/** The secrets among the values of an environment, the longest first. A name alone makes none: what is hidden must be hard to guess. */
export function toSecretValues(environment: Readonly<Record<string, string | undefined>>): string[] {
  const values = Object.entries(environment).flatMap(([name, value = ""]) =>
    isSecretName(name) && isSecretValue(value.trim()) ? [value.trim()] : [],
  );
  return [...new Set(values)].toSorted((left, right) => right.length - left.length);
}

function isSecretName(name: string): boolean {
  return !aboutSecret.test(name) && [...ownKeys, ...workKeys].some((pattern) => pattern.test(name));
}

/** Hiding a word, a path or an address would only garble what somebody has to read. */
function isSecretValue(value: string): boolean {
  if (value.length < 8) return false;
  return !isWords(value) && !isAddress(value) && !isPath(value);
}

const MAX_WORDS_CHARACTERS = 15;

/** `function`, `not-needed`, `Test_Token`, `lm-studio`: letters as people write them, and not many. */
function isWords(value: string): boolean {
  if (value.length > MAX_WORDS_CHARACTERS) return false;
  return value.split(/[-_. ]+/).every((word) => /^(\p{L}?\p{Ll}*|\p{Lu}+)$/u.test(word));
}

/** A URL without anything of an account in it, or a host with its port. */
function isAddress(value: string): boolean {
  if (/^[a-z\d][a-z\d.-]*:\d{1,5}$/i.test(value)) return true;
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(value)) return false;
  const url = URL.parse(value);
  return url !== null && url.username === "" && url.password === "" && url.search === "";
}

/** What exists, and what would lie in a folder at the root that exists. */
function isPath(value: string): boolean {
  if (existsSync(value)) return true;
  const [, top] = /^(\/[^/]+|[a-z]:\\|~)[/\\]/i.exec(value) ?? [];
  return top !== undefined && (top === "~" || existsSync(top));
}

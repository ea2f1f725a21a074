import { toSecretValues } from "./secret-variables.ts";

/**
 * Take keys out of what a provider says: the values of the environment's own secrets, and what looks like a key. Providers repeat
 * the key that they refuse, also one that this host does not know.
 */
export function toRedactor(environment: NodeJS.ProcessEnv): (text: string) => string {
  const hideValues = toSecretHider(environment);
  return (text) =>
    hideValues(text)
      .replace(/\b(sk|gsk|xai)-[\w-]{12,}/gi, mark)
      // Common words too: `key-management-service` has no digit.
      .replace(/\b(pk|rk|key)-(?=[\w-]*\d)[\w-]{12,}/gi, mark)
      .replace(/\bAIza[\w-]{20,}/g, mark)
      .replace(/\b(Bearer\s+)[\w.~+/=-]{8,}/gi, `$1${mark}`)
      .replace(/([?&](?:key|api_key|token)=)[^&\s"']+/gi, `$1${mark}`);
}

/** Take the values of the environment's own secrets out of a text, and nothing else. */
export function toSecretHider(environment: NodeJS.ProcessEnv): (text: string) => string {
  const secrets = toSecretValues(environment);
  return (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, mark), text);
}

const mark = "[key]";

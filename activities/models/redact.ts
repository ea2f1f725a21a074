/**
 * Take keys out of a text that is going to be stored and shown: the values of the environment's own secrets, and what looks like
 * a key. Providers repeat the key that they refuse.
 */
export function toRedactor(environment: NodeJS.ProcessEnv): (text: string) => string {
  const hideValues = toSecretHider(environment);
  return (text) =>
    hideValues(text)
      .replace(/\b(sk|pk|rk|gsk|xai|key)-[\w-]{12,}/gi, mark)
      .replace(/\bAIza[\w-]{20,}/g, mark)
      .replace(/\b(Bearer\s+)[\w.~+/=-]{8,}/gi, `$1${mark}`)
      .replace(/([?&](?:key|api_key|token)=)[^&\s"']+/gi, `$1${mark}`);
}

/** Take the values of the environment's own secrets out of a text, and nothing else. */
export function toSecretHider(environment: NodeJS.ProcessEnv): (text: string) => string {
  const secrets = Object.entries(environment)
    .filter(
      ([name, value]) => /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL/i.test(name) && (value ?? "").length >= 8,
    )
    .map(([, value]) => value ?? "")
    .sort((left, right) => right.length - left.length);
  return (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, mark), text);
}

const mark = "[key]";

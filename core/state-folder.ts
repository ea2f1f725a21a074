/** Where things lie in the state folder, `$XDG_STATE_HOME/subagents` by default. Absolute paths, `/` as the separator. */
export interface StateFolder {
  root: string;
  /** Dev server: its data, its log, its address, its supervisor's socket. */
  devServer: string;
  /** Copies of the Temporal command line that were fetched. */
  bin: string;
  /** One file a living worker process. */
  workers: string;
  /** One file an attempt of an agent run: what a restarted worker needs to hand it back. */
  runs: string;
  /** Prompts of definitions, by SHA-256. */
  prompts: string;
  /** A folder a session: journals, scratch, full outputs of tools, the ledger of files. */
  sessions: string;
}

export interface SessionFolder {
  root: string;
  journals: string;
  scratch: string;
  /** Below the scratch folder, so that agents may read what was too long to show. */
  outputs: string;
  ledger: string;
}

/**
 * Find the state folder from the environment.
 *
 * @throws Error if neither XDG_STATE_HOME nor a home folder is known.
 */
export function toStateFolder(
  environment: Record<string, string | undefined>,
  home: string | undefined,
): StateFolder {
  const base = environment.XDG_STATE_HOME;
  // The XDG rules say that a relative path is to be ignored.
  const isUsable = base?.startsWith("/");
  if (!isUsable && !home) throw new Error("neither XDG_STATE_HOME nor a home folder is set");
  const root = `${isUsable ? base : `${home}/.local/state`}/subagents`;
  return {
    root,
    devServer: `${root}/dev-server`,
    bin: `${root}/bin`,
    workers: `${root}/workers`,
    runs: `${root}/runs`,
    prompts: `${root}/prompts`,
    sessions: `${root}/sessions`,
  };
}

/** The folder of one session. Any workflow id makes a valid, unique folder name. */
export function toSessionFolder(state: StateFolder, sessionId: string): SessionFolder {
  const root = `${state.sessions}/${encodeFileName(sessionId)}`;
  return {
    root,
    journals: `${root}/journals`,
    scratch: `${root}/scratch`,
    outputs: `${root}/scratch/outputs`,
    ledger: `${root}/ledger`,
  };
}

/** Longest encoded name; the rest of a file name's 255 bytes is for endings. */
const MAX_NAME_BYTES = 180;

/** Encode any text as a file name of its own: letters, digits, `-` and `_` stay, other UTF-8 bytes become `%XX`; a long name ends in its hash. */
export function encodeFileName(text: string): string {
  const encoded = encodeURIComponent(text.toWellFormed()).replace(
    /[^A-Za-z0-9_%-]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return encoded.length <= MAX_NAME_BYTES
    ? encoded
    : `${encoded.slice(0, MAX_NAME_BYTES - 18)}.${hash64(encoded)}`;
}

/** FNV-1a in 64 bits, as hex. */
function hash64(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (let index = 0; index < text.length; index++) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(index))) * 0x100000001b3n);
  }
  return hash.toString(16).padStart(16, "0");
}

/** What stands in place of a secret. */
export const redacted = '<redacted>';

const sensitive =
  '(?:(?<!by|com)pass(?:word|wd|phrase|code)?|pwd|secret|token|credential|(?:api|access|private|secret)[-_]?key|client-key-data)s?';
const sensitiveName = new RegExp(`${sensitive}$`, 'i');
const sensitiveFlag = new RegExp(`^--?[\\w.-]*${sensitive}$`, 'i');
const userFlag = /^(?:-u|--user(?:name)?)$/;

// Parts of the forms. A part that has begun always matches: where a quote or a bracket is not closed, it extends to the end of the line.
const doubleQuoted = String.raw`"(?:[^"\\\n]|\\.)*\\?"?`;
const singleQuoted = String.raw`'(?:[^'\\\n]|\\.|'')*'?`;
/** In JSON in JSON. */
const escapedQuoted = String.raw`\\"(?:[^"\\\n]|\\{3}"|\\(?!"))*(?:\\")?`;
const inBrackets = String.raw`${doubleQuoted}|[^{}[\]"\n]`;
const bracketed = String.raw`[{[](?:${inBrackets}|[{[](?:${inBrackets})*[}\]]?)*[}\]]?`;
/** A block of YAML, with its line breaks written as \n. */
const escapedBlock = String.raw`[|>][-+\d]*(?:\\n[ \t]+[^\\\n"]*)+`;
const bare = String.raw`[^\s,;&}\]"']+`;
const quoted = `${escapedQuoted}|${doubleQuoted}|${singleQuoted}|${bracketed}|${escapedBlock}`;
const value = `(?:${quoted}|${bare})(?:${bare})?`;
/** A second word without quotes, unless it is the next flag or the name of the next value. */
const secondWord = String.raw`(?:[ \t]+(?!-|[\w.-]{1,64}\\?["']?[=:])[^\s,;&}\]"'=]+)?`;
/** What has been redacted stays as it is. */
const valueOrWords = `(?!${redacted}(?![^\\s,;&}\\]"']))(?:(?:${quoted})(?:${bare})?|${bare}${secondWord})`;
/** What the API server writes before each line of a log. */
const stamp = String.raw`(?:\d{4}-\d\d-\d\dT[\d:.]+Z )?`;
const afterFlag = String.raw`(?:[ \t]+|\\?["'],[ \t]*)`;

type Form = readonly [form: RegExp, replacement: string | ((found: string, ...groups: string[]) => string)];

/** Secrets over several lines, and what stands in place of them. */
const longForms: readonly Form[] = [
  // Private keys and seeds in PEM, also with line breaks written as \n, and cut off at the end of a log.
  [/-----BEGIN [A-Z ]*(?:PRIVATE KEY|SEED)-----[\s\S]*?(?:-----END [A-Z ]*(?:PRIVATE KEY|SEED)-----|$)/g, redacted],
  // The indented lines under a name in YAML or in JSON.
  [
    new RegExp(
      String.raw`^(${stamp})([ \t]*)((?:- )?["']?[\w.-]*${sensitive}["']?:[ \t]*)(?:[|>][-+\d]*|[{[])?[ \t]*(?:\n${stamp}\2[ \t]+[^\n]*)+`,
      'gim',
    ),
    `$1$2$3${redacted}`,
  ],
  // All words behind a name at the beginning of a line, as in YAML, unless they are quoted or end before a comment.
  [
    new RegExp(
      String.raw`^(${stamp}[ \t]*(?:- )?[\w.-]*${sensitive}:[ \t]+)(?!["'|>{[&*!]|${redacted}(?![^\s]))[^\s#][^\n]*?(?=[ \t]+#|[ \t]*$)`,
      'gim',
    ),
    `$1${redacted}`,
  ],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{6,}/gi, `$1 ${redacted}`],
  // A flag and its value as elements of a list.
  [
    new RegExp(
      String.raw`^(${stamp}[ \t]*(?:- )?["']?--?[\w.-]*${sensitive}["']?,?[ \t]*\n${stamp}[ \t]*(?:- )?)(?!["']?--)\S[^\n]*`,
      'gim',
    ),
    `$1${redacted}`,
  ],
];

/**
 * Text on one line that is a secret by its form. A tenant may have written a log, so each form has only one start in a run of characters,
 * or always matches from where it starts, or its length is limited: the time grows with the text, not with its square.
 */
const forms: readonly Form[] = [
  // PEM in base64: a part of it does not show what it contains.
  [/LS0tLS1CRUdJTi[A-Za-z0-9+/=]+/g, redacted],
  // JSON Web Tokens.
  [
    /eyJ[\w-]{6,}(\.[\w-]{6,}(?:\.[\w-]*)?)?/g,
    (found: string, rest?: string) => (rest === undefined ? found : redacted),
  ],
  // Bootstrap tokens.
  [/(?<![a-z0-9.-])[a-z0-9]{6}\.[a-z0-9]{16}(?![a-z0-9.-])/g, redacted],
  // Seeds of NATS.
  [/\bS[OAUCNX][A-Z2-7]{56}\b/g, redacted],
  // User and password in addresses, as MySQL writes them and as URL.
  [/(?<![^\s"'])[^\s"':]*:[^\s"']*@(tcp|unix)\(/g, `${redacted}@$1(`],
  [/(?<![^\s"'])[^\s"']+@/g, (found: string) => found.replace(/:\/\/(?:[^\s/@:]*):[\s\S]*@/, `://${redacted}@`)],
  [
    new RegExp(
      String.raw`((?<![\w-])(?:-u|--user(?:name)?)(?:=|${afterFlag})\\?["']?)[^\s:"'\\]{1,256}:[^\s"'\\]+`,
      'g',
    ),
    `$1${redacted}`,
  ],
  // The value after the name of a flag.
  [
    new RegExp(String.raw`((?<![\w.-])--?[\w.-]*${sensitive}${afterFlag})(?!\\?["']?--)${value}`, 'gi'),
    `$1${redacted}`,
  ],
  // name=value and name: value, in flags, in queries, in JSON and in YAML.
  [new RegExp(String.raw`(${sensitive}\\?["']?[ \t]*[=:][ \t]*)${valueOrWords}`, 'gi'), `$1${redacted}`],
];

/** Text without what looks like a secret. It rather leaves out too much. */
export function redactText(text: string): string {
  return replaceForms(replaceForms(text, longForms), forms);
}

/** How much of a text is worked on at once, in characters. */
const pieceLength = 128 * 1024;

/**
 * {@link redactText} for a text of any size, piece by piece: `pause` is awaited in between, so that an interrupt, a timeout
 * and connections are not kept waiting.
 */
export async function redactLongText(
  text: string,
  pause: () => Promise<unknown>,
  length: number = pieceLength,
): Promise<string> {
  let left = text;
  for (const form of longForms) {
    left = replaceForms(left, [form]);
    await pause();
  }
  const pieces: string[] = [];
  for (let start = 0; start < left.length;) {
    // The remaining forms are on one line: no line is broken.
    const end = left.indexOf('\n', start + length - 1);
    const next = end === -1 ? left.length : end + 1;
    pieces.push(replaceForms(left.slice(start, next), forms));
    start = next;
    await pause();
  }
  return pieces.join('');
}

function replaceForms(text: string, those: readonly Form[]): string {
  return those.reduce(
    (left, [form, replacement]) =>
      typeof replacement === 'string' ? left.replaceAll(form, replacement) : left.replaceAll(form, replacement),
    text,
  );
}

type Fields = Readonly<Record<string, unknown>>;

/** The annotation of `kubectl apply`, which repeats an object as it was written. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * An object without secrets: the data of a Secret, inline content of a DataStore, values of variables and of fields with such a name, and
 * everything in its texts that looks like one.
 */
export function redactObject<T>(object: T): T {
  return redactValue(object) as T;
}

function redactValue(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return (value as readonly unknown[]).map(redactElement);
  if (!isFields(value)) return value;
  const isSecret = value.kind === 'Secret';
  const isSensitiveVariable = typeof value.name === 'string' && sensitiveName.test(value.name);
  const entries = Object.entries(value).flatMap(([name, field]) => {
    if (name === 'managedFields' || name === lastApplied) return [];
    if (isSecret && (name === 'data' || name === 'stringData')) return [[name, withoutValues(field)]];
    if (sensitiveName.test(name) || (isSensitiveVariable && name === 'value')) return [[name, hidden(field)]];
    return [[name, name === 'content' && typeof field === 'string' ? hidden(field) : redactValue(field)]];
  });
  return Object.fromEntries(entries) as Fields;
}

function redactElement(element: unknown, index: number, all: readonly unknown[]): unknown {
  const before = all[index - 1];
  if (typeof element !== 'string' || typeof before !== 'string' || element.startsWith('--'))
    return redactValue(element);
  const isSecret = sensitiveFlag.test(before) || (userFlag.test(before) && element.includes(':'));
  return isSecret ? redacted : redactValue(element);
}

/** Fields that say where a secret is, not what it is. */
const references = new Set([
  ...['apiVersion', 'kind', 'name', 'namespace', 'uid', 'resourceVersion', 'checksum', 'lastUpdate'],
  ...['secretName', 'secretRef', 'secretKeyRef', 'secretReference', 'valueFrom'],
  ...['items', 'path', 'defaultMode', 'expirationSeconds', 'audience'],
]);

/** A value under the name of a secret. Booleans and absent values reveal nothing. */
function hidden(value: unknown): unknown {
  if (Array.isArray(value)) return (value as readonly unknown[]).map(hidden);
  if (!isFields(value)) return isHarmless(value) ? value : redacted;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, references.has(name) ? redactValue(field) : hidden(field)]),
  );
}

const isHarmless = (value: unknown): boolean =>
  typeof value === 'boolean' || value === '' || value === null || value === undefined;

function withoutValues(data: unknown): unknown {
  if (!isFields(data)) return redacted;
  return Object.fromEntries(Object.keys(data).map((key) => [key, redacted]));
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

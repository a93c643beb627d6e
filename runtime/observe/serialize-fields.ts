import type { LogFields } from './logger.ts';

const redacted = '(redacted)';
/** Names under which secrets travel: kubeadm's and ours. */
const secretName = /(^|[._-])key$|password|passwd|token|kubeconfig|secret$|credential|authorization|privatekey/i;
/** Names of fields that refer to a secret without containing it. */
const harmlessName = /^(secretname|tokenid|publickey|sortkey|queuekey)$/i;
const pemKey = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g;
const deepest = 6;
const longestText = 8_192;
const mostItems = 100;

/**
 * Fields as JSON that may be seen by anyone: errors with their causes, secrets left out by the name of their field
 * (`*.key`, passwords, tokens, kubeconfigs, the data of Secrets) and private keys cut out of any text. Cycles, depth and
 * size are bounded.
 */
export function serializeFields(fields: LogFields): Record<string, unknown> {
  // Entries and not assignments: a field may be named __proto__.
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]): (readonly [string, unknown])[] => {
      if (value === undefined) return [];
      return name === 'error'
        ? Object.entries(errorFields(value))
        : [[name, plain(name, value, { depth: 0, above: [] })]];
    }),
  );
}

interface Place {
  readonly depth: number;
  readonly above: readonly object[];
}

function plain(name: string, value: unknown, place: Place): unknown {
  if (secretName.test(name) && !harmlessName.test(name) && isRevealing(value)) return redacted;
  if (typeof value === 'string') return shorten(value);
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value);
  if (typeof value === 'function') return `(function ${value.name})`;
  if (typeof value !== 'object' || value === null) return value;
  return structure(value, place);
}

/** Numbers, booleans and absent values reveal no secret. */
function isRevealing(value: unknown): boolean {
  return (typeof value === 'string' && value !== '') || (typeof value === 'object' && value !== null);
}

function structure(value: object, { depth, above }: Place): unknown {
  if (above.includes(value)) return '(circular)';
  if (depth >= deepest) return '(too deep)';
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (value instanceof Error) return errorFields(value);
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `(${value.byteLength} bytes)`;
  const inner = { depth: depth + 1, above: [...above, value] };
  if (value instanceof Set || Array.isArray(value)) {
    const items = [...(value as Iterable<unknown>)];
    const shown = items.slice(0, mostItems).map((item) => plain('', item, inner));
    return items.length > mostItems ? [...shown, `(${items.length - mostItems} more)`] : shown;
  }
  const entries: [string, unknown][] =
    value instanceof Map
      ? [...value].map(([key, item]): [string, unknown] => [
          typeof key === 'object' && key !== null ? '(object)' : String(key),
          item,
        ])
      : Object.entries(value);
  const isSecret = 'kind' in value && value.kind === 'Secret';
  return Object.fromEntries(
    entries
      .slice(0, mostItems)
      .filter(([, item]) => item !== undefined)
      .map(([key, item]) => [
        key,
        isSecret && (key === 'data' || key === 'stringData') ? redacted : plain(key, item, inner),
      ]),
  );
}

/** `error`, `errorReason` and `stack`; causes and members of a group follow the message. */
function errorFields(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: plain('error', error, { depth: 1, above: [] }) };
  const { reason, code } = error as { reason?: unknown; code?: unknown };
  const why = typeof reason === 'string' ? reason : code;
  return {
    error: shorten(chainOf(error, [])),
    ...(typeof why === 'string' || typeof why === 'number' ? { errorReason: why } : {}),
    ...(error.stack === undefined ? {} : { stack: shorten(framesOf(error.stack)) }),
  };
}

function chainOf(error: unknown, above: readonly unknown[]): string {
  if (above.includes(error) || above.length >= deepest) return '…';
  if (!(error instanceof Error))
    return typeof error === 'string' ? error : JSON.stringify(plain('', error, { depth: 1, above: [] }));
  const inner = [...above, error];
  const members =
    error instanceof AggregateError ? ` [${error.errors.map((one: unknown) => chainOf(one, inner)).join('; ')}]` : '';
  const message = error.message === '' ? error.name : error.message;
  const own = `${message}${members}`;
  if (error.cause === undefined) return own;
  const cause = chainOf(error.cause, inner);
  return own.includes(cause) ? own : `${own}: ${cause}`;
}

/** The frames alone: the message is logged already. */
function framesOf(stack: string): string {
  const first = stack.search(/^\s+at /m);
  return first < 0 ? '' : stack.slice(first);
}

function shorten(text: string): string {
  const safe = text.replace(pemKey, '(private key)');
  return safe.length <= longestText ? safe : `${safe.slice(0, longestText)}… (${safe.length - longestText} more)`;
}

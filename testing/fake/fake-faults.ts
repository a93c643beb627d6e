import type { Key, KindRef, PolicyRule } from '../../api/meta.ts';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'apply' | 'patch' | 'delete' | 'text';

/** One call as it arrived at the fake server. */
export interface Call {
  readonly verb: Verb;
  /** Absent for `text`. */
  readonly kind?: KindRef;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
  /** Of `text`. */
  readonly path?: string;
  /** Of `create`, `apply` and `patch`. */
  readonly body?: unknown;
}

/** Which calls are meant; absent fields mean any. `kind` is the kind's name, e.g. `Secret`. */
export type CallMatch =
  | ((call: Call) => boolean)
  | {
      readonly verb?: Verb;
      readonly kind?: string;
      readonly namespace?: string;
      readonly name?: string;
      readonly subresource?: string;
    };

/** The process that made the call is dead: nothing it does reaches the server anymore. */
export class CrashError extends Error {
  override readonly name = 'CrashError';
}

interface Fault {
  readonly match: CallMatch;
  readonly error: Error;
  times: number;
}

type Hook = (call: Call) => void | Promise<void>;

function isMeant(match: CallMatch, call: Call): boolean {
  if (typeof match === 'function') return match(call);
  const { kind, ...fields } = match;
  if (kind !== undefined && kind !== call.kind?.kind) return false;
  return Object.entries(fields).every(([field, value]) => call[field as keyof typeof fields] === value);
}

/** Records calls and makes them fail as a test requires. */
export class FakeFaults {
  readonly calls: Call[] = [];
  readonly #records: boolean;
  readonly #faults: Fault[] = [];
  readonly #before: Hook[] = [];
  readonly #after: Hook[] = [];
  #crash: { left: number; readonly loses: boolean } | undefined;

  /** Without `records`, calls are not recorded. */
  constructor({ records = true }: { readonly records?: boolean } = {}) {
    this.#records = records;
  }

  get crashed(): boolean {
    return this.#crash !== undefined && this.#crash.left <= 0;
  }

  failNext(match: CallMatch, error: Error, times: number): void {
    this.#faults.push({ match, error, times });
  }

  before(hook: Hook): () => void {
    return addTo(this.#before, hook);
  }

  after(hook: Hook): () => void {
    return addTo(this.#after, hook);
  }

  crashAfter(calls: number, losesAnswer: boolean): void {
    this.#crash = { left: calls, loses: losesAnswer };
  }

  restart(): void {
    this.#crash = undefined;
  }

  /** Runs `work` as one call: recorded, counted, and failing as set. */
  async around<R>(call: Call, work: () => R): Promise<R> {
    this.refuseTheDead(call);
    if (this.#records) this.calls.push(call);
    for (const hook of this.#before) await hook(call);
    const fault = this.#faults.find((candidate) => candidate.times > 0 && isMeant(candidate.match, call));
    if (fault !== undefined) {
      fault.times -= 1;
      throw fault.error;
    }
    const losesAnswer = this.#count();
    await Promise.resolve();
    const result = work();
    // Others see what was stored, also when its writer does not.
    for (const hook of this.#after) await hook(call);
    if (losesAnswer) this.refuseTheDead(call);
    return result;
  }

  /** Counts one call of the process; true when its answer is lost. */
  #count(): boolean {
    if (this.#crash === undefined) return false;
    this.#crash.left -= 1;
    return this.#crash.left === 0 && this.#crash.loses;
  }

  /** Throws `CrashError` when the process is dead. */
  refuseTheDead(call: Call): void {
    if (!this.crashed) return;
    throw new CrashError(
      `the process died before the answer to ${call.verb} ${call.kind?.kind ?? call.path ?? ''} ${call.name ?? ''}`,
    );
  }
}

function addTo(hooks: Hook[], hook: Hook): () => void {
  hooks.push(hook);
  return () => {
    hooks.splice(hooks.indexOf(hook), 1);
  };
}

/** Rules that allow everything. */
export const everything: readonly PolicyRule[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
  { nonResourceURLs: ['*'], verbs: ['*'] },
];

export function keyFields(key: Key): Pick<Call, 'namespace' | 'name'> {
  return { name: key.name, namespace: key.namespace };
}

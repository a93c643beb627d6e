/** What an attempt would change if the server allowed it. */
export type Reach =
  /** Nothing but what belongs to the two tenants, their connections and the logins of their users. */
  | 'tenants'
  /** The server or other tenants: it is made only on a server without other tenants. */
  | 'server';

/** Something that a tenant tries; the server must refuse it. */
export interface Attempt {
  /** A verb and its object, or a statement: it completes "the server did not refuse:". It names no key, no value and no secret of any tenant. */
  readonly name: string;
  readonly reach: Reach;
  /** Resolves when the server allowed it, rejects otherwise. */
  run(): Promise<unknown>;
}

/** An attempt without its reach. */
export type Try = Omit<Attempt, 'reach'>;

/** Everything that one tenant tries on another and on the server, over connections that are closed with it. */
export interface Attack extends AsyncDisposable {
  /** The attempts of a lane are made one after the other, lanes side by side. */
  readonly lanes: readonly (readonly Attempt[])[];
}

/** Gives attempts their reach. */
export function reaching(reach: Reach, attempts: readonly Try[]): readonly Attempt[] {
  return attempts.map((attempt) => ({ ...attempt, reach }));
}

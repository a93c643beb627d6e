import type { Tenancy } from '../../stores/driver.ts';
import { StoreError } from '../../stores/store-error.ts';

/** What a tenant shows when it connects. */
export interface Credentials {
  readonly user: string;
  readonly password?: string | undefined;
  readonly certificate?: string | undefined;
}

/** Who may use what in a store in memory: its users with their passwords and the schemas that each may use. */
export class MemoryAccess {
  readonly #users = new Map<string, { readonly password: string | undefined; readonly schemas: Set<string> }>();

  /** Knows whom another one knows, and nobody else. */
  copyFrom(other: MemoryAccess): void {
    this.#users.clear();
    for (const [user, { password, schemas }] of other.#users)
      this.#users.set(user, { password, schemas: new Set(schemas) });
  }

  get users(): readonly string[] {
    return [...this.#users.keys()];
  }

  /** One line for each user, with what it may use. */
  get lines(): readonly string[] {
    return [...this.#users].map(([user, { schemas }]) => `user ${user} may use ${[...schemas].toSorted().join(', ')}`);
  }

  has(user: string): boolean {
    return this.#users.has(user);
  }

  /** The user of a tenancy may use its schema, and nothing else that it was given before. */
  grant({ user, password, schema }: Tenancy): void {
    this.#users.set(user, { password, schemas: new Set([schema]) });
  }

  /** A mistake of an administrator. */
  grantForeign(user: string, schema: string): void {
    this.#users.get(user)?.schemas.add(schema);
  }

  remove(user: string): void {
    this.#users.delete(user);
  }

  /** Throws `StoreError` Unauthorized when these credentials do not open the schema. */
  check({ user, password, certificate }: Credentials, schema: string): void {
    const known = this.#users.get(user);
    const isUser = certificate === undefined ? known?.password === password : certificate === certificateOf(user);
    if (known !== undefined && isUser && known.schemas.has(schema)) return;
    throw new StoreError('Unauthorized', `permission denied to ${user} for ${schema}`);
  }
}

/** The certificate by which a user is known. */
export function certificateOf(user: string): string {
  return `certificate of ${user}\n`;
}

import type { Tenancy } from '../driver.ts';
import { StoreError } from '../store-error.ts';

/**
 * Which of the names would reach beyond its tenancy, for a message. Recorded names must stay usable, so this check is weaker than the one
 * for names in specs.
 */
export function unsafeName({ schema, user }: Tenancy): string | undefined {
  const unsafe = (name: string): boolean =>
    name === '' ||
    name === 'root' ||
    name.length > 255 ||
    /[/\u0000-\u001f\u007f]/.test(name) ||
    // In UTF-8 all lone surrogates are one and the same character.
    !name.isWellFormed();
  if (unsafe(schema)) return `the schema ${JSON.stringify(schema)}`;
  return unsafe(user) ? `the user ${JSON.stringify(user)}` : undefined;
}

/** Throws `StoreError` InvalidName for names that `unsafeName` finds unsafe. */
export function refuseUnsafeNames(tenancy: Tenancy): void {
  const name = unsafeName(tenancy);
  if (name === undefined) return;
  throw new StoreError('InvalidName', `${name} cannot be used for a tenancy in etcd: use letters, digits, "_" and "-"`);
}

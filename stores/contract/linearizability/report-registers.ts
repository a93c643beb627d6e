import { expect } from '@jest/globals';
import type { RegisterClients, RegisterResult } from './register-clients.ts';

/** Prints what the histories of clients came to, and fails with the calls that no order explains. */
export function reportRegisters(title: string, clients: RegisterClients): RegisterResult {
  const result = clients.result();
  const { operations, changes, unknown, staleReads, violations } = result;
  process.stderr.write(
    `registers, ${title}: ${operations} operations, ${changes} changes acknowledged, ${unknown} unknown, ` +
      `${staleReads} stale reads, ${violations.length} violations\n`,
  );
  expect(violations.map(({ message }) => message)).toEqual([]);
  return result;
}

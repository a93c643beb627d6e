import type { Connection } from 'mysql2/promise';
import type { Attempt } from '../../../../stores/contract/driver-contract.ts';

/** Thrown by an attempt that was answered, but with nothing that it looked for: the server hides what it does not refuse. */
export class HiddenError extends Error {
  override readonly name = 'HiddenError';
}

/** The numbers with which a server refuses for want of a right, of a login, or at a limit of the account. */
const refusals = new Set([1044, 1045, 1095, 1142, 1143, 1226, 1227, 1370, 1410, 1698]);

/** True for a refusal of the server, or for nothing found. */
export function isMysqlRefusal(error: unknown): boolean {
  if (error instanceof HiddenError) return true;
  return error instanceof Error && 'errno' in error && refusals.has(Number(error.errno));
}

/** An attack of one statement or more: it succeeds when the server runs it. */
export function statement(client: Connection, text: string): Attempt {
  return { name: text, run: () => client.query(text) };
}

/** An attack that the server always answers: it succeeds when the answer names what it must not, as a word of its own. */
export function look(client: Connection, text: string, forbidden: string): Attempt {
  const part = '[A-Za-z0-9_$%-]';
  const word = new RegExp(`(?<!${part})${forbidden.replaceAll(/[.$]/g, '\\$&')}(?!${part})`);
  return {
    name: text,
    run: async () => {
      const [rows] = await client.query(text);
      if (!word.test(JSON.stringify(rows))) throw new HiddenError(`nothing about ${forbidden}`);
    },
  };
}

import type { Connection } from 'mysql2/promise';
import type { Try } from '../../isolation/attempt.ts';

/** Thrown by an attempt whose answer does not contain what it tried to find: the server hides what it does not refuse. */
export class HiddenError extends Error {
  override readonly name = 'HiddenError';
}

/** The numbers with which a server refuses for want of a right or of a login. */
const refusals = new Set([1044, 1045, 1095, 1142, 1143, 1227, 1370, 1410, 1698]);

/** True for a refusal of the server, or for nothing found. */
export function isMysqlRefusal(error: unknown): boolean {
  if (error instanceof HiddenError) return true;
  return error instanceof Error && 'errno' in error && refusals.has(Number(error.errno));
}

/** What a server reports that has no connection, thread, memory or lock left, or that ends: it is not about the attempt. */
const lacks = new Set([1037, 1040, 1041, 1053, 1080, 1129, 1135, 1203, 1205, 1213, 1226, 1836]);

/** True for an error that the server reported about the attempt itself; the errors of the client have no number of a server. */
export function isMysqlAnswer(error: unknown): boolean {
  if (isMysqlRefusal(error)) return true;
  if (!(error instanceof Error) || !('errno' in error)) return false;
  const number = Number(error.errno);
  return number >= 1000 && !lacks.has(number);
}

/** An attack of one statement or more: it succeeds when the server runs it. */
export function statement(client: Connection, text: string): Try {
  return { name: text, run: () => client.query(text) };
}

/** An attack that the server always answers: it succeeds when the answer names what it must not, as a word of its own. */
export function look(client: Connection, text: string, forbidden: string): Try {
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

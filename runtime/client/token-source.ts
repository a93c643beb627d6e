import { readFile } from 'node:fs/promises';
import type { Clock } from '../clock.ts';
import type { Connection } from './connection.ts';

/** The bearer token of a connection, if it has one. */
export interface TokenSource {
  current(): Promise<string | undefined>;
  /** The server refused the token. True if another call may return a different one. */
  refused(): boolean;
}

/** The kubelet renews a bound token when 80 % of its life are over, so a minute of staleness is safe. */
const rereadMs = 60_000;

/** A token that stays, or one that is read again from its file every minute and after a refusal. */
export function tokenSource(connection: Connection, clock: Clock): TokenSource {
  const { token, tokenFile } = connection;
  if (tokenFile === undefined) return { current: () => Promise.resolve(token), refused: () => false };
  let known: { readonly token: string; readonly readAt: number } | undefined;
  return {
    current: async () => {
      if (known === undefined || clock.monotonic() - known.readAt > rereadMs) {
        known = { token: (await readFile(tokenFile, 'utf8')).trim(), readAt: clock.monotonic() };
      }
      return known.token;
    },
    refused: () => {
      known = undefined;
      return true;
    },
  };
}

import { createHash } from 'node:crypto';

/** A longer user would leave no room for the rest of the name. */
const longestUser = 40;

/** How the names of a user's copy logins begin. No tenancy's user has a full stop in its name, so none is mistaken for one. */
export function copyLoginPrefix(user: string): string {
  const short = user.length <= longestUser ? user : `~${createHash('sha256').update(user).digest('hex').slice(0, 32)}`;
  return `steward.copy.${short}.`;
}

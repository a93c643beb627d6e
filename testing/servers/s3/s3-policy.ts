import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

interface Policy {
  readonly Version: string;
  readonly Statement: readonly { readonly Resource: string }[];
}

const page = join(import.meta.dirname, '../../../docs/how-to/back-up.md');

/** The policy that the page about backups shows, for a bucket, a prefix in it, and a user. Throws when the page shows none. */
export async function shownS3Policy(bucket: string, prefix: string, user: string): Promise<object> {
  const [, text] = /```json\n(.*?)```/s.exec(await readFile(page, 'utf8')) ?? [];
  if (text === undefined) throw new Error(`${page} shows no policy`);
  const { Version, Statement } = JSON.parse(
    text.replaceAll('my-backups/steward/', `my-backups/${prefix}/`).replaceAll('my-backups', bucket),
  ) as Policy;
  // A policy of a bucket names the user; one of a user does not.
  return { Version, Statement: Statement.map((statement) => ({ ...statement, Principal: { AWS: [user] } })) };
}

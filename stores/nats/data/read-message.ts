import type { NatsClient } from '../client.ts';
import { isRefusal } from '../errors.ts';

/** The bytes of one message of a stream; undefined if it no longer exists. */
export async function readMessage(client: NatsClient, stream: string, seq: number): Promise<Uint8Array | undefined> {
  const attempt = `read a message of ${stream}`;
  const query = { seq };
  const message = await client.request(attempt, `$JS.API.DIRECT.GET.${stream}`, JSON.stringify(query));
  if ((message.headers?.code ?? 0) === 0) return message.data;
  try {
    // A copy may not have it yet: the leader knows.
    const answer = await client.api<{ message: { data?: string } }>(attempt, `STREAM.MSG.GET.${stream}`, query);
    return Buffer.from(answer.message.data ?? '', 'base64');
  } catch (error) {
    if (isRefusal(error, 'noMessage')) return undefined;
    throw error;
  }
}

import { writeFile } from 'node:fs/promises';

import type { Harness } from '../harness.ts';

/**
 * Lets the machines and pods of these harnesses reach each other through the host, which otherwise forwards nothing. It holds for their
 * bridges alone, until it is disposed of.
 */
export async function forwardBetween(harnesses: readonly Harness[]): Promise<AsyncDisposable> {
  const forward = async (value: '0' | '1'): Promise<void> => {
    await Promise.all(
      harnesses.map(({ network: { bridge } }) => writeFile(`/proc/sys/net/ipv4/conf/${bridge}/forwarding`, value)),
    );
  };
  await forward('1');
  return { [Symbol.asyncDispose]: () => forward('0') };
}

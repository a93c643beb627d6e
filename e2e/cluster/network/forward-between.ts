import { writeFile } from 'node:fs/promises';

import type { Harness } from '../harness.ts';

/**
 * Lets the machines and pods of these harnesses reach each other through the host, which otherwise forwards nothing. It holds for their
 * bridges alone, and goes with them.
 */
export async function forwardBetween(harnesses: readonly Harness[]): Promise<void> {
  await Promise.all(
    harnesses.map(({ network: { bridge } }) => writeFile(`/proc/sys/net/ipv4/conf/${bridge}/forwarding`, '1')),
  );
}

import { spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import path from 'node:path';

import { cgroupName } from './cgroup-plan.ts';
import { createCgroups } from './cgroups.ts';
import type { Harness } from '../harness.ts';
import type { ProcessIdentity } from './process-identity.ts';
import { identifyProcess } from './process-identity.ts';

/**
 * Starts a process of the host that outlives this one and ends with the harness: it lives in a cgroup of the harness.
 * @param name of the process in the harness; no machine may have the same.
 * @returns its identity, and the file that its output goes to.
 */
export async function startBackground(
  harness: Harness,
  name: string,
  command: readonly string[],
): Promise<{ readonly process: ProcessIdentity; readonly log: string }> {
  const log = path.join(harness.folder, `${name}.log`);
  const { enter, settle } = await createCgroups(harness.cgroups, cgroupName(harness.name, name));
  const files = settle.length > 0 ? settle : enter;
  const script = 'for file in $CGROUPS; do echo $$ > "$file"; done; exec "$@"';
  await using output = await open(log, 'a');
  const child = spawn('sh', ['-c', script, 'sh', ...command], {
    detached: true,
    stdio: ['ignore', output.fd, output.fd],
    env: { ...process.env, CGROUPS: files.join(' ') },
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  child.unref();
  const identity = child.pid === undefined ? undefined : await identifyProcess(child.pid);
  if (identity === undefined) throw new Error(`${command.join(' ')} ended at once; see ${log}`);
  return { process: identity, log };
}

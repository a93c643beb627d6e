import { readFile } from 'node:fs/promises';

import { openCluster } from '../../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../../runtime/client/kubeconfig.ts';
import { HostedTenants } from './hosted-tenants.ts';
import type { HostedCounts } from './hosted-tenants.ts';

/** What the process of the stand-in is asked; each question is answered with its number. */
export type StandInQuestion =
  | { readonly number: number; readonly what: 'counts' }
  | { readonly number: number; readonly what: 'down' | 'up'; readonly ids: readonly string[] };

export interface StandInAnswer {
  readonly number: number;
  /** Answers `counts`; the other questions are answered when they are done. */
  readonly counts?: HostedCounts;
}

/** Serves tenants of the management cluster of a kubeconfig until the process that started this one disconnects. */
async function main(kubeconfigPath: string): Promise<void> {
  const connection = parseKubeconfig(await readFile(kubeconfigPath, 'utf8'));
  const cluster = openCluster(connection, { name: 'management', connections: 32, userAgent: 'stand-in' });
  const hosted = new HostedTenants(cluster, (error) => {
    console.error(error);
    process.exit(1);
  });
  const answer = async (question: StandInQuestion): Promise<StandInAnswer> => {
    if (question.what === 'counts') return { number: question.number, counts: hosted.counts() };
    await hosted.setDown(question.ids, question.what === 'down');
    return { number: question.number };
  };
  process.on('message', (question: StandInQuestion) => {
    answer(question).then(
      (said) => process.send?.(said),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  });
  await hosted.start();
  process.send?.({ number: 0 } satisfies StandInAnswer);
}

if (process.send !== undefined) {
  // Without whom it serves it has nothing to do.
  process.on('disconnect', () => process.exit(0));
  await main(process.argv[2] ?? '');
}

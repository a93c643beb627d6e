import { setTimeout as pause } from 'node:timers/promises';

import { ApiError } from '../../e2e/cluster/api-connection.ts';
import type { ApiConnection } from '../../e2e/cluster/api-connection.ts';
import { KubernetesClient } from '../../e2e/cluster/kubernetes-client.ts';
import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import type { AttackResult } from './attack-result.ts';
import type { CpuBudget } from './cpu-budget.ts';
import type { QuotaCounts } from './flood-rows.ts';
import { WrittenData } from './written-data.ts';
import type { QuotaRoom } from './written-data.ts';

/** Requests under way at once, each over a connection of its own. */
const connections = 16;

/** So much longer than asked a flood lasts that is not denied, or has not yet tried all that it is to try. */
const mostTimes = 6;

/** How long writes are tried after all was deleted, and how often. */
const againWithinMs = 60_000;
const againEveryMs = 250;

/** The namespace of the hostile tenant in which everything is written. */
export const floodNamespace = 'flood';

/** A flood of one kind of object. */
export interface FloodOfWrites {
  readonly kubeconfig: string;
  readonly what: 'config maps' | 'large objects' | 'events';
  readonly ms: number;
  readonly room: QuotaRoom;
}

/** What became of it. */
export interface FloodedWrites extends AttackResult {
  readonly denied: number;
  readonly quota: Omit<QuotaCounts, 'isWithinQuota'>;
}

/** How large each object is, and how many are tried at least. The largest ConfigMap that an API server accepts has 1 MiB of data. */
const kinds: Readonly<Record<FloodOfWrites['what'], { readonly bytes: number; readonly attempts: number }>> = {
  'config maps': { bytes: 100, attempts: 100_000 },
  'large objects': { bytes: 1024 * 1024, attempts: 1 },
  events: { bytes: 100, attempts: 1 },
};

/** Writes as fast as the budget allows, until time, attempts and quota are over; then deletes all of it, and writes again. */
export async function floodWrites(flood: FloodOfWrites, budget: CpuBudget): Promise<FloodedWrites> {
  const { kubeconfig, what, ms, room } = flood;
  // One client would send all of it over one connection, by HTTP/2.
  const clients = Array.from({ length: connections }, () => new KubernetesClient(kubeconfig).connection);
  const plural = what === 'events' ? 'events' : 'configmaps';
  const path = `/api/v1/namespaces/${floodNamespace}/${plural}`;
  const { bytes, attempts } = kinds[what];
  const text = 'x'.repeat(bytes);
  const data = new WrittenData(room, text.length);
  const failures: string[] = [];
  const names: string[] = [];
  const began = Date.now();
  let sent = 0;
  const isOver = (): boolean => {
    const lasted = Date.now() - began;
    return lasted > mostTimes * ms || (lasted > ms && sent >= attempts && data.denied > 0);
  };
  await eachOf(clients, async (connection) => {
    while (!isOver()) {
      await budget.keep();
      sent += 1;
      const name = `flood-${sent}`;
      try {
        await connection.send({ method: 'POST', path, body: objectOf(plural, name, text) });
        names.push(name);
        data.accept(Date.now());
      } catch (error) {
        if (isDenied(error)) data.deny(Date.now());
        else {
          // It may have been written nevertheless.
          names.push(name);
          failures.push((error as Error).message);
        }
      }
    }
  });
  const endedAt = Date.now();
  let deleted = 0;
  let undeleted = 0;
  await eachOf(clients, async (connection) => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      await budget.keep();
      try {
        await connection.send({ method: 'DELETE', path: `${path}/${name}` });
        deleted += 1;
      } catch (error) {
        if (error instanceof ApiError && error.code === 404) continue;
        undeleted += 1;
        failures.push(`deletion: ${(error as Error).message}`);
      }
    }
  });
  const deletedAt = Date.now();
  const first = new KubernetesClient(kubeconfig).connection;
  let writesAgainAfterMs: number | undefined;
  while (writesAgainAfterMs === undefined && Date.now() - deletedAt < againWithinMs) {
    try {
      await first.send({ method: 'POST', path, body: objectOf(plural, `again-${endedAt}`, 'x') });
      writesAgainAfterMs = Date.now() - deletedAt;
    } catch (error) {
      if (!isDenied(error)) failures.push(`again: ${(error as Error).message}`);
      await pause(againEveryMs);
    }
  }
  const { accepted, denied, deniedAfterMs } = data;
  return {
    ...{ endedAt, accepted, denied, failures },
    quota: {
      ...(deniedAfterMs !== undefined && { deniedAfterMs }),
      ...{ deleted, undeleted },
      ...(writesAgainAfterMs !== undefined && { writesAgainAfterMs }),
    },
  };
}

async function eachOf(
  clients: readonly ApiConnection[],
  act: (connection: ApiConnection) => Promise<void>,
): Promise<void> {
  await Promise.all(clients.map(act));
}

function isDenied(error: unknown): boolean {
  return error instanceof ApiError && error.message.includes('has reached its quota');
}

function objectOf(plural: 'events' | 'configmaps', name: string, text: string): PlainObject {
  const metadata = { name, namespace: floodNamespace };
  if (plural === 'configmaps') return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text } };
  const involvedObject = { apiVersion: 'v1', kind: 'Namespace', name: floodNamespace, namespace: floodNamespace };
  return { apiVersion: 'v1', kind: 'Event', metadata, involvedObject, reason: 'Flood', type: 'Normal', message: text };
}

import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { BlockList } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { parseManifests } from '../harness/kubernetes-client.ts';
import type { PlainObject } from '../harness/kubernetes-client.ts';
import { attack, openIdle, seededRandom } from '../stage/hostile-connections.ts';
import type { HostilePort } from '../stage/hostile-connections.ts';
import { startStewardCluster } from '../stage/steward-cluster.ts';
import type { StewardCluster } from '../stage/steward-cluster.ts';
import { tell } from '../stage/tell.ts';
import { sendReviews } from '../stage/valid-reviews.ts';

const minutes = 60_000;
const idlePerPort = 1000;
const connections = 7200;
const sample = path.join(
  import.meta.dirname,
  '..',
  '..',
  'config',
  'samples',
  'steward_v1alpha1_tenantcontrolplane.yaml',
);
const webhook = '/mutate-steward-butlerlabs-dev-v1alpha1-tenantcontrolplane';
const seed = Number(process.env.STEWARD_HOSTILE_SEED ?? randomInt(2 ** 31));

let steward: StewardCluster;
let ports: readonly HostilePort[];
let object: PlainObject;

beforeAll(async () => {
  // The webhooks need no store.
  steward = await startStewardCluster(`ports-${process.pid}`, tell, { dataStore: undefined });
  const address = String((await manager()).status?.podIP);
  const own = new BlockList();
  const [network = '', bits] = steward.cluster.network.pods.split('/');
  own.addSubnet(network, Number(bits));
  if (!own.check(address)) throw new Error(`${address} is no pod of the harness`);
  ports = [
    { address, port: 9443, tls: true, path: webhook },
    { address, port: 8443, tls: true, path: '/metrics' },
    { address, port: 8081, tls: false, path: '/readyz' },
  ];
  [object = {}] = parseManifests(await readFile(sample, 'utf8'));
}, 10 * minutes);

afterAll(async () => {
  await steward[Symbol.asyncDispose]();
}, 2 * minutes);

async function manager(): Promise<PlainObject> {
  const pods = await steward.cluster.client.list('v1', 'Pod', 'steward-system', 'control-plane=controller-manager');
  const [pod, more] = pods;
  if (pod === undefined || more !== undefined) throw new Error(`one pod is needed, there are ${pods.length}`);
  return pod;
}

async function restarts(): Promise<unknown> {
  const { metadata, status } = await manager();
  const containers = (status?.containerStatuses ?? []) as readonly { readonly restartCount: number }[];
  return { uid: metadata?.uid, counts: containers.map(({ restartCount }) => restartCount) };
}

/** Resident memory of the manager's process, in MiB. */
async function residentMemory(): Promise<number> {
  for (const { pid } of await steward.cluster.machine.processes()) {
    const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '' /* it has ended */)).split('\0');
    if (!words.includes('/manager') || !words.includes('manager')) continue;
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? NaN) / 1024;
  }
  throw new Error('the manager does not run');
}

const reviewing = () => {
  const { address = '', port = 0 } = ports[0] ?? {};
  return sendReviews({ url: `https://${address}:${port}${webhook}?timeout=10s`, object, perSecond: 50 });
};

describe('The ports of the manager', () => {
  test(
    'bear ten thousand hostile connections while admission goes on answering',
    async () => {
      tell('seed', `STEWARD_HOSTILE_SEED=${seed}`);
      const random = seededRandom(seed);
      // What the process needs once, such as buffers and compiled code, is there before it is weighed.
      const warm = reviewing();
      await attack(ports, { count: 1500, atOnce: 64, random });
      expect((await warm.stop()).failures).toEqual([]);
      const before = { restarts: await restarts(), memory: await residentMemory() };

      const reviews = reviewing();
      const throughServer = steward.cluster.kubectl(['create', '--dry-run=server', '-f', sample]);
      const idle = await Promise.all(ports.map((port) => openIdle(port, idlePerPort)));
      await throughServer;
      tell('idle', `${idlePerPort} connections to each of ${ports.length} ports`);
      const outcome = await attack(ports, { count: connections, atOnce: 64, random });
      for (const end of idle) end();
      const counts = await reviews.stop();
      const codes = Object.fromEntries([...outcome].toSorted(([a], [b]) => a - b));
      tell('hostile', JSON.stringify(codes));
      tell('valid', `${counts.sent} sent, ${counts.failures.length} failed, p99 ${counts.p99Ms.toFixed(0)} ms`);

      expect(counts.failures).toEqual([]);
      expect(counts.p99Ms).toBeLessThan(1000);
      expect(await restarts()).toEqual(before.restarts);
      // Refused, hung up on, or told to come back later; nothing was answered with success or failed within.
      expect(Object.keys(codes).filter((code) => !/^(0|4\d\d|503)$/.test(code))).toEqual([]);

      const deadline = Date.now() + minutes;
      let memory = await residentMemory();
      while (memory > before.memory * 1.1 && Date.now() < deadline) {
        await pause(2000);
        memory = await residentMemory();
      }
      tell('memory', `${before.memory.toFixed(0)} MiB before, ${memory.toFixed(0)} MiB after`);
      expect(memory).toBeLessThanOrEqual(before.memory * 1.1);
    },
    6 * minutes,
  );
});

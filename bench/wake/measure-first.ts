import { setTimeout as pause } from 'node:timers/promises';

import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import { isCondition } from '../../e2e/framework/tenant-stage.ts';
import { installTraefik } from '../../e2e/framework/traefik.ts';
import { traefikArchive } from '../../e2e/tools/traefik-image.ts';
import { idleMachine } from '../footprint/idle.ts';
import { CallingClients } from './calling-clients.ts';
import type { CalledTenant } from './calling-clients.ts';
import { clientOf } from './client-of.ts';
import { edgeGateway, exposures, isRouted } from './exposures.ts';
import { Sleepers } from './sleepers.ts';
import { clientNames } from './wake-rows.ts';
import type { ClientName, EndpointType, FirstRow } from './wake-rows.ts';

const namespace = 'wake-first';

/** The processors are idle enough below this share, or after so many milliseconds. */
export const idleShare = 0.25;
export const idleWithinMs = 10_000;

/** A start by hand that is not answered ends the benchmark. */
const byHandWithinMs = 120_000;

const nameOf = (endpoint: EndpointType): string => endpoint.toLowerCase();

/**
 * Lets one client after the other call control planes that sleep, each through another kind of endpoint, and starts each by hand in the
 * same round. The pods of one end while the next is measured: they do nothing but wait then.
 */
export async function measureFirst(
  cluster: ManagementCluster,
  { endpoints, rounds }: { readonly endpoints: readonly EndpointType[]; readonly rounds: number },
): Promise<readonly FirstRow[]> {
  const { progress } = cluster.harness;
  await using sleepers = await Sleepers.open(cluster, namespace);
  const clients = await CallingClients.open(cluster);
  const router = endpoints.some(isRouted) ? await startRouter(cluster) : undefined;
  progress('wake, first', 'a tenant for each kind of endpoint');
  await sleepers.add(
    endpoints.map((endpoint) =>
      sleepers.stage.manifest(nameOf(endpoint), {
        controlPlane: { deployment: { replicas: 1 }, ...exposures[endpoint] },
      }),
    ),
  );
  const first = new FirstAnswers(sleepers, clients);
  for (const endpoint of endpoints) await first.prepare(endpoint, isRouted(endpoint) ? router : undefined);
  const rows: FirstRow[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const called: Called[] = [];
    for (const endpoint of endpoints) called.push(await first.asleep(endpoint, clientOf(endpoint, round)));
    for (const { busy, ...found } of called) {
      const byHand = await first.byHand(found.endpoint, found.client);
      const row: FirstRow = {
        ...{ stage: 'first', round: round + 1, ...found },
        ...{ byHandMs: byHand.ms, busyBefore: [busy, byHand.busy] },
      };
      progress(`first answer, round ${round + 1} of ${rounds}`, describe(row));
      rows.push(row);
    }
  }
  return rows;
}

/** Starts Traefik, which may have to be built first, with a Gateway. Returns its address. */
async function startRouter(cluster: ManagementCluster): Promise<string> {
  const { progress } = cluster.harness;
  await traefikArchive((line) => {
    progress('tools', line);
  });
  progress('wake, first', 'starting Traefik');
  const router = await installTraefik(cluster);
  await cluster.apply([edgeGateway(namespace)]);
  return router;
}

/** A first call, and how busy the processors were before it. */
type Called = Omit<FirstRow, 'stage' | 'round' | 'byHandMs' | 'busyBefore'> & { readonly busy: number };

class FirstAnswers {
  readonly #sleepers: Sleepers;
  readonly #clients: CallingClients;
  readonly #called = new Map<EndpointType, CalledTenant>();

  constructor(sleepers: Sleepers, clients: CallingClients) {
    this.#sleepers = sleepers;
    this.#clients = clients;
  }

  /** Lets each client call once, so that all of them know the API, and puts the control plane to sleep. */
  async prepare(endpoint: EndpointType, router: string | undefined): Promise<void> {
    const { stage } = this.#sleepers;
    this.#called.set(endpoint, await this.#clients.prepare(stage, nameOf(endpoint), router));
    for (const client of clientNames) await this.#untilAnswered(endpoint, client);
    await this.#sleepers.letSleep(nameOf(endpoint));
  }

  /** The first call of one that sleeps. Afterwards its pods are ended. */
  async asleep(endpoint: EndpointType, client: ClientName): Promise<Called> {
    const name = nameOf(endpoint);
    await this.#sleepers.untilAsleep(name);
    const busy = await idleMachine(idleShare, idleWithinMs);
    const { wakes } = await this.#sleepers.seen(name);
    const began = performance.now();
    const failure = await this.#clients.call(client, this.#of(endpoint)).then(
      () => undefined,
      (error: unknown) => (error as Error).message.slice(0, 500),
    );
    const answeredMs = performance.now() - began;
    // One that was not woken up does not become Ready.
    if (failure === undefined) await this.#sleepers.stage.waitFor(name, isCondition('Ready', 'True'));
    else this.#sleepers.stage.cluster.harness.progress(`${client} failed`, failure);
    const after = await this.#sleepers.seen(name);
    await this.#sleepers.stopByHand(name);
    const answer = failure === undefined ? { answeredMs } : { failure };
    return { endpoint, client, ...answer, wakes: after.wakes - wakes, busy };
  }

  /** The same by hand. Afterwards it is put to sleep. */
  async byHand(endpoint: EndpointType, client: ClientName): Promise<{ readonly ms: number; readonly busy: number }> {
    const name = nameOf(endpoint);
    await this.#sleepers.stage.untilNoPods(name);
    const busy = await idleMachine(idleShare, idleWithinMs);
    const began = performance.now();
    await this.#sleepers.startByHand(name);
    await this.#untilAnswered(endpoint, client);
    const ms = performance.now() - began;
    await this.#sleepers.letSleep(name);
    return { ms, busy };
  }

  /** Calls again until the endpoint leads to the pod, as a person would. */
  async #untilAnswered(endpoint: EndpointType, client: ClientName): Promise<void> {
    for (const latest = performance.now() + byHandWithinMs; ;) {
      try {
        await this.#clients.call(client, this.#of(endpoint));
        return;
      } catch (error) {
        if (performance.now() > latest) throw error;
      }
      await pause(50);
    }
  }

  #of(endpoint: EndpointType): CalledTenant {
    const called = this.#called.get(endpoint);
    if (called === undefined) throw new Error(`${endpoint} was not prepared`);
    return called;
  }
}

function describe({ endpoint, client, answeredMs, byHandMs, wakes, busyBefore }: FirstRow): string {
  const [asleep, byHand] = [answeredMs, byHandMs].map((ms) => (ms === undefined ? 'not' : (ms / 1000).toFixed(1)));
  const busy = busyBefore.map((share) => Math.round(share * 100)).join(' and ');
  return `${client} through ${endpoint}: answered after ${asleep ?? ''} s, by hand ${byHand ?? ''} s, ${wakes} wakes; ${busy} % busy before`;
}

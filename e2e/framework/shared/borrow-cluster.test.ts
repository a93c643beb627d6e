import { describe, expect, test } from '@jest/globals';

import type { ObjectAddress } from '../../cluster/kubernetes-client.ts';
import { borrowCluster } from './borrow-cluster.ts';
import type { SharedClusterSteps, SharedRecord } from './borrow-cluster.ts';

interface FakeCluster {
  readonly id: number;
  readonly state: Set<string>;
}

const line = ({ apiVersion, kind, namespace = '', name }: ObjectAddress): string =>
  `object ${apiVersion} ${kind} ${namespace}/${name}`;

/** A host on which clusters are started, in place of the real one. */
class FakeHost implements SharedClusterSteps<FakeCluster> {
  readonly done: string[] = [];
  readonly told: string[] = [];
  /** Lines of what does not go when it is asked to. */
  readonly stays = new Set<string>();
  up: FakeCluster | undefined;
  kept: SharedRecord | undefined;
  answers = true;
  #started = 0;
  #patience = 5;

  record(): Promise<SharedRecord | undefined> {
    return Promise.resolve(this.kept);
  }
  keep(record: SharedRecord): Promise<void> {
    this.kept = record;
    return Promise.resolve();
  }
  start(): Promise<FakeCluster> {
    this.#started += 1;
    this.done.push(`start ${this.#started}`);
    this.up = { id: this.#started, state: new Set(['machine management', 'store user root']) };
    return Promise.resolve(this.up);
  }
  attach(): Promise<FakeCluster> {
    if (this.up === undefined || !this.answers) return Promise.reject(new Error('it does not answer'));
    return Promise.resolve(this.up);
  }
  detach({ id }: FakeCluster): void {
    this.done.push(`detach ${id}`);
  }
  remove(): Promise<void> {
    if (this.up !== undefined) this.done.push(`remove ${this.up.id}`);
    this.up = undefined;
    this.kept = undefined;
    return Promise.resolve();
  }
  state({ state }: FakeCluster): Promise<readonly string[]> {
    return this.answers ? Promise.resolve([...state]) : Promise.reject(new Error('no route to host'));
  }
  clear(
    { state }: FakeCluster,
    what: { readonly objects: readonly ObjectAddress[]; readonly machines: readonly string[] },
  ): Promise<void> {
    for (const each of [...what.objects.map(line), ...what.machines.map((name) => `machine ${name}`)])
      if (!this.stays.has(each)) state.delete(each);
    return Promise.resolve();
  }
  wait(): Promise<boolean> {
    this.#patience -= 1;
    return Promise.resolve(this.#patience > 0);
  }
  log(step: string, detail: string): void {
    this.told.push(`${step}: ${detail}`);
  }
}

const tenant = 'object steward.butlerlabs.dev/v1alpha1 TenantControlPlane default/shop';

describe('the cluster that scenarios share', () => {
  test('is started by the first one, and used by the others', async () => {
    const host = new FakeHost();
    for (let scenario = 0; scenario < 3; scenario += 1) {
      await using borrowed = await borrowCluster(host);
      expect(borrowed.cluster.id).toBe(1);
    }
    expect(host.done).toEqual(['start 1', 'detach 1', 'detach 1', 'detach 1']);
    expect(host.kept).toEqual({ baseline: ['machine management', 'store user root'], isLent: false });
  });

  test('is given back with nothing of the scenario on it', async () => {
    const host = new FakeHost();
    {
      await using borrowed = await borrowCluster(host);
      for (const each of [tenant, 'object v1 Namespace /tenants', 'machine worker']) borrowed.cluster.state.add(each);
    }
    expect([...(host.up?.state ?? [])]).toEqual(['machine management', 'store user root']);
  });

  test('fails the scenario of which something stays, and is not given to the next one', async () => {
    const host = new FakeHost();
    host.stays.add(tenant);
    const first = await borrowCluster(host);
    first.cluster.state.add(tenant);
    await expect(first[Symbol.asyncDispose]()).rejects.toThrow(
      `left on the management cluster that scenarios share:\n+ ${tenant}`,
    );
    await using next = await borrowCluster(host);
    expect(next.cluster.id).toBe(2);
  });

  test.each([
    ['keys in the store', (state: Set<string>) => state.add('store key /registry/pods')],
    ['a user who is missing', (state: Set<string>) => state.delete('store user root')],
  ])('fails the scenario that leaves what cannot be cleared: %s', async (_, harm) => {
    const host = new FakeHost();
    const borrowed = await borrowCluster(host);
    harm(borrowed.cluster.state);
    await expect(borrowed[Symbol.asyncDispose]()).rejects.toThrow(/^This is left .*\n[+-] store /);
    expect(host.up).toBeUndefined();
  });

  test('is replaced when its last user never gave it back', async () => {
    const host = new FakeHost();
    await borrowCluster(host);
    await using next = await borrowCluster(host);
    expect(next.cluster.id).toBe(2);
    expect(host.done).toEqual(['start 1', 'remove 1', 'start 2']);
  });

  test('is replaced when it does not answer anymore', async () => {
    const host = new FakeHost();
    await (await borrowCluster(host))[Symbol.asyncDispose]();
    host.attach = () => Promise.reject(new Error('no route to host'));
    await using next = await borrowCluster(host);
    expect(next.cluster.id).toBe(2);
    expect(host.told).toEqual(['shared cluster: is replaced: no route to host']);
  });

  test('is removed at once when it does not answer its first user', async () => {
    const host = new FakeHost();
    host.answers = false;
    await expect(borrowCluster(host)).rejects.toThrow('no route to host');
    expect(host.done).toEqual(['start 1', 'remove 1']);
  });

  test('fails a scenario after which it does not answer', async () => {
    const host = new FakeHost();
    const borrowed = await borrowCluster(host);
    host.answers = false;
    await expect(borrowed[Symbol.asyncDispose]()).rejects.toThrow('it does not answer: no route to host');
    expect(host.up).toBeUndefined();
  });

  test('is given back once, however often that is called', async () => {
    const host = new FakeHost();
    const borrowed = await borrowCluster(host);
    await borrowed[Symbol.asyncDispose]();
    await borrowed[Symbol.asyncDispose]();
    expect(host.done).toEqual(['start 1', 'detach 1']);
  });
});

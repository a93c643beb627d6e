import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../../api/core/kinds.ts';
import { parseKubeconfig } from '../../../../kubeadm/kubeconfig.ts';
import { publicHalf } from '../../../../kubeadm/pki/public-keys.ts';
import {
  ask,
  isTrusted,
  operate,
  publishAuthorities,
  rotationOf,
  secretValues,
  settleRotation,
} from '../../../../testing/worlds/rotating-tenant.ts';
import { tenantShape } from '../../../../testing/worlds/tenant-shape.ts';
import { settledWorlds } from '../../../../testing/worlds/settled-worlds.ts';
import { TenantWorld } from '../../../../testing/worlds/tenant-world.ts';
import { crashPoints } from '../../../../testing/worlds/crash-points.ts';

const start = 'rotate-credentials-start';
const complete = 'rotate-credentials-complete';

const running = settledWorlds(
  () => new TenantWorld(),
  async (world) => {
    await world.create();
    await settleRotation(world);
  },
);

/** What pods that run have read: they know nothing of later changes of their Secrets. */
interface Known {
  readonly trusted: string;
  readonly verifying: string;
}

async function stored(world: TenantWorld): Promise<Known> {
  const ca = await secretValues(world, 'ca');
  const { 'sa.pub': verifying = '' } = await secretValues(world, 'sa-certificate');
  return { trusted: ca['ca-bundle.crt'] ?? ca['ca.crt'] ?? '', verifying };
}

/**
 * Checks after every write which clients could not connect anymore. Pods of two templates answer while one replaces the
 * other.
 */
async function watchFor(world: TenantWorld, old: { readonly ca: string; readonly token: string }) {
  const errors: string[] = [];
  let pods = [await stored(world)];
  let isCompleting = false;
  world.cluster.after(async (call) => {
    if (call.kind?.kind === 'Deployment' && call.verb === 'apply') {
      const now = await stored(world);
      // The newest took over from the one before, which had done so before this one came.
      pods = [...pods.slice(-1), now];
    }
    if (call.kind?.kind !== 'Secret') return;
    const admin = parseKubeconfig((await secretValues(world, 'admin-kubeconfig'))['admin.conf'] ?? '');
    const served = (await secretValues(world, 'api-server-certificate'))['apiserver.crt'] ?? '';
    const signing = publicHalf((await secretValues(world, 'sa-certificate'))['sa.key'] ?? '', 'sa.key').trim();
    for (const { trusted, verifying } of pods) {
      if (!isTrusted(admin.client.certificate, trusted)) errors.push('an administrator is not known to a pod');
      if (!verifying.includes(signing)) errors.push('a new token is not known to a pod');
    }
    if (isCompleting) return;
    const now = await stored(world);
    if (!isTrusted(served, old.ca)) errors.push('a worker does not know the API server');
    if (!now.trusted.includes(old.ca.trim())) errors.push('a worker is not known anymore');
    if (!now.verifying.includes(old.token)) errors.push('an old token is not known anymore');
  });
  return { errors, completing: () => void (isCompleting = true) };
}

/** The numbers of those calls of `work` that change something: a death after any other one is a death before the next. */
async function changesOf(world: TenantWorld, work: () => Promise<unknown>): Promise<readonly number[]> {
  const { length } = world.cluster.calls;
  const found: number[] = [];
  let before = await world.writes();
  const forget = world.cluster.after(async () => {
    const now = await world.writes();
    if (now !== before) found.push(world.cluster.calls.length - length);
    before = now;
  });
  await work();
  forget();
  return found;
}

/** Dies after so many calls, of which the last takes effect without an answer, and starts again. */
async function survive(world: TenantWorld, calls: number): Promise<void> {
  world.cluster.crashAfter(calls, { losesAnswer: true });
  for (let reconciles = 0; reconciles < 20 && !world.cluster.crashed; reconciles += 1) {
    await world.reconcile();
    await publishAuthorities(world);
  }
  world.restart();
  await settleRotation(world);
}

async function oldOnes(world: TenantWorld): Promise<{ readonly ca: string; readonly token: string }> {
  const { trusted, verifying } = await stored(world);
  return { ca: trusted, token: verifying.trim() };
}

describe('A manager that dies during a rotation', () => {
  test('after any change leads to the same objects, creates no second CA and locks out no client', async () => {
    const model = await running();
    const starting = await changesOf(model, () => operate(model, start));
    const prepared = await tenantShape(model);
    const completing = await changesOf(model, () => operate(model, complete));
    const completed = await tenantShape(model);
    expect(starting.length).toBeGreaterThan(15);
    expect(completing.length).toBeGreaterThan(10);
    expect(completing.length).toBeLessThanOrEqual(starting.length);
    const starts = crashPoints(starting, 'start of a rotation');
    const ends = crashPoints(completing, 'completion of a rotation');
    for (const [index, call] of starts.entries()) {
      const world = await running();
      const watcher = await watchFor(world, await oldOnes(world));
      const seen = new Set<string>();
      world.cluster.after(async ({ kind }) => {
        if (kind?.kind === 'Secret') seen.add((await secretValues(world, 'ca'))['ca.crt'] ?? '');
      });
      await ask(world, start);
      await survive(world, call);
      expect({ call, shape: await tenantShape(world) }).toEqual({ call, shape: prepared });
      const last = ends[index];
      if (last !== undefined) {
        watcher.completing();
        await ask(world, complete);
        await survive(world, last);
        expect(await rotationOf(world)).toMatchObject({ phase: 'Completed' });
        expect({ last, shape: await tenantShape(world) }).toEqual({ last, shape: completed });
      }
      expect({ call, authorities: seen.size, errors: watcher.errors }).toEqual({
        call,
        authorities: 2,
        errors: [],
      });
    }
  }, 900_000);
});

describe('A client of the tenant', () => {
  test('that knows only the old CA is served until the rotation is completed, and not afterwards', async () => {
    const world = await running();
    const old = await oldOnes(world);
    await operate(world, start);
    const served = async (): Promise<string> =>
      (await secretValues(world, 'api-server-certificate'))['apiserver.crt'] ?? '';
    expect(isTrusted(await served(), old.ca)).toBe(true);
    await operate(world, complete);
    expect(isTrusted(await served(), old.ca)).toBe(false);
    const { trusted, verifying } = await stored(world);
    expect(trusted).not.toContain(old.ca.trim());
    expect(verifying).not.toContain(old.token);
    const key = { namespace: 'default', name: 'tenant-ca' };
    expect(await world.cluster.admin.get(kinds.Secret, key)).toBeDefined();
  });
});

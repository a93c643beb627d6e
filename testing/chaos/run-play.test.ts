import { describe, expect, jest, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import type { KindRef } from '../../api/meta.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { UnreachableError } from '../../runtime/client/errors.ts';
import type { Fault } from './faults/fault.ts';
import { faults } from './faults/faults.ts';
import { create } from './plays/create.ts';
import { upgrade } from './plays/upgrade.ts';
import type { Play } from './plays/play.ts';
import { expectedOf, prepare } from './run-attempt.ts';
import { runPlay } from './run-play.ts';
import type { PlayRun } from './run-play.ts';
import { sumOf } from './report/play-result.ts';

jest.setTimeout(180_000);

const named = (name: string): readonly Fault[] => faults.filter((fault) => fault.name === name);

/** A run and what it has told. */
async function ran(play: Play, run: Partial<PlayRun> & Pick<PlayRun, 'faults'>) {
  const told: string[] = [];
  const result = await runPlay(play, { seed: 5, tell: (text) => told.push(text), ...run });
  return { result, told, ...sumOf(result) };
}

/** A client that writes no object of one kind anymore after its first failure, and pretends that it did. */
function forgetful(cluster: Cluster, { kind }: KindRef): Cluster {
  let hasFailed = false;
  return {
    ...cluster,
    apply: async (wanted, manifest, options) => {
      if (hasFailed && wanted.kind === kind) return manifest as never;
      try {
        return await cluster.apply(wanted, manifest, options);
      } catch (error) {
        hasFailed ||= error instanceof UnreachableError;
        throw error;
      }
    },
  };
}

/** A client that creates an object of one kind again, under another name, when the answer was lost. */
function doubling(cluster: Cluster, { kind }: KindRef): Cluster {
  return {
    ...cluster,
    apply: async (wanted, manifest, options) => {
      try {
        return await cluster.apply(wanted, manifest, options);
      } catch (error) {
        if (wanted.kind === kind && error instanceof UnreachableError) {
          const again = { ...manifest.metadata, name: `${manifest.metadata.name}-again` };
          await cluster.apply(wanted, { ...manifest, metadata: again }, options);
        }
        throw error;
      }
    },
  };
}

/** The number of the first call that is this one. */
async function callNumber(play: Play, text: string): Promise<number> {
  const { calls } = await expectedOf(await prepare(play, 5));
  const found = calls.findIndex((call) => call.text === text);
  if (found < 0) throw new Error(`${play.name} does not ${text}`);
  return found + 1;
}

describe('A run with faults', () => {
  test('converges, and loses and doubles nothing', async () => {
    const { injected, converged, leftOver, lost, result, told } = await ran(upgrade, { faults, sample: 14 });
    expect({ converged, leftOver, lost, told }).toEqual({ converged: injected, leftOver: 0, lost: 0, told: [] });
    expect(injected).toBe(14);
    expect(result.breaches).toBe(0);
    expect(result.calls).toBeGreaterThan(40);
  });

  test('finds a manager that forgets an object when it tries again, and prints how to repeat that', async () => {
    const call = await callNumber(create, 'apply Service default/tenant');
    const { told, result, converged } = await ran(create, {
      ...{ faults: named('cut'), call },
      spoil: (cluster) => forgetful(cluster, kinds.ConfigMap),
    });
    expect({ breaches: result.breaches, converged }).toEqual({ breaches: 1, converged: 0 });
    expect(told.join('\n')).toContain(`breach: --play create --fault cut --call ${call} --seed 5 (apply Service`);
    expect(told.join('\n')).toContain('missing: management ConfigMap default/tenant-kubeadmconfig');
  });

  test('finds a manager that creates an object twice when an answer is lost', async () => {
    const call = await callNumber(create, 'apply ConfigMap default/tenant-kubeadmconfig');
    const { told, leftOver } = await ran(create, {
      ...{ faults: named('lost-response'), call },
      spoil: (cluster) => doubling(cluster, kinds.ConfigMap),
    });
    expect(leftOver).toBe(1);
    expect(told.join('\n')).toContain('left over: management ConfigMap default/tenant-kubeadmconfig-again');
  });

  test('finds an acknowledged write that is gone', async () => {
    const careless: Fault = {
      ...{ name: 'careless', about: 'a write is gone', applies: () => true },
      strike: async ({ world }, send) => {
        (await world.dataInUse())?.log.splice(-3);
        return send();
      },
    };
    const { told, lost } = await ran(upgrade, { faults: [careless], call: 5 });
    expect(lost).toBeGreaterThan(0);
    expect(told.join('\n')).toMatch(/lost: configmaps\/default\/[abc] is \w+, not \d+/);
  });

  test('is refused for a call that there is not', async () => {
    await expect(ran(create, { faults, call: 9999 })).rejects.toThrow(/create has \d+ calls, and none/);
  });
});

import { mkdir } from 'node:fs/promises';
import path from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import type { PlainObject } from '../../cluster/kubernetes-client.ts';
import { openHowTo } from '../how-to-page.ts';
import type { HowToPage } from '../how-to-page.ts';
import { kubectlTimeout } from '../kubectl-timeout.ts';
import { underLoad } from '../load/under-load.ts';
import { logStep } from '../log.ts';
import { minutes } from '../minutes.ts';
import type { StoreTrial } from '../store-trials.ts';
import { etcdImageArchive } from '../../tools/store-images.ts';
import { resolveTools } from '../../tools/resolve.ts';
import { webPod } from '../web-pod.ts';
import { joinByHand } from '../workers/tenant-worker.ts';
import { podRuns, storeNamespace as namespace } from './store-stage.ts';
import type { StoreStage } from './store-stage.ts';

/** The containers that know the store. The others end when they cannot renew their leases, which a restarted store may bring about. */
const knowsStore = (container: string): boolean => ['kube-apiserver', 'kine'].includes(container);

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;

/** The scenarios of one quick-start store: its page is followed from the first command to the last, with tenants on it. */
export function describeStoreTrial(trial: StoreTrial, opened: () => StoreStage): void {
  let on: StoreStage;

  beforeAll(() => {
    on = opened();
  });

  describe(`The quick start of ${trial.store}`, () => {
    const [first, second, third] = ['a', 'b', 'c'].map((letter) => `${trial.store}-${letter}`) as [
      string,
      string,
      string,
    ];
    const storeSelector = `app.kubernetes.io/name=${trial.statefulSet},app.kubernetes.io/component!=bootstrap`;
    const storePods = (): Promise<readonly PlainObject[]> =>
      on.cluster.client.list('v1', 'Pod', namespace, storeSelector);
    let page: HowToPage;
    let empty: readonly string[];

    test(
      'creates a DataStore that becomes Ready, also with a manifest of the Go Steward',
      async () => {
        page = await openHowTo(on.cluster, trial.page);
        await on.loadImage(trial.image);
        const began = performance.now();
        await page.run('Quick start');
        logStep(trial.store, `is Ready after ${seconds(began)}`);
        if (trial.hasUsers) await on.takesTheirs(trial.dataStore);
        empty = await trial.witness(on.cluster);
        logStep(trial.store, `holds in MiB while it is empty: ${await on.memory(await storePods())}`);
      },
      6 * minutes,
    );

    test(
      'serves two tenants, and a worker of one runs a pod',
      async () => {
        const began = performance.now();
        await on.cluster.apply([on.tenant(trial, first, true), on.tenant(trial, second)]);
        const [{ controlPlaneEndpoint = '' }] = (await Promise.all(
          [first, second].map((name) => on.stage.waitFor(name, 'Ready')),
        )) as [{ controlPlaneEndpoint?: string }, unknown];
        logStep(trial.store, `serves two tenants after ${seconds(began)}`);
        await Promise.all([first, second].map((name) => on.serves(name, 'before')));
        const worker = await joinByHand(on.stage, {
          tenant: first,
          endpoint: controlPlaneEndpoint,
          worker: `${trial.store}-w`,
        });
        const client = await on.stage.open(first);
        await client.apply([webPod('web')]);
        await client.waitFor({ apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'web' }, 'Ready', {
          timeoutMs: 2 * minutes,
          diagnose: () => worker.machine.lastWords(),
        });
        await worker.stop();
        logStep(trial.store, `holds in MiB with two tenants: ${await on.memory(await storePods())}`);
        logStep(first, `holds in MiB: ${await on.memory(await on.stage.pods(first))}`);
        expect(await trial.witness(on.cluster)).not.toEqual(empty);
      },
      6 * minutes,
    );

    test(
      'serves the same pods after the datastore was restarted',
      async () => {
        const pods = [await podUids(first), await podUids(second)];
        const before = podRuns(await storePods());
        const began = performance.now();
        await page.run('Restart it');
        logStep(trial.store, `was restarted in ${seconds(began)}`);
        expect(podRuns(await storePods())).not.toBe(before);
        await Promise.all([first, second].map((name) => on.serves(name, 'after-restart')));
        logStep(trial.store, `tenants write again ${seconds(began)} after the restart began`);
        for (const name of [first, second]) {
          const at = { apiVersion: 'v1', kind: 'ConfigMap', name: 'before', namespace: 'default' };
          // The Service may leave out an API server for a moment after its store was back.
          await (await on.stage.open(name)).waitFor(at, (object) => object?.data?.of === name);
          await on.stage.waitFor(name, 'Ready');
        }
        expect([await podUids(first), await podUids(second)]).toEqual(pods);
      },
      6 * minutes,
    );

    test(
      'uses new credentials of its administrator without a restart of manager or tenants',
      async () => {
        const tenants = async (): Promise<string> =>
          podRuns([...(await on.stage.pods(first)), ...(await on.stage.pods(second))], knowsStore);
        const before = await tenants();
        expect(before).toContain('kube-apiserver');
        await page.run(trial.rotation);
        // A tenant is made with the new credentials only.
        await on.cluster.apply([on.tenant(trial, third)]);
        await on.stage.waitFor(third, 'Ready');
        await Promise.all([first, second, third].map((name) => on.serves(name, 'after-rotation')));
        expect(await tenants()).toBe(before);
        expect(await on.managerRuns()).toBe(on.manager);
      },
      6 * minutes,
    );

    if (trial.insistsOnTls) {
      test(
        'can require TLS, and its tenants continue with it',
        async () => {
          const tenants = [first, second, third];
          const pods = (await Promise.all(tenants.map((name) => on.stage.pods(name)))).flat();
          const began = performance.now();
          await page.run('Require TLS');
          await Promise.all(pods.map(({ metadata }) => on.stage.gone(on.stage.at('Pod', metadata?.name ?? ''))));
          await Promise.all(tenants.map((name) => on.stage.waitFor(name, 'Ready')));
          logStep(trial.store, `its tenants have TLS after ${seconds(began)}`);
          await page.run('Require TLS');
          logStep(trial.store, `insists on TLS and is Ready after ${seconds(began)}`);
          await Promise.all(tenants.map((name) => on.serves(name, 'after-tls')));
          logStep(trial.store, `tenants write over TLS after ${seconds(began)}`);
        },
        6 * minutes,
      );
    }

    if (trial.care !== undefined) {
      const { page: careful, release } = trial.care;
      test(
        'is upgraded while a tenant is used, whose calls succeed at once or when repeated, and refuses a version out of reach',
        async () => {
          const { etcdctl } = await resolveTools(['etcdctl']);
          const folder = path.join(on.cluster.harness.folder, 'care');
          await mkdir(folder);
          const care = await openHowTo(on.cluster, careful, { programs: [etcdctl], folder });
          const progress = (line: string): void => {
            logStep(trial.store, line);
          };
          await on.cluster.loadImage((await etcdImageArchive(release, { progress })).path);
          logStep(trial.store, await care.run('What to watch'));
          logStep(trial.store, await care.run('Call etcdctl'));
          const statefulSet = `statefulset/${trial.statefulSet}`;
          const skipping = ['-n', namespace, 'set', 'image', statefulSet, 'etcd=registry.k8s.io/etcd:3.8.1-0'];
          await expect(on.kubectl(skipping)).rejects.toThrow(/skips 3\.7: the format of the data is that of 3\.6/);
          const pods = [await podUids(first), await podUids(second)];
          const kubeconfig = await on.stage.kubeconfig(first);
          // etcd drops writes that are under way to a leader that hands over.
          const users = { title: first, kubeconfig, floor: on.cluster.client, onceMoreAfterMs: 1000 };
          const { load, servers } = await underLoad(users, async () => {
            const began = performance.now();
            logStep(trial.store, await care.run('Upgrade it'));
            logStep(trial.store, `was upgraded in ${seconds(began)}`);
          });
          expect([...load.failedWrites, ...load.failedReads, ...servers.failed]).toEqual([]);
          expect([await podUids(first), await podUids(second)]).toEqual(pods);
          expect(care.untried).toEqual([]);
          expect(await on.managerRuns()).toBe(on.manager);
        },
        6 * minutes,
      );
    }

    test(
      'contains no data of deleted tenants, and is removed completely',
      async () => {
        const began = performance.now();
        await on.kubectl(['-n', 'tenants', 'delete', 'tcp', first, second, third, kubectlTimeout(120)]);
        logStep(trial.store, `its tenants were deleted in ${seconds(began)}`);
        expect(await trial.witness(on.cluster)).toEqual(empty);
        await page.run('Remove it');
        const kinds =
          'statefulsets,pods,services,configmaps,secrets,jobs,cronjobs,persistentvolumeclaims,networkpolicies';
        const left = ['-n', namespace, 'get', kinds, '-l', `app.kubernetes.io/name=${trial.statefulSet}`, '-o', 'name'];
        await on.kubectl([
          '-n',
          namespace,
          'wait',
          'pods',
          '-l',
          `app.kubernetes.io/name=${trial.statefulSet}`,
          '--for=delete',
        ]);
        expect(await on.kubectl(left)).toBe('');
        // Servers of one's own are tried by tests beside the drivers, the single user of NATS below.
        expect(page.untried.filter((heading) => !/^(Bring your own|One user)/.test(heading))).toEqual([]);
      },
      6 * minutes,
    );

    async function podUids(name: string): Promise<readonly (string | undefined)[]> {
      return (await on.stage.pods(name)).map(({ metadata }) => metadata?.uid);
    }
  });
}

import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, request } from 'node:https';
import type { Server } from 'node:https';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import {
  activatorComponent,
  activatorObjects,
  activatorPorts,
  annotations,
  labels,
  ports,
  stewardGroup,
} from '../../api/names.ts';
import type { SleepStatus } from '../../api/steward/v1alpha1/sleep/sleep-status.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ScheduleAnswers } from '../../controllers/tenantcontrolplane/sleep/schedule-answers.ts';
import { sleepDecision } from '../../controllers/tenantcontrolplane/sleep/sleep-decision.ts';
import {
  WakeRequestsOf,
  wakeRequestWatch,
} from '../../controllers/tenantcontrolplane/sleep/waking/wake-requests-of.ts';
import { InformerFactory } from '../../runtime/cache/informer-factory.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { openCluster } from '../../runtime/client/http-cluster.ts';
import { tenantControlPlaneWith } from '../../testing/builders/tenant-control-plane.ts';
import { startActivatorProcess } from '../../testing/servers/activator/activator-process.ts';
import type { ActivatorProcess } from '../../testing/servers/activator/activator-process.ts';
import { apiServerUnderTest } from '../../testing/servers/api-server-under-test.ts';
import type { ApiServerAccess } from '../../testing/servers/api-server.ts';
import { freePorts } from '../../testing/servers/free-ports.ts';
import { loopbackPair, serverCa } from '../../testing/servers/server-certificates.ts';
import { startTcpProxy } from '../../testing/servers/tcp-proxy.ts';
import type { TcpProxy } from '../../testing/servers/tcp-proxy.ts';
import { ownAddress } from '../../testing/builders/own-address.ts';

// Two activators as processes beside a real API server. One is killed in the middle of a wake; its caller calls again, and reaches the
// other one, as through a Service.
const namespace = 'killed-activator';
const tenants = 'killed-activator-tenants';
const long = 120_000;

let server: ApiServerAccess;
let admin: Cluster;
let informers: InformerFactory;
let folder: string;
let other: ActivatorProcess;
/** Between the first activator and the API server. */
let way: TcpProxy;

beforeAll(async () => {
  server = await apiServerUnderTest();
  const { url, ca, adminCertificate, adminKey } = server;
  admin = openCluster({ server: url, ca, clientCert: adminCertificate, clientKey: adminKey }, { name: 'management' });
  for (const name of [namespace, tenants])
    await admin.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  for (const name of [activatorObjects.ports, activatorObjects.wakeRequests])
    await admin.create(kinds.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name } });
  informers = new InformerFactory({ cluster: admin });
  folder = await mkdtemp(join(tmpdir(), 'killed-activator-'));
  way = await startTcpProxy(Number(new URL(url).port));
  other = await started('127.0.0.2', server.kubeconfigPath);
}, long);

afterAll(async () => {
  await other[Symbol.asyncDispose]();
  await way[Symbol.asyncDispose]();
  await informers.close();
  await admin.close();
  await rm(folder, { recursive: true, force: true });
}, long);

function started(host: string, kubeconfigPath: string): Promise<ActivatorProcess> {
  return startActivatorProcess({ kubeconfigPath, namespace, host, log: join(folder, `${host}.log`) });
}

/** The first activator, which reaches the API server on its way alone. */
async function first(): Promise<ActivatorProcess> {
  const path = join(folder, 'kubeconfig');
  const direct = await readFile(server.kubeconfigPath, 'utf8');
  await writeFile(path, direct.replace(new URL(server.url).port, String(way.port)));
  return started('127.0.0.1', path);
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((next) => setImmediate(next));
}

const hours = (count: number): Date => new Date(Date.now() + count * 3_600_000);
const daily = (time: Date): string => `${time.getUTCMinutes()} ${time.getUTCHours()} * * *`;

/** A control plane that sleeps, with the manager's decisions about it, and with its pod. */
class Scene {
  readonly port: number;
  readonly asked = Promise.withResolvers<undefined>();
  readonly dialed = Promise.withResolvers<undefined>();
  readonly called = Promise.withResolvers<undefined>();
  readonly activator: ActivatorProcess;
  readonly #tcp: TenantControlPlane;
  readonly #ca: string;
  readonly #pod: Server;
  readonly #answers = new ScheduleAnswers();
  readonly #requests = new WakeRequestsOf({ cluster: admin, informers, namespace, clock: systemClock });
  readonly #ends: (() => unknown)[] = [];
  #isReleased = false;
  #sleep: SleepStatus;

  private constructor(parts: { name: string; port: number; ca: string; pod: Server; activator: ActivatorProcess }) {
    const { name, port, ca, pod, activator } = parts;
    this.port = port;
    this.activator = activator;
    this.#ca = ca;
    this.#pod = pod;
    const schedules = [{ sleep: daily(hours(-1)), wake: daily(hours(12)) }];
    this.#tcp = tenantControlPlaneWith({
      metadata: { name, namespace: tenants },
      spec: { sleep: { schedules, wakeOn: ['Request'] } },
    });
    const [since, firstReadyTime] = [hours(-1).toISOString(), hours(-2).toISOString()];
    this.#sleep = { state: 'Asleep', since, reason: 'Schedule', firstReadyTime, port };
    pod.on('connection', () => {
      this.dialed.resolve(undefined);
    });
    pod.on('request', (asked: IncomingMessage, answer: ServerResponse) => {
      const isProbe = asked.url === '/readyz';
      (isProbe ? this.asked : this.called).resolve(undefined);
      if (!isProbe) answer.write('answ');
      this.#ends.push(() => answer.end(isProbe ? 'ok' : 'ered'));
      if (this.#isReleased) this.release();
    });
  }

  /** Lets the pod answer, which until then answers nobody to the end. */
  release(): void {
    this.#isReleased = true;
    for (const end of this.#ends.splice(0)) end();
  }

  static async of(name: string): Promise<Scene> {
    const authority = await serverCa('ca of the tenant');
    const pair = await loopbackPair(authority, 'kube-apiserver', ['kubernetes']);
    const pod = createServer({ cert: pair.certificate, key: pair.key });
    pod.listen(0, '0.0.0.0');
    await once(pod, 'listening');
    const isInRange = (one: number): boolean => one >= activatorPorts.from && one <= activatorPorts.to;
    const port = (await freePorts(40)).find(isInRange) ?? 0;
    const key = { namespace, name: activatorObjects.ports };
    await admin.patch(kinds.ConfigMap, key, { type: 'merge', body: { data: { [port]: `${tenants}/${name}` } } });
    const scene = new Scene({ name, port, ca: authority.certificate, pod, activator: await first() });
    await scene.#slice({ name: `${name}-led`, component: activatorComponent, early: 'true' });
    await scene.#slice({ name: `${name}-1`, made: 'endpointslice-controller.k8s.io' });
    scene.#requests.isCalled(scene.#tcp.metadata, new Date());
    await informers.synced();
    return scene;
  }

  /** Calls, as soon as there is somebody at the address. Resolves with the answer, or with `lost`. */
  async call(host: string): Promise<string> {
    for (;;) {
      try {
        return await this.#answer(host);
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED')) return 'lost';
        await new Promise((next) => setImmediate(next));
      }
    }
  }

  async #answer(host: string): Promise<string> {
    const where = { host, port: this.port, path: '/version', ca: this.#ca, servername: 'kubernetes', agent: false };
    const sent = request(where).end();
    const [response] = (await once(sent, 'response')) as [AsyncIterable<Buffer>];
    let text = '';
    for await (const chunk of response) text += String(chunk);
    return text;
  }

  /** What the manager does when something is requested, from now on. */
  manage(): void {
    const decide = (): void => {
      const tcp = { ...this.#tcp, status: { sleep: this.#sleep } };
      const isCalled = this.#requests.isCalled(tcp.metadata, new Date());
      const facts = { answers: this.#answers, underWay: () => undefined, isCalled };
      this.#sleep = sleepDecision(tcp, new Date(), facts).status ?? this.#sleep;
    };
    informers.informer(wakeRequestWatch(namespace, informers)).subscribe(decide);
    decide();
  }

  get sleep(): SleepStatus {
    return this.#sleep;
  }

  isRequested(): boolean {
    return this.#requests.isCalled(this.#tcp.metadata, new Date());
  }

  /** What the controller of EndpointSlices says of the pod. */
  async serve(ready: boolean): Promise<void> {
    const conditions = { ready, serving: ready, terminating: false };
    const endpoints = [{ addresses: [ownAddress()], conditions }];
    const key = { namespace: tenants, name: `${this.#tcp.metadata.name}-1` };
    await admin.patch(kinds.EndpointSlice, key, { type: 'merge', body: { endpoints } });
  }

  async #slice(one: { name: string; component?: string; early?: string; made?: string }): Promise<void> {
    const { name, component = 'service', early, made = stewardGroup } = one;
    // Calls lead to both activators.
    const endpoints = component === activatorComponent ? [{ addresses: [ownAddress()] }] : [];
    await admin.create(kinds.EndpointSlice, {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        ...{ namespace: tenants, name },
        labels: {
          [labels.name]: this.#tcp.metadata.name,
          [labels.component]: component,
          'kubernetes.io/service-name': this.#tcp.metadata.name,
          'endpointslice.kubernetes.io/managed-by': made,
        },
        ...(early !== undefined && { annotations: { [annotations.passedEarly]: early } }),
      },
      addressType: 'IPv4',
      endpoints,
      ports: [{ name: ports.apiServer, port: (this.#pod.address() as AddressInfo).port, protocol: 'TCP' }],
    });
  }

  async end(): Promise<void> {
    way.thaw();
    await this.activator[Symbol.asyncDispose]();
    this.release();
    this.#pod.closeAllConnections();
    this.#pod.close();
  }
}

const scenes: Scene[] = [];
afterEach(async () => {
  for (const scene of scenes.splice(0)) await scene.end();
});

/** What becomes of a caller. In an object, because whoever waits for the moment does not wait for that. */
interface Caller {
  readonly answer: Promise<string>;
}

/** Lets a caller come, and resolves at a moment of the wake. */
type Moment = (scene: Scene) => Promise<Caller>;

const called = async (scene: Scene, reached: Promise<unknown>): Promise<Caller> => {
  const answer = scene.call(scene.activator.host);
  await reached;
  return { answer };
};

const moments: readonly (readonly [string, Moment])[] = [
  [
    'while it reads a hello',
    async ({ activator, port }) => {
      const socket = connect({ host: activator.host, port });
      const lost = new Promise<string>((resolve) => {
        socket.on('close', () => {
          resolve('lost');
        });
      });
      socket.on('error', () => socket.destroy());
      socket.write(Uint8Array.of(22, 3, 1));
      await until(async () => (await activator.metric('steward_activator_open_connections')) === 1);
      return { answer: lost };
    },
  ],
  [
    'before its request has reached the API server',
    async (scene) => {
      way.freeze();
      const answer = scene.call(scene.activator.host);
      await until(async () => (await scene.activator.metric('steward_activator_held_connections')) === 1);
      expect(scene.isRequested()).toBe(false);
      return { answer };
    },
  ],
  [
    'when it has requested the wake',
    (scene) =>
      called(
        scene,
        until(() => scene.isRequested()),
      ),
  ],
  [
    'while the pods are created',
    (scene) => {
      scene.manage();
      return called(
        scene,
        until(() => scene.sleep.state === 'Awake'),
      );
    },
  ],
  [
    'while it asks a pod that starts',
    async (scene) => {
      scene.manage();
      await scene.serve(false);
      return called(scene, scene.asked.promise);
    },
  ],
  [
    'when it has dialed a pod',
    async (scene) => {
      scene.manage();
      const answer = scene.call(scene.activator.host);
      await until(() => scene.sleep.state === 'Awake');
      await scene.serve(true);
      await scene.dialed.promise;
      return { answer };
    },
  ],
  [
    'in the middle of an answer',
    async (scene) => {
      scene.manage();
      const answer = scene.call(scene.activator.host);
      await until(() => scene.sleep.state === 'Awake');
      await scene.serve(true);
      await scene.called.promise;
      return { answer };
    },
  ],
];

describe('An activator that is killed', () => {
  test.each(moments)(
    '%s loses its connections, and nothing else: who calls again is answered, and the control plane wakes up once',
    async (name, moment) => {
      const scene = await Scene.of(`tenant-${moments.findIndex(([one]) => one === name)}`);
      scenes.push(scene);
      const { answer } = await moment(scene);
      await scene.activator.kill();
      expect(await answer).toBe('lost');
      scene.release();
      const again = scene.call(other.host);
      scene.manage();
      await until(() => scene.sleep.state === 'Awake');
      await scene.serve(true);
      expect(await again).toBe('answered');
      expect(scene.sleep).toMatchObject({ state: 'Awake', reason: 'Request', ended: { byRequest: 1 } });
    },
    long,
  );
});

test(
  'An activator that is terminated is unready, answers who calls it meanwhile, and ends at once with a second signal',
  async () => {
    const scene = await Scene.of('ending');
    scenes.push(scene);
    scene.manage();
    scene.release();
    const gone = scene.activator.terminate();
    await until(async () => !(await scene.activator.isReady()));
    const answer = scene.call(scene.activator.host);
    await until(() => scene.sleep.state === 'Awake');
    await scene.serve(true);
    expect(await answer).toBe('answered');
    await scene.activator.terminate();
    await gone;
  },
  long,
);

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { kinds } from '../../../api/core/kinds.ts';
import { parseKubeconfig } from '../../../kubeadm/kubeconfig.ts';
import type { KeyPair } from '../../../kubeadm/pki/key-pair.ts';
import { startEtcd } from '../../../testing/servers/etcd-server.ts';
import type { EtcdServer } from '../../../testing/servers/etcd-server.ts';
import { freePorts } from '../../../testing/servers/free-ports.ts';
import { startProcessPod } from '../../../testing/servers/process-pod.ts';
import type { ProcessPod } from '../../../testing/servers/process-pod.ts';
import { serverCa } from '../../../testing/servers/server-certificates.ts';
import { startLoopbackServer } from '../../../testing/servers/webhooks/loopback-server.ts';
import type { LoopbackServer, SeenRequest } from '../../../testing/servers/webhooks/loopback-server.ts';
import { startOidcIssuer } from '../../../testing/servers/webhooks/oidc-issuer.ts';
import type { OidcIssuer } from '../../../testing/servers/webhooks/oidc-issuer.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';

/** Who calls the API server: nobody in particular, the holder of a token, or of a certificate. */
interface Caller {
  readonly token?: string;
  readonly cert?: string;
  readonly key?: string;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** What an authorization webhook is asked. */
interface Review {
  readonly spec: { readonly user: string; readonly resourceAttributes?: { readonly resource?: string } };
}

let authority: KeyPair;
let etcd: EtcdServer;
let people: OidcIssuer;
let robots: OidcIssuer;
let strangers: OidcIssuer;
let guard: LoopbackServer;
let grants: LoopbackServer;
let sink: LoopbackServer;
let pod: ProcessPod;
let ca = '';
let administrator: Caller;
let scheduler: Caller;
const asked: { readonly by: string; readonly request: SeenRequest; readonly review: Review }[] = [];
const recorded: string[] = [];
let heard: (event: string) => void = () => undefined;
/** What the webhook before RBAC does with everybody else than mallory, whom it denies. */
let guardDoes: 'nothing' | 'deny' | 'hang' = 'nothing';

async function call(path: string, caller: Caller, body?: object, method = body === undefined ? 'GET' : 'POST') {
  const { token, cert, key } = caller;
  const outgoing = request(`https://127.0.0.1:${pod.port}${path}`, {
    method,
    agent: false,
    ca,
    cert,
    key,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
  });
  outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, body: await text(answer) } satisfies Answer;
}

/** Who the API server says that the caller is; or the status with which it refuses to say. */
async function whoIs(caller: Caller): Promise<unknown> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const { status, body } = await call('/apis/authentication.k8s.io/v1/selfsubjectreviews', caller, review);
  return status === 201
    ? (JSON.parse(body) as { readonly status: { readonly userInfo: object } }).status.userInfo
    : status;
}

const person = (sub: string, groups: readonly string[] = []): Caller => ({
  token: people.token({ aud: 'kubernetes', sub, groups }),
});

const decision = (allowed: boolean, denied: boolean): object => ({
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SubjectAccessReview',
  status: { allowed, denied, reason: 'the webhook says so' },
});

function ask(by: string, seen: SeenRequest): Review {
  const review = JSON.parse(seen.body) as Review;
  asked.push({ by, request: seen, review });
  return review;
}

async function kubeconfigOf(
  world: TenantWorld,
  suffix: string,
  key: string,
): Promise<Caller & { readonly ca: string }> {
  const content = Buffer.from((await world.secret(suffix))?.data?.[key] ?? '', 'base64').toString();
  const parsed = parseKubeconfig(content);
  return { ca: parsed.ca, cert: parsed.client.certificate, key: parsed.client.key };
}

beforeAll(async () => {
  authority = await serverCa('webhooks');
  etcd = await startEtcd();
  [people, robots, strangers] = await Promise.all([
    startOidcIssuer(authority),
    startOidcIssuer(authority),
    startOidcIssuer(authority),
  ]);
  guard = await startLoopbackServer(authority, (seen) => {
    const { user } = ask('guard', seen).spec;
    if (guardDoes === 'hang') return undefined;
    return decision(false, user === 'login:mallory' || guardDoes === 'deny');
  });
  grants = await startLoopbackServer(authority, (seen) => {
    const { user, resourceAttributes } = ask('grants', seen).spec;
    return decision(user === 'login:alice' && resourceAttributes?.resource === 'configmaps', false);
  });
  sink = await startLoopbackServer(authority, ({ body, authorization }) => {
    const { items } = JSON.parse(body) as { readonly items: readonly object[] };
    for (const item of items) {
      const event = JSON.stringify({ ...item, authorization });
      recorded.push(event);
      heard(event);
    }
    return {};
  });
  const world = new TenantWorld({ start: new Date() });
  world.podsStart = false;
  const [port = 0] = await freePorts(1);
  const seed = (name: string, token: string): Promise<unknown> =>
    world.cluster.seed(kinds.Secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: 'default' },
      data: { token: Buffer.from(token).toString('base64') },
    });
  await Promise.all([seed('guard-credentials', 'for-the-guard'), seed('audit-credentials', 'for-the-sink')]);
  const certificateAuthority = authority.certificate;
  await world.create({
    deployment: { replicas: 1 },
    networkProfile: { address: '127.0.0.1', port },
    kubernetes: {
      authentication: {
        jwt: [
          {
            issuer: { url: people.url, certificateAuthority, audiences: ['kubernetes', 'other'] },
            claimMappings: {
              username: { claim: 'sub', prefix: 'login:' },
              groups: { claim: 'groups', prefix: '' },
            },
          },
          {
            issuer: { url: robots.url, certificateAuthority, audiences: ['robots'] },
            claimValidationRules: [{ expression: "claims.project == 'steward'", message: 'another project' }],
            claimMappings: { username: { expression: 'claims.sub' } },
          },
        ],
      },
      authorization: {
        webhooks: [
          {
            name: 'guard',
            url: guard.url,
            certificateAuthority,
            credentialsSecretRef: { name: 'guard-credentials' },
            position: 'BeforeRBAC',
            failurePolicy: 'Deny',
            timeoutSeconds: 5,
            authorizedTTL: '1s',
            unauthorizedTTL: '1s',
          },
          { name: 'grants', url: grants.url, certificateAuthority },
        ],
      },
      audit: {
        policy: {
          omitStages: ['RequestReceived'],
          rules: [{ level: 'Metadata', resources: [{ group: '', resources: ['configmaps'] }] }, { level: 'None' }],
        },
        log: true,
        webhook: {
          url: `${sink.url}/events`,
          certificateAuthority,
          credentialsSecretRef: { name: 'audit-credentials' },
          batchMaxWaitSeconds: 1,
        },
      },
      admission: {
        podSecurity: { defaults: { enforce: 'restricted' }, exemptions: { namespaces: ['exempt'] } },
        eventRateLimit: { limits: [{ type: 'Namespace', qps: 1, burst: 1 }] },
      },
    },
  });
  await world.settle();
  const deployment = await world.deployment();
  if (deployment === undefined) throw new Error(await world.condition('ControlPlaneAvailable'));
  const admin = await kubeconfigOf(world, 'admin-kubeconfig', 'super-admin.conf');
  administrator = admin;
  scheduler = await kubeconfigOf(world, 'scheduler-kubeconfig', 'scheduler.conf');
  ca = admin.ca;
  pod = await startProcessPod({
    cluster: world.cluster.admin,
    deployment,
    etcd: etcd.endpoints,
    reader: { ca, cert: admin.cert, key: admin.key },
    address: '127.0.0.1',
  });
}, 300_000);

afterAll(async () => {
  await pod[Symbol.asyncDispose]();
  await Promise.all([people, robots, strangers, guard, grants, sink].map((server) => server[Symbol.asyncDispose]()));
  await etcd.stop();
}, 60_000);

describe('A real API server with two issuers', () => {
  test('knows the users and groups of both', async () => {
    expect(await whoIs(person('alice', ['team-a']))).toMatchObject({
      username: 'login:alice',
      groups: ['team-a', 'system:authenticated'],
    });
    const token = robots.token({ aud: 'robots', sub: 'robot', project: 'steward' });
    expect(await whoIs({ token })).toMatchObject({ username: 'robot' });
  });

  test.each<readonly [string, () => string]>([
    ['of another issuer', () => strangers.token({ aud: 'kubernetes', sub: 'alice' })],
    ['for another audience', () => people.token({ aud: 'somebody else', sub: 'alice' })],
    ['that a claim rule refuses', () => robots.token({ aud: 'robots', sub: 'robot', project: 'other' })],
    ['that has ended', () => people.token({ aud: 'kubernetes', sub: 'alice', exp: 1 })],
    ['with a user name of Kubernetes', () => robots.token({ aud: 'robots', sub: 'system:admin', project: 'steward' })],
    ['with a group of Kubernetes', () => people.token({ aud: 'kubernetes', sub: 'alice', groups: ['system:masters'] })],
  ])('refuses a token %s', async (_, token) => {
    expect(await whoIs({ token: token() })).toBe(401);
  });

  test('still answers anonymous health checks, and its own certificates', async () => {
    expect(await call('/readyz', {})).toEqual({ status: 200, body: 'ok' });
    expect(await call('/livez', {})).toEqual({ status: 200, body: 'ok' });
    expect((await call('/api/v1/secrets', administrator)).status).toBe(200);
  });
});

describe('A real API server with authorization webhooks', () => {
  const configMaps = '/api/v1/namespaces/default/configmaps';

  test('allows what the webhook after RBAC allows, and nothing else', async () => {
    expect((await call(configMaps, person('alice'))).status).toBe(200);
    expect((await call(configMaps, person('bob'))).status).toBe(403);
    expect((await call('/api/v1/namespaces/default/secrets', person('alice'))).status).toBe(403);
  });

  test('denies what the webhook before RBAC denies, although RBAC would allow it', async () => {
    expect(await whoIs(person('bob'))).toMatchObject({ username: 'login:bob' });
    expect(await whoIs(person('mallory'))).toBe(403);
  });

  test('authenticates to the webhook with the credentials of the Secret', () => {
    const seen = new Set(asked.filter(({ by }) => by === 'guard').map((one) => one.request.authorization));
    expect([...seen]).toEqual(['Bearer for-the-guard']);
  });

  // With failurePolicy Deny, kube-apiserver reports that the webhook did not answer.
  test.each([
    ['deny', 403],
    ['hang', 500],
  ] as const)('serves manager, components and health checks when a webhook would %s', async (does, status) => {
    guardDoes = does;
    expect(await whoIs(person(`someone who meets ${does}`))).toBe(status);
    expect((await call('/api/v1/secrets', administrator)).status).toBe(200);
    expect((await call('/api/v1/nodes', scheduler)).status).toBe(200);
    expect((await call('/readyz', {})).status).toBe(200);
    guardDoes = 'nothing';
  });

  test('sends no request about components of Kubernetes to a webhook', () => {
    const users = asked.map(({ review }) => review.spec.user);
    expect(users.length).toBeGreaterThan(0);
    expect(users.filter((user) => user.startsWith('system:'))).toEqual([]);
  });
});

describe('A real API server with an audit policy', () => {
  test('sends the event to the webhook with its credentials, and writes it to its output', async () => {
    const name = 'audited';
    const has = (event: string): boolean => event.includes(`"name":"${name}"`);
    const arrived = new Promise<string>((resolve) => {
      heard = (event) => {
        if (has(event)) resolve(event);
      };
    });
    await call(`/api/v1/namespaces/default/configmaps/${name}`, administrator);
    const event = JSON.parse(await arrived) as object;
    expect(event).toMatchObject({
      level: 'Metadata',
      stage: 'ResponseComplete',
      verb: 'get',
      user: { username: 'kubernetes-super-admin' },
      authorization: 'Bearer for-the-sink',
    });
    expect(await pod.log()).toMatch(/^\{"kind":"Event","apiVersion":"audit.k8s.io\/v1".*"name":"audited"/m);
  });

  test('records nothing that the policy leaves out', () => {
    expect(recorded.some((event) => event.includes('"resource":"secrets"'))).toBe(false);
    expect(recorded.some((event) => event.includes('"stage":"RequestReceived"'))).toBe(false);
  });
});

describe('A real API server with configured admission plugins', () => {
  const privileged = (namespace: string): object => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'privileged', namespace },
    spec: { containers: [{ name: 'a', image: 'a', securityContext: { privileged: true } }] },
  });

  /** There are no controllers that would create the namespace's ServiceAccount. */
  async function prepare(namespace: string): Promise<void> {
    const of = (kind: string, metadata: object): object => ({ apiVersion: 'v1', kind, metadata });
    await call('/api/v1/namespaces', administrator, of('Namespace', { name: namespace }));
    const account = of('ServiceAccount', { name: 'default', namespace });
    await call(`/api/v1/namespaces/${namespace}/serviceaccounts`, administrator, account);
  }

  const create = (namespace: string): Promise<Answer> =>
    call(`/api/v1/namespaces/${namespace}/pods`, administrator, privileged(namespace));

  test('refuses a privileged pod by default, and admits it in kube-system and where the spec exempts it', async () => {
    await Promise.all(['apps', 'exempt', 'kube-system'].map(prepare));
    expect(await create('apps')).toMatchObject({
      status: 403,
      body: expect.stringContaining('violates PodSecurity \\"restricted:latest\\"') as unknown,
    });
    expect((await create('kube-system')).status).toBe(201);
    expect((await create('exempt')).status).toBe(201);
  });

  test('refuses Events beyond the limit', async () => {
    await prepare('noisy');
    const statuses: number[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      const event = {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name, namespace: 'noisy' },
        involvedObject: { namespace: 'noisy', name: 'x', kind: 'Pod' },
      };
      statuses.push((await call('/api/v1/namespaces/noisy/events', administrator, event)).status);
    }
    expect(statuses[0]).toBe(201);
    expect(statuses).toContain(429);
  });
});

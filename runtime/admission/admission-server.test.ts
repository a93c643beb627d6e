import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import jsonPatch from 'fast-json-patch';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:tls';
import { storedMeta } from '../../api/as-stored.ts';
import type { Resource } from '../../api/meta.ts';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import type { AdmissionHandler, AdmissionResponse } from './admission.ts';
import { AdmissionServer } from './admission-server.ts';
import type { JsonCall } from '../client/json-call.ts';
import { BadCallError } from '../client/json-call.ts';
import { silent } from '../observe/logger.ts';
import { defaultServingLife, makeServingMaterial, type ServingMaterial } from '../server/serving-pair.ts';

const names = { dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'] };
const newMaterial = (): Promise<ServingMaterial> =>
  makeServingMaterial({ names, life: defaultServingLife, now: new Date() });

let material: ServingMaterial;
let server: AdmissionServer;
let port: number;
let clock: FakeClock;
let seen: string[];
let handler: AdmissionHandler;
let call: JsonCall;

beforeEach(async () => {
  clock = new FakeClock();
  seen = [];
  handler = () => ({ allowed: true });
  call = () => ({ status: 'Success' });
  material = await newMaterial();
  server = new AdmissionServer({
    handlers: { '/rule': (request, options) => handler(request, options) },
    calls: { '/call': (document, options) => call(document, options) },
    clock,
    log: silent,
    metrics: {
      began: (path) => {
        seen.push(`began ${path}`);
        return (code) => seen.push(`ended ${code}`);
      },
      panicked: (path) => seen.push(`panicked ${path}`),
    },
  });
  port = await server.listen({ host: '127.0.0.1', port: 0 }, material);
});
afterEach(() => server.close());

interface Answer {
  readonly code: number;
  readonly body: string;
}
const send = (
  body: string,
  over: { path?: string; method?: string; type?: string | null; ca?: string } = {},
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const request = httpsRequest(
      {
        host: '127.0.0.1',
        port,
        agent: false,
        path: over.path ?? '/rule',
        method: over.method ?? 'POST',
        ca: over.ca ?? material.bundle,
        headers: over.type === null ? {} : { 'content-type': over.type ?? 'application/json' },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          resolve({ code: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() });
        });
      },
    );
    request.on('error', reject);
    request.end(body);
  });

const object: Resource & { readonly spec: unknown } = {
  apiVersion: 'x.io/v1',
  kind: 'Tenant',
  metadata: storedMeta({ name: 'a', namespace: 'default' }),
  spec: { size: 1 },
};
const review = (over: Record<string, unknown> = {}): string =>
  JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'u1',
      kind: { group: 'x.io', version: 'v1', kind: 'Tenant' },
      operation: 'CREATE',
      object,
      ...over,
    },
  });
const responseOf = ({ body }: Answer): AdmissionResponse =>
  (JSON.parse(body) as { response: AdmissionResponse }).response;

describe('The admission server', () => {
  test('allows what a rule allows, with warnings', async () => {
    handler = () => ({ allowed: true, warnings: ['old field'] });
    expect(responseOf(await send(review()))).toEqual({ uid: 'u1', allowed: true, warnings: ['old field'] });
    expect(seen).toEqual(['began /rule', 'ended 200']);
  });

  test('returns the changes of a defaulted object as a JSON patch', async () => {
    const wanted = { ...object, spec: { size: 2, zone: 'a' }, metadata: { ...object.metadata, labels: { x: 'y' } } };
    handler = () => ({ allowed: true, object: wanted });
    const { patch = '', patchType } = responseOf(await send(review()));
    expect(patchType).toBe('JSONPatch');
    const operations = JSON.parse(Buffer.from(patch, 'base64').toString()) as Parameters<
      typeof jsonPatch.applyPatch
    >[1];
    expect(jsonPatch.applyPatch(structuredClone(object), operations).newDocument).toEqual(wanted);
  });

  test('returns no patch if nothing was defaulted', async () => {
    handler = ({ object: same }) => ({ allowed: true, ...(same ? { object: same } : {}) });
    expect(responseOf(await send(review()))).toEqual({ uid: 'u1', allowed: true });
  });

  test('denies with the message of the rule, which gets old object, user and dry run', async () => {
    handler = ({ oldObject, dryRun, userInfo }) => ({
      allowed: false,
      code: 422,
      message: `${oldObject?.metadata.name} ${dryRun} ${userInfo?.username}`,
    });
    const answer = await send(
      review({ oldObject: object, dryRun: true, userInfo: { username: 'eve' }, operation: 'UPDATE' }),
    );
    expect(responseOf(answer)).toEqual({
      uid: 'u1',
      allowed: false,
      status: { code: 422, reason: 'Invalid', message: 'a true eve' },
    });
  });

  test('denies with 500 when a rule throws', async () => {
    handler = () => {
      throw new Error('cannot read the store');
    };
    const { allowed, status } = responseOf(await send(review()));
    expect([allowed, status?.code, status?.message]).toEqual([
      false,
      500,
      "the rule for this object failed: cannot read the store; see the manager's log",
    ]);
    expect(seen).toContain('panicked /rule');
  });

  test.each([
    ['/rule', 10_000],
    ['/rule?timeout=3s', 3_000],
    ['/rule?timeout=999s', 10_000],
  ])('denies with 500 if a rule at %s takes longer than %d ms, and aborts the rule', async (path, budget) => {
    let signal: AbortSignal | undefined;
    const asked = Promise.withResolvers<undefined>();
    handler = (_, options) => {
      signal = options.signal;
      asked.resolve(undefined);
      return new Promise(() => undefined);
    };
    const answer = send(review(), { path });
    await asked.promise;
    await clock.advance(budget - 1);
    expect(signal?.aborted).toBe(false);
    await clock.advance(1);
    expect(responseOf(await answer).status?.message).toContain(`took longer than ${budget / 1000} s`);
    expect(signal?.aborted).toBe(true);
  });

  test.each<[string, string, Parameters<typeof send>[1], readonly [number, string]]>([
    ['no JSON', '{', {}, [400, 'the body is not JSON']],
    [
      'an older version',
      review().replace('k8s.io/v1"', 'k8s.io/v1beta1"'),
      {},
      [400, 'only admission.k8s.io/v1 AdmissionReview is supported'],
    ],
    ['no request', '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}', {}, [400, 'no request with uid']],
    ['null', 'null', {}, [400, 'not an AdmissionReview']],
    ['another path', review(), { path: '/other' }, [404, 'nothing is served at /other']],
    ['a name of every object', review(), { path: '/constructor' }, [404, 'nothing is served at']],
    ['GET', '', { method: 'GET' }, [405, 'POST']],
    ['a form', 'a=b', { type: 'text/plain' }, [415, 'application/json']],
    ['no type', review(), { type: null }, [415, 'application/json']],
  ])('refuses %s', async (_, body, over, [code, message]) => {
    const answer = await send(body, over);
    expect(answer.code).toBe(code);
    expect(answer.body).toContain(message);
  });

  test('reads at most 3 MiB', async () => {
    const refused = await send(review({ object: { ...object, spec: 'x'.repeat(4 * 1024 * 1024) } })).then(
      ({ code }) => code,
      // The server may close the connection while we are still sending.
      (error: unknown) => (error as NodeJS.ErrnoException).code,
    );
    expect([413, 'EPIPE', 'ECONNRESET']).toContain(refused);
    expect((await send(review({ object: { ...object, spec: 'x'.repeat(2 * 1024 * 1024) } }))).code).toBe(200);
  });

  test('uses a new certificate without a restart', async () => {
    const next = await newMaterial();
    server.use(next);
    await expect(send(review())).rejects.toThrow();
    expect((await send(review(), { ca: next.bundle })).code).toBe(200);
  });

  test('accepts no TLS version older than 1.2', async () => {
    const failed = await new Promise<string | undefined>((resolve) => {
      const socket = connect(
        { host: '127.0.0.1', port, ca: material.bundle, minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1' },
        () => {
          resolve(undefined);
        },
      );
      socket.on('error', (error: NodeJS.ErrnoException) => {
        resolve(error.code);
      });
    });
    expect(failed).toBeDefined();
  });

  test('reports whether it listens', async () => {
    expect(server.health.check()).toBeUndefined();
    await server.close();
    expect(server.health.check()).toBe('does not listen');
  });
});

describe('An HTTP handler besides the reviews', () => {
  test.each([null, 'application/json', 'application/json; charset=utf-8'])(
    'is answered with its return value if its type is %s',
    async (type) => {
      call = (document) => ({ status: 'Success', document });
      const { code, body } = await send('{"kind":"DiscoveryRequest"}', { path: '/call?timeout=10s', type });
      expect([code, JSON.parse(body)]).toEqual([200, { status: 'Success', document: { kind: 'DiscoveryRequest' } }]);
      expect(seen).toEqual(['began /call', 'ended 200']);
    },
  );

  test('is answered with the reason if the request is invalid', async () => {
    call = () => {
      throw new BadCallError('no Cluster is named');
    };
    const { code, body } = await send('{}', { path: '/call' });
    expect([code, body]).toEqual([400, '{"error":"no Cluster is named"}\n']);
    expect((await send('{', { path: '/call' })).body).toContain('not JSON');
    expect(seen).not.toContain('panicked /call');
  });

  test('is not answered with the reason of an internal failure, because any client can call it', async () => {
    call = () => {
      throw new Error('clusters "a" is forbidden to the user b');
    };
    const { code, body } = await send('{}', { path: '/call' });
    expect([code, body]).toEqual([500, '{"error":"the call failed; see the manager\'s log"}\n']);
    expect(seen).toEqual(['began /call', 'panicked /call', 'ended 500']);
  });

  test('ends at its deadline', async () => {
    const asked = Promise.withResolvers<AbortSignal>();
    call = (_, { signal }) => {
      asked.resolve(signal);
      return new Promise(() => undefined);
    };
    const answer = send('{}', { path: '/call?timeout=3s' });
    const signal = await asked.promise;
    await clock.advance(3_000);
    expect((await answer).code).toBe(500);
    expect(signal.aborted).toBe(true);
  });

  test.each<[string, Parameters<typeof send>[1], number]>([
    ['GET', { method: 'GET' }, 405],
    ['a form', { type: 'application/x-www-form-urlencoded' }, 415],
  ])('refuses %s', async (_, over, code) => {
    expect((await send('', { path: '/call', ...over })).code).toBe(code);
  });
});

import { expect, test } from '@jest/globals';
import { storedMeta } from '../../../api/as-stored.ts';
import type { Secret } from '../../../api/core/kinds.ts';
import { annotations } from '../../../api/names.ts';
import { createIssuerPool } from '../../../kubeadm/pki/issuer-pool.ts';
import { silent } from '../../../runtime/observe/logger.ts';
import { retryOf } from '../../../runtime/queue/retry-policy.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';
import { authorityRoot, serviceAccountRoot } from './ca-pairs.ts';
import type { Root } from './ca-pairs.ts';
import { authorities } from './ca-phase.ts';
import { authoritySecrets } from './ca-secrets.ts';
import { versionFacts } from '../upgrade/version-facts.ts';

const events: string[] = [];
const ctx = {
  signal: new AbortController().signal,
  now: new Date('2030-01-01T00:00:00Z'),
  log: silent,
  event: (type: string, reason: string, message: string) => void events.push(`${type} ${reason}: ${message}`),
};
const tcp = tenantControlPlaneWith();
const scopeWith = (...secrets: readonly Secret[]): Scope => ({
  tcp,
  versions: versionFacts({ tcp }),
  addons: {},
  observed: {
    service: undefined,
    deployment: undefined,
    secrets: new Map(secrets.map((secret) => [secret.metadata.name, secret])),
    dataStore: undefined,
    overrideStores: new Map(),
    refusals: new Map(),
  },
});

/** The Secret of a root, as it is made at first. */
async function stored<T>(root: Root<T>, marks: Record<string, string> = {}): Promise<Secret> {
  const { metadata, ...manifest } = root.manifest(await root.make({}), {});
  return { ...manifest, metadata: storedMeta({ ...metadata, annotations: marks }) };
}

test('an Event warns of a CA that is replaced on request, and of none that stays', async () => {
  const deps = {
    issuers: createIssuerPool(1),
    apply: (_scope: unknown, { metadata }: Secret) => Promise.resolve({ metadata }),
  } as unknown as Dependencies;
  const [ca, frontProxy] = authoritySecrets(tcp).map((where) => authorityRoot(scopeWith(), where, ctx));
  if (ca === undefined || frontProxy === undefined) throw new Error('two CAs are expected');
  const others = [await stored(frontProxy), await stored(serviceAccountRoot(scopeWith()))];
  await authorities(scopeWith(await stored(ca), ...others), deps, ctx);
  expect(events).toEqual([]);
  await authorities(scopeWith(await stored(ca, { [annotations.rotate]: '' }), ...others), deps, ctx);
  expect(events).toEqual([
    'Warning CertificateAuthorityRotated: Secret tenant-ca was regenerated on request: workers must join again',
  ]);
});

test('a CA that is not valid yet is checked again soon, because only a clock is wrong, and is not to be replaced', async () => {
  const [ca, frontProxy] = authoritySecrets(tcp).map((where) => authorityRoot(scopeWith(), where, ctx));
  if (ca === undefined || frontProxy === undefined) throw new Error('two CAs are expected');
  const secrets = await Promise.all([stored(ca), stored(frontProxy), stored(serviceAccountRoot(scopeWith()))]);
  const early = { ...ctx, now: new Date(ctx.now.getTime() - 3_600_000) };
  const failure: unknown = await authorities(scopeWith(...secrets), {} as Dependencies, early).catch(
    (error: unknown) => error,
  );
  expect(retryOf(failure)).toEqual({ is: 'after', ms: 60_000 });
  expect(failure).toMatchObject({
    reason: 'NotYetValid',
    message: expect.stringMatching(/cannot be used yet .*not valid before .*Do not replace the Secret/),
  });
});

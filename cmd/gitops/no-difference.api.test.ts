import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual, promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { allKinds } from '../../api/all-kinds.ts';
import { kinds } from '../../api/core/kinds.ts';
import type { Manifest, Resource } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/meta.ts';
import type { Kind } from '../../api/schema.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import { newestMinor } from '../../kubeadm/versions.ts';
import { AdmissionServer } from '../../runtime/admission/admission-server.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { openCluster } from '../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../runtime/client/kubeconfig.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { mergePatch } from '../../testing/fake/merge-patch.ts';
import { isFields } from '../../testing/fake/stored-object.ts';
import { startApiServer } from '../../testing/servers/api-server.ts';
import type { ApiServer } from '../../testing/servers/api-server.ts';
import { installKinds } from '../../testing/servers/install-kinds.ts';
import { loopbackPair, serverCa } from '../../testing/servers/server-certificates.ts';
import { createAdmissions } from '../admission/admissions.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const samples = join(root, 'config/samples');
/** The field manager of Argo CD. */
const argo = '--field-manager=argocd-controller';

/** The shipped webhook that writes defaults, which the API server finds on this host. */
async function defaultingWebhook(port: number, authority: string): Promise<Manifest> {
  const text = await readFile(join(root, 'config/webhook/webhooks.yaml'), 'utf8');
  const all = parseAllDocuments(text).map((document) => document.toJS() as Manifest);
  const found = all.find(({ kind }) => kind === 'MutatingWebhookConfiguration') as
    | (Manifest & {
        readonly webhooks: readonly { readonly clientConfig: { readonly service: { readonly path: string } } }[];
      })
    | undefined;
  if (found === undefined) throw new Error('config/webhook has no MutatingWebhookConfiguration');
  const caBundle = Buffer.from(authority).toString('base64');
  const here = ({ path }: { readonly path: string }): object => ({ url: `https://127.0.0.1:${port}${path}`, caBundle });
  const webhooks = found.webhooks.map((one) => ({ ...one, clientConfig: here(one.clientConfig.service) }));
  return { ...found, webhooks };
}

let server: ApiServer;
let admin: Cluster;
let webhooks: AdmissionServer;
let kubectl: (...words: readonly string[]) => Promise<string>;
let calls = 0;

beforeAll(async () => {
  server = await startApiServer();
  admin = openCluster(parseKubeconfig(server.kubeconfig), { name: 'management' });
  const tools = await resolveTools(['kubectl']);
  kubectl = async (...words) => (await run(tools.kubectl, ['--kubeconfig', server.kubeconfigPath, ...words])).stdout;
  await installKinds(admin, allKinds);
  await admin.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenants' } });
  const handlers = Object.entries(createAdmissions({ cluster: admin, defaultDataStore: 'default', newestMinor }));
  webhooks = new AdmissionServer({
    ...{ clock: systemClock, log: silent },
    handlers: Object.fromEntries(
      handlers.map(([path, handle]) => [
        path,
        (request, context) => {
          calls += 1;
          return handle(request, context);
        },
      ]),
    ),
  });
  const ca = await serverCa('webhooks');
  const port = await webhooks.listen({ host: '127.0.0.1', port: 0 }, await loopbackPair(ca, 'webhooks'));
  await admin.create(kinds.MutatingWebhookConfiguration, await defaultingWebhook(port, ca.certificate));
  const spec = { controlPlane: { service: { serviceType: 'ClusterIP' } }, kubernetes: { version: 'v1.36.3' } };
  const metadata = { name: 'trial', namespace: 'default' };
  const trial = { apiVersion: apiVersionOf(tenantControlPlane), kind: tenantControlPlane.kind, metadata, spec };
  // The API server needs a moment to load a configuration.
  for (let attempt = 0; calls === 0 && attempt < 100; attempt += 1) {
    await admin.create(tenantControlPlane, trial, { dryRun: true });
    await pause(100);
  }
  expect(calls).toBeGreaterThan(0);
}, 240_000);

afterAll(async () => {
  await webhooks.close();
  await admin.close();
  await server.stop();
});

/** What an author could have written: the server's own fields are no part of it. */
const authored = ({ apiVersion, kind, metadata: { name, namespace }, ...rest }: Manifest): object => {
  const fields = Object.fromEntries(Object.entries(rest).filter(([field]) => field !== 'status'));
  return { ...fields, apiVersion, kind, metadata: { name, namespace } };
};

/** What differs without ServerSideDiff: lists whose entries get defaults, and the form that admission turns into another. */
const mergedOtherwise: Readonly<Record<string, readonly string[]>> = {
  'steward_v1alpha1_tenantcontrolplane_gateway.yaml': ['spec.controlPlane.gateway.parentRefs'],
  'steward_v1alpha1_tenantcontrolplane_konnectivity.yaml': ['spec.kubernetes.admissionControllers'],
};

/** The fields in which two objects differ; lists as a whole. */
function differences(one: unknown, other: unknown, at: readonly string[] = []): readonly string[] {
  if (!isFields(one) || !isFields(other)) return isDeepStrictEqual(one, other) ? [] : [at.join('.')];
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].flatMap((name) => differences(one[name], other[name], [...at, name]));
}

describe('After the defaults of the schema and of admission, the sample', () => {
  test.each(readdirSync(samples))(
    '%s differs in nothing from what was applied, and merges into itself but for the fields that are named',
    async (name) => {
      const file = join(samples, name);
      const documents = parseAllDocuments(await readFile(file, 'utf8')).map((each) => each.toJS() as Manifest | null);
      await kubectl('apply', '--server-side', argo, '-f', file);
      // It fails when there is a difference. This is what Argo CD does with ServerSideDiff.
      expect(await kubectl('diff', '--server-side', argo, '-f', file)).toBe('');
      for (const wanted of documents.filter((each) => each !== null)) {
        const kind = allKinds.find((each): each is Kind => each.kind === wanted.kind);
        if (kind === undefined) continue;
        const { namespace = 'default' } = wanted.metadata as { readonly namespace?: string };
        const asked = { ...kind, version: wanted.apiVersion.split('/')[1] ?? '' };
        const key = { name: wanted.metadata.name, ...(kind.namespaced && { namespace }) };
        const live = authored((await admin.get(asked, key)) as Resource as Manifest);
        // Without ServerSideDiff, Argo CD merges the manifest into the object, and replaces lists as a whole.
        const metadata = { name: wanted.metadata.name, namespace: key.namespace };
        expect(differences(mergePatch(live, { ...wanted, metadata }), live)).toEqual(mergedOtherwise[name] ?? []);
      }
    },
    60_000,
  );
});

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { Manifest } from '../api/meta.ts';
import { kubernetesReleases } from '../e2e/tools/kubernetes-releases.ts';
import { resolveTools } from '../e2e/tools/resolve.ts';
import { eventually } from '../testing/eventually.ts';
import { startApiServer } from '../testing/servers/api-server.ts';
import type { ApiServer } from '../testing/servers/api-server.ts';
import { bootstrapRbac } from './bootstrap-rbac.ts';
import { bootstrapTokenSecret } from './bootstrap-token.ts';
import { kubeadmConfig } from './cluster-configuration.ts';
import { clusterInfo } from './cluster-info.ts';
import { coreDns } from './coredns.ts';
import { kubeProxy } from './kube-proxy.ts';
import { kubeconfig } from './kubeconfig.ts';
import { kubeletConfig } from './kubelet-configuration.ts';
import { clusterAdminsGroup } from './pki/profiles.ts';
import { parseVersion } from './versions.ts';

interface Finished {
  readonly code: number | null;
  readonly output: string;
}

async function run(
  program: string,
  args: readonly string[],
  input = '',
  env: NodeJS.ProcessEnv = {},
): Promise<Finished> {
  const child = spawn(program, args, { stdio: 'pipe', env: { ...process.env, ...env } });
  child.stdin.end(input);
  const closed = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { code, output: stdout + stderr };
}

/** Everything that is put into a tenant. */
function manifestsFor(version: string, access: ApiServer): readonly Manifest[] {
  const inputs = {
    version: parseVersion(version),
    clusterName: 'tenant-00',
    controlPlaneEndpoint: new URL(access.url).host,
    serviceCidr: '10.96.0.0/16',
    podCidr: '10.244.0.0/16',
    clusterDomain: 'cluster.local',
    certSANs: ['localhost'],
    etcdEndpoints: ['127.0.0.1:2379'],
    encryptionAlgorithm: 'ECDSA-P256',
  } as const;
  const dns = coreDns(inputs);
  return [
    kubeadmConfig(inputs),
    kubeletConfig(inputs),
    clusterInfo({ server: access.url, ca: access.ca }),
    bootstrapTokenSecret({
      token: { id: 'abcdef', secret: '0123456789abcdef' },
      expiration: new Date('2099-01-01T00:00:00Z'),
    }),
    ...bootstrapRbac(),
    ...dns.managed,
    ...dns.createOnly,
    ...kubeProxy(inputs),
  ];
}

/** Older ones have a dry run write below /etc/kubernetes. */
const joining = kubernetesReleases.map(({ version }) => version).filter((version) => parseVersion(version).minor >= 34);

describe('A real API server and the real kubeadm', () => {
  let server: ApiServer;
  let kubectl: string;
  let folder: string;

  const asAdmin = (args: readonly string[], input?: string): Promise<Finished> =>
    run(kubectl, ['--kubeconfig', server.kubeconfigPath, ...args], input);
  const apply = async (manifests: readonly Manifest[]): Promise<Finished> =>
    asAdmin(
      ['apply', '--server-side', '--field-manager=steward', '--force-conflicts', '-o', 'name', '-f', '-'],
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifests }),
    );
  const versionsOf = async (): Promise<string> => {
    const kinds =
      'configmaps,services,serviceaccounts,deployments,daemonsets,roles,rolebindings,clusterroles,clusterrolebindings';
    const columns = 'custom-columns=KIND:.kind,NAME:.metadata.name,VERSION:.metadata.resourceVersion';
    return (await asAdmin(['get', kinds, '-A', '-l', 'steward.butlerlabs.dev/project=steward', '-o', columns])).output;
  };

  /** What a joining node does, up to the changes of the node itself: it has nothing but a bootstrap token. */
  const join = (kubeadm: string): Promise<Finished> => {
    const [token, nowhere] = ['abcdef.0123456789abcdef', 'unix:///nowhere.sock'];
    const words = `join --dry-run --node-name worker-0 --ignore-preflight-errors all --cri-socket ${nowhere}`.split(
      ' ',
    );
    const discovery = ['--discovery-file', server.kubeconfigPath, '--tls-bootstrap-token', token];
    return run(kubeadm, [...words, ...discovery], '', { KUBEADM_JOIN_DRYRUN_DIR: folder });
  };

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'kubeadm-acceptance-'));
    ({ kubectl } = await resolveTools(['kubectl']));
    server = await startApiServer({ flags: { 'enable-bootstrap-token-auth': 'true' } });
  }, 300_000);

  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test('give an administrator of the tenant permissions only once the bootstrap RBAC exists', async () => {
    const file = path.join(folder, 'tenant-admin.conf');
    const client = await server.clientPair('kubernetes-admin', [clusterAdminsGroup]);
    const config = { clusterName: 'on', server: server.url, ca: server.ca, user: 'kubernetes-admin', client };
    await writeFile(file, kubeconfig(config), { mode: 0o600 });
    const canI = (): Promise<Finished> => run(kubectl, ['--kubeconfig', file, 'auth', 'can-i', '*', '*']);
    expect((await canI()).output).toMatch(/no\n$/);
    expect(await apply(bootstrapRbac())).toMatchObject({ code: 0 });
    // The API server learns of new rights a moment later.
    await eventually(async () => {
      expect((await canI()).output).toMatch(/yes\n$/);
    });
  }, 60_000);

  test.each(joining)(
    'accept every object for %s, without a change when it is applied again, and kubeadm joins a node with only its documents and a token',
    async (version) => {
      const manifests = manifestsFor(version, server);
      const first = await apply(manifests);
      expect(first).toMatchObject({ code: 0 });
      expect(first.output.trim().split('\n')).toHaveLength(manifests.length);
      const before = await versionsOf();
      expect(await apply(manifests)).toMatchObject({ code: 0 });
      expect(await versionsOf()).toBe(before);

      const { kubeadm } = await resolveTools(['kubeadm'], { kubernetes: version });
      const joined = await join(kubeadm);
      expect(joined.output).toContain('clusterName: tenant-00');
      expect(joined.output).toContain(`kubernetesVersion: ${version}`);
      expect(joined.output).not.toMatch(
        /error unmarshaling|unknown field|strict decoding|Resource name "kube(adm-config|let-config|-proxy)".*\n.*does not exist/im,
      );
      expect(joined).toMatchObject({ code: 0 });
    },
    120_000,
  );
});

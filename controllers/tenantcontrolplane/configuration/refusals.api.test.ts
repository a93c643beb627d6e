import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { resolveTools } from '../../../e2e/tools/resolve.ts';
import { issueServiceAccountKeys } from '../../../kubeadm/pki/issue.ts';
import { parseVersion } from '../../../kubeadm/versions.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import type { TenantControlPlaneChanges } from '../../../testing/builders/tenant-control-plane.ts';
import { patient } from '../../../testing/patient.ts';
import { startEtcd } from '../../../testing/servers/etcd-server.ts';
import type { EtcdServer } from '../../../testing/servers/etcd-server.ts';
import { freePorts } from '../../../testing/servers/free-ports.ts';
import { serverFolder } from '../../../testing/servers/server-folder.ts';
import { configurationFiles, configurationFolder } from './configuration-files.ts';
import { configurationPod } from './configuration-pod.ts';
import { validateConfiguration } from './validate-configuration.ts';

type Kubernetes = NonNullable<TenantControlPlaneChanges['kubernetes']>;

let folder: Awaited<ReturnType<typeof serverFolder>>;
let kubeApiserver: string;
let etcd: EtcdServer;

beforeAll(async () => {
  folder = await serverFolder();
  // Some plugins read their configuration only when there is a datastore.
  etcd = await startEtcd();
  kubeApiserver = (await resolveTools(['kube-apiserver']))['kube-apiserver'];
  const keys = await issueServiceAccountKeys('ECDSA-P256');
  await writeFile(join(folder.path, 'sa.pub'), keys.publicKey);
  await writeFile(join(folder.path, 'sa.key'), keys.privateKey);
}, 120_000);

afterAll(async () => {
  await etcd.stop();
  await folder[Symbol.asyncDispose]();
});

/** What a real kube-apiserver says before it ends, with the files and flags for this spec. */
async function endOf(name: string, kubernetes: Kubernetes): Promise<string> {
  const tcp = tenantControlPlaneWith({ kubernetes });
  const files = configurationFiles(tcp, { version: parseVersion('v1.36.3'), credentials: new Map() });
  const here = join(folder.path, name);
  await mkdir(here);
  for (const [file, content] of Object.entries(files))
    await writeFile(join(here, file), content.replaceAll(configurationFolder, here));
  const flags = Object.entries(configurationPod(tcp, { name, files }).apiServer?.arguments ?? {});
  const [securePort = 0] = await freePorts(1);
  const all = [
    ...flags.map(([flag, value]) => `--${flag}=${String(value).replaceAll(configurationFolder, here)}`),
    '--bind-address=127.0.0.1',
    `--secure-port=${securePort}`,
    `--etcd-servers=${etcd.endpoints.join(',')}`,
    `--cert-dir=${here}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${join(folder.path, 'sa.pub')}`,
    `--service-account-signing-key-file=${join(folder.path, 'sa.key')}`,
  ];
  return new Promise((resolve) => {
    execFile(kubeApiserver, all, { timeout: patient(120_000), killSignal: 'SIGKILL' }, (error, stdout, stderr) => {
      resolve(`${String(error?.code ?? error?.signal ?? 'ended well')}\n${stdout}\n${stderr}`);
    });
  });
}

const named = (url: string) => ({
  issuer: { url, audiences: ['a'] },
  claimMappings: { username: { claim: 'sub', prefix: '' } },
});

/** By the name of a case: a spec with several mistakes, the fields that we refuse, and what kube-apiserver says about the same. */
const cases: readonly (readonly [string, Kubernetes, readonly string[], readonly RegExp[]])[] = [
  [
    'authentication',
    {
      authentication: {
        jwt: [
          named('https://a.example'),
          named('https://a.example'),
          { ...named('https://b.example'), issuer: { url: 'https://b.example', audiences: ['a', 'a'] } },
          { ...named('https://c.example'), claimMappings: { username: { claim: 'sub' } } },
          { ...named('https://d.example'), claimMappings: { username: { expression: 'claims.email' } } },
          {
            ...named('https://e.example'),
            claimMappings: {
              username: { claim: 'sub', prefix: '' },
              extra: [{ key: 'x.k8s.io/a', valueExpression: 'claims.a' }],
            },
          },
          { ...named('https://f.example'), claimValidationRules: [{ claim: 'a', message: 'b' }] },
          { ...named('https://g.example'), userValidationRules: [{ expression: 'user.username ==' }] },
          { ...named('https://h.example'), claimMappings: { username: { expression: 'user.username' } } },
          {
            ...named('https://i.example'),
            issuer: { url: 'https://i.example', audiences: ['a'], discoveryURL: 'https://i.example/' },
          },
        ],
      },
    },
    [
      'jwt[2].issuer.audiences[1]',
      'jwt[3].claimMappings.username.prefix',
      'jwt[4].claimMappings.username.expression',
      'jwt[5].claimMappings.extra[0].key',
      'jwt[6].claimValidationRules[0].message',
      'jwt[7].userValidationRules[0].expression',
      'jwt[8].claimMappings.username.expression',
      'jwt[9].issuer.discoveryURL',
      'jwt[1].issuer.url',
    ].map((field) => `spec.kubernetes.authentication.${field}`),
    [
      /jwt\[1\]\.issuer\.url: Duplicate value/,
      /jwt\[2\]\.issuer\.audiences\[1\]: Duplicate value/,
      /jwt\[3\]\.claimMappings\.username\.prefix: Required/,
      /jwt\[4\]\.claimMappings\.username\.expression: Invalid value/,
      /jwt\[5\]\.claimMappings\.extra\[0\]\.key: Invalid value/,
      /jwt\[6\]\.claimValidationRules\[0\]\.message: Invalid value/,
      /jwt\[7\]\.userValidationRules\[2\]\.expression: Invalid value/,
      /jwt\[8\]\.claimMappings\.username\.expression: Invalid value/,
      /jwt\[9\]\.issuer\.discoveryURL: Invalid value/,
    ],
  ],
  [
    'authorization',
    {
      authorization: {
        webhooks: [
          { name: 'rbac', url: 'https://a.example' },
          { name: 'a', url: 'https://a.example', matchConditions: [{ expression: 'request.user ==' }] },
          { name: 'a', url: 'https://a.example' },
        ],
      },
    },
    ['[0].name', '[1].matchConditions[0].expression', '[2].name'].map(
      (field) => `spec.kubernetes.authorization.webhooks${field}`,
    ),
    [
      /authorizers\[2\]\.name: Duplicate value: "rbac"/,
      /authorizers\[3\]\.matchConditions\[2\]\.expression: Invalid value/,
      /authorizers\[4\]\.name: Duplicate value: "a"/,
    ],
  ],
  [
    'audit',
    {
      audit: {
        log: true,
        policy: {
          rules: [
            { level: 'None', nonResourceURLs: ['/a'], namespaces: ['b'] },
            { level: 'None', nonResourceURLs: ['a', '/a*b'] },
            { level: 'None', resources: [{ group: 'apps/v1' }, { resourceNames: ['a'] }] },
          ],
        },
      },
    },
    [
      '[0].nonResourceURLs',
      '[1].nonResourceURLs[0]',
      '[1].nonResourceURLs[1]',
      '[2].resources[0].group',
      '[2].resources[1].resourceNames',
    ].map((field) => `spec.kubernetes.audit.policy.rules${field}`),
    [
      /rules\[0\]\.nonResourceURLs: Invalid value/,
      /rules\[1\]\.nonResourceURLs\[0\]: Invalid value/,
      /rules\[1\]\.nonResourceURLs\[1\]: Invalid value/,
      /rules\[2\]\.resources\.group: Invalid value/,
      /rules\[2\]\.resources\.resourceNames: Invalid value/,
    ],
  ],
  [
    'admission',
    {
      admission: {
        podSecurity: {
          exemptions: { namespaces: ['A'], runtimeClasses: ['a_b'], usernames: ['a', 'a'] },
        },
      },
    },
    ['usernames[1]', 'runtimeClasses[0]', 'namespaces[0]'].map(
      (field) => `spec.kubernetes.admission.podSecurity.exemptions.${field}`,
    ),
    [
      /exemptions\.usernames\[1\]: Duplicate value/,
      /exemptions\.runtimeClasses\[0\]: Invalid value/,
      /exemptions\.namespaces\[1\]: Invalid value/,
    ],
  ],
];

describe('A configuration with which a real kube-apiserver does not start', () => {
  test.each(cases)(
    'is refused with the same fields: %s',
    async (name, kubernetes, fields, theirs) => {
      const ours = validateConfiguration(tenantControlPlaneWith({ kubernetes }));
      expect(ours.map(({ field }) => field)).toEqual(fields);
      const output = await endOf(name, kubernetes);
      expect(output).toMatch(/^1\n/);
      for (const message of theirs) expect(output).toMatch(message);
    },
    150_000,
  );
});

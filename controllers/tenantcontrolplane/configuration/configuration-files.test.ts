import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parse } from 'yaml';
import { authorityPem, configuredKubernetes } from '../../../testing/builders/configured-kubernetes.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import type { TenantControlPlaneChanges } from '../../../testing/builders/tenant-control-plane.ts';
import { parseVersion } from '../../../kubeadm/versions.ts';
import { configurationFiles } from './configuration-files.ts';
import { configurationPod } from './configuration-pod.ts';
import type { WebhookCredentials } from './webhook-credentials.ts';

const credentials = new Map<string, WebhookCredentials>([
  ['guard-credentials', { token: 'secret' }],
  ['audit-credentials', { username: 'steward', password: 'hidden' }],
]);

function files(
  kubernetes: TenantControlPlaneChanges['kubernetes'] = configuredKubernetes,
  version = 'v1.36.3',
): Readonly<Record<string, string>> {
  return configurationFiles(tenantControlPlaneWith({ kubernetes }), { version: parseVersion(version), credentials });
}

const document = (name: string, ...given: Parameters<typeof files>): unknown => parse(files(...given)[name] ?? '');

const authority = Buffer.from(authorityPem).toString('base64');
const kubeconfig = (server: string, user: object, ca?: string): object => ({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'webhook', cluster: { server, ...(ca !== undefined && { 'certificate-authority-data': ca }) } }],
  users: [{ name: 'webhook', user }],
  contexts: [{ name: 'webhook', context: { cluster: 'webhook', user: 'webhook' } }],
  'current-context': 'webhook',
});

const refusesReserved = [
  {
    expression: "!user.username.startsWith('system:')",
    message: 'user names with the prefix system: are reserved for Kubernetes',
  },
  {
    expression: "user.groups.all(group, !group.startsWith('system:'))",
    message: 'groups with the prefix system: are reserved for Kubernetes',
  },
];

const notComponents = [
  { expression: "!request.user.startsWith('system:') || request.user.startsWith('system:serviceaccount:')" },
  { expression: "!('system:serviceaccounts:kube-system' in request.groups)" },
];

describe('The files that configure kube-apiserver', () => {
  test('authentication is its AuthenticationConfiguration, whose users never get names of Kubernetes', () => {
    expect(document('authentication.yaml')).toEqual({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AuthenticationConfiguration',
      jwt: [
        {
          issuer: {
            url: 'https://login.example.com',
            discoveryURL: 'https://login.internal.example.com/.well-known/openid-configuration',
            certificateAuthority: authorityPem,
            audiences: ['kubernetes', 'kubectl'],
            audienceMatchPolicy: 'MatchAny',
          },
          claimValidationRules: [
            { claim: 'hd', requiredValue: 'example.com' },
            { expression: 'claims.exp - claims.nbf <= 86400', message: 'tokens last a day at most' },
          ],
          claimMappings: {
            username: { claim: 'sub', prefix: 'login:' },
            groups: { claim: 'groups', prefix: 'login-group:' },
            uid: { claim: 'uid' },
            extra: [{ key: 'example.com/department', valueExpression: 'claims.department' }],
          },
          userValidationRules: [
            ...refusesReserved,
            { expression: "user.username != 'login:root'", message: 'root may not log in' },
          ],
        },
        {
          issuer: { url: 'https://ci.example.com', audiences: ['ci'], audienceMatchPolicy: 'MatchAny' },
          claimMappings: {
            username: { expression: '"ci:" + claims.sub' },
            groups: { expression: '["ci:" + claims.project]' },
            uid: { expression: 'claims.run' },
          },
          userValidationRules: refusesReserved,
        },
      ],
    });
  });

  test('authorization is its AuthorizationConfiguration, with Node first, and RBAC between the webhooks', () => {
    const { authorizers, ...head } = document('authorization.yaml') as { authorizers: readonly object[] };
    expect(head).toEqual({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthorizationConfiguration' });
    const common = { subjectAccessReviewVersion: 'v1', matchConditionSubjectAccessReviewVersion: 'v1' };
    const connectionInfo = (file: string): object => ({
      type: 'KubeConfigFile',
      kubeConfigFile: `/etc/kubernetes/configuration/${file}`,
    });
    expect(authorizers).toEqual([
      { type: 'Node', name: 'node' },
      {
        type: 'Webhook',
        name: 'guard',
        webhook: {
          ...common,
          authorizedTTL: '1m',
          unauthorizedTTL: '10s',
          timeout: '5s',
          failurePolicy: 'Deny',
          connectionInfo: connectionInfo('authorization-guard.kubeconfig'),
          matchConditions: [...notComponents, { expression: 'has(request.resourceAttributes)' }],
        },
      },
      { type: 'RBAC', name: 'rbac' },
      {
        type: 'Webhook',
        name: 'grants',
        webhook: {
          ...common,
          authorizedTTL: '5m',
          unauthorizedTTL: '30s',
          timeout: '3s',
          failurePolicy: 'NoOpinion',
          connectionInfo: connectionInfo('authorization-grants.kubeconfig'),
          matchConditions: notComponents,
        },
      },
    ]);
  });

  test('an authorization webhook is reached by a kubeconfig with its URL, CA and credentials', () => {
    expect(document('authorization-guard.kubeconfig')).toEqual(
      kubeconfig('https://guard.example.com/authorize', { token: 'secret' }, authority),
    );
    expect(document('authorization-grants.kubeconfig')).toEqual(kubeconfig('https://grants.example.com', {}));
  });

  test('audit.policy is its audit Policy', () => {
    expect(document('audit-policy.yaml')).toEqual({
      apiVersion: 'audit.k8s.io/v1',
      kind: 'Policy',
      omitStages: ['RequestReceived'],
      omitManagedFields: true,
      rules: [
        { level: 'None', users: ['system:kube-proxy'], verbs: ['watch'] },
        {
          level: 'RequestResponse',
          userGroups: ['admins'],
          resources: [{ group: 'apps', resources: ['deployments'], resourceNames: ['web'] }],
          namespaces: ['prod'],
          omitStages: ['Panic'],
          omitManagedFields: false,
        },
        { level: 'Metadata', nonResourceURLs: ['/metrics', '/healthz*'] },
      ],
    });
  });

  test('audit.webhook is reached by a kubeconfig with its URL, CA and credentials', () => {
    expect(document('audit-webhook.kubeconfig')).toEqual(
      kubeconfig('https://audit.example.com/events', { username: 'steward', password: 'hidden' }, authority),
    );
  });

  test('admission is its AdmissionConfiguration, which never checks the pods in kube-system', () => {
    expect(document('admission.yaml')).toEqual({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AdmissionConfiguration',
      plugins: [
        {
          name: 'PodSecurity',
          configuration: {
            apiVersion: 'pod-security.admission.config.k8s.io/v1',
            kind: 'PodSecurityConfiguration',
            defaults: {
              enforce: 'baseline',
              'enforce-version': 'v1.35',
              audit: 'restricted',
              'audit-version': 'v1.36',
              warn: 'restricted',
              'warn-version': 'v1.34',
            },
            exemptions: {
              usernames: ['builder'],
              runtimeClasses: ['sandbox'],
              namespaces: ['kube-system', 'storage'],
            },
          },
        },
        {
          name: 'EventRateLimit',
          configuration: {
            apiVersion: 'eventratelimit.admission.k8s.io/v1alpha1',
            kind: 'Configuration',
            limits: [
              { type: 'Namespace', qps: 50, burst: 100, cacheSize: 2000 },
              { type: 'Server', qps: 500, burst: 1000 },
            ],
          },
        },
      ],
    });
  });

  test.each([
    ['v1.29.15', undefined, undefined],
    ['v1.30.14', 'v1beta1', 'v1beta1'],
    ['v1.31.4', 'v1beta1', 'v1beta1'],
    ['v1.32.5', 'v1beta1', 'v1'],
    ['v1.33.13', 'v1beta1', 'v1'],
    ['v1.34.4', 'v1', 'v1'],
    ['v1.35.4', 'v1', 'v1'],
    ['v1.36.3', 'v1', 'v1'],
  ])('have the versions that Kubernetes %s reads', (version, authentication, authorization) => {
    const found = files(configuredKubernetes, version);
    const versionOf = (name: string): string | undefined =>
      found[name] === undefined ? undefined : (parse(found[name]) as { apiVersion: string }).apiVersion;
    const full = (one: string | undefined): string | undefined =>
      one === undefined ? undefined : `apiserver.config.k8s.io/${one}`;
    expect(versionOf('authentication.yaml')).toBe(full(authentication));
    expect(versionOf('authorization.yaml')).toBe(full(authorization));
    expect(versionOf('admission.yaml')).toBe('apiserver.config.k8s.io/v1');
    expect(versionOf('audit-policy.yaml')).toBe('audit.k8s.io/v1');
  });

  test('repeat no rule and no condition that the author has written, too', () => {
    const [rule] = refusesReserved;
    const [condition] = notComponents;
    const [first] = configuredKubernetes.authentication.jwt;
    const kubernetes = {
      authentication: { jwt: [{ ...first, userValidationRules: [rule ?? { expression: '' }] }] },
      authorization: {
        webhooks: [{ name: 'a', url: 'https://a.example', matchConditions: [condition ?? { expression: '' }] }],
      },
    };
    expect(document('authentication.yaml', kubernetes)).toMatchObject({
      jwt: [{ userValidationRules: refusesReserved }],
    });
    const { authorizers } = document('authorization.yaml', kubernetes) as {
      authorizers: readonly { webhook?: { matchConditions: unknown } }[];
    };
    expect(authorizers.at(-1)?.webhook?.matchConditions).toEqual(notComponents);
  });

  test('leave out what the version of a stored spec does not read yet', () => {
    const names = Object.keys(files(configuredKubernetes, 'v1.29.0'));
    expect(names).not.toContain('authentication.yaml');
    expect(names).not.toContain('authorization.yaml');
    expect(names).toContain('audit-policy.yaml');
  });

  test('are none for a spec that configures nothing', () => {
    expect(files({})).toEqual({});
    expect(configurationPod(tenantControlPlaneWith(), undefined)).toEqual({});
  });

  test('have names that a Secret accepts as keys, whatever the webhooks are called', () => {
    const label = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,8}[a-z0-9])?$/);
    const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'));
    fc.assert(
      fc.property(name, (given) => {
        const made = files({ authorization: { webhooks: [{ name: given, url: 'https://a.example' }] } });
        expect(Object.keys(made).every((key) => /^[-._a-zA-Z0-9]{1,253}$/.test(key))).toBe(true);
      }),
    );
  });
});

describe('The flags of kube-apiserver', () => {
  const flags = (kubernetes: TenantControlPlaneChanges['kubernetes']): Readonly<Record<string, unknown>> => {
    const tcp = tenantControlPlaneWith({ kubernetes });
    const made = configurationFiles(tcp, { version: parseVersion('v1.36.3'), credentials });
    return configurationPod(tcp, { name: 'tenant-configuration-0', files: made }).apiServer?.arguments ?? {};
  };

  test('name the files, and the standard output for the audit log', () => {
    expect(flags(configuredKubernetes)).toEqual({
      'authentication-config': '/etc/kubernetes/configuration/authentication.yaml',
      'authorization-config': '/etc/kubernetes/configuration/authorization.yaml',
      'admission-control-config-file': '/etc/kubernetes/configuration/admission.yaml',
      'enable-admission-plugins': expect.stringMatching(/,EventRateLimit$/) as unknown,
      'audit-policy-file': '/etc/kubernetes/configuration/audit-policy.yaml',
      'audit-log-path': '-',
      'audit-webhook-config-file': '/etc/kubernetes/configuration/audit-webhook.kubeconfig',
      'audit-webhook-mode': 'batch',
      'audit-webhook-batch-max-size': '100',
      'audit-webhook-batch-max-wait': '5s',
    });
  });

  test('name nothing that the spec does not configure', () => {
    const { policy } = configuredKubernetes.audit;
    expect(flags({ audit: { policy, webhook: { url: 'https://a.example' } } })).toEqual({
      'audit-policy-file': '/etc/kubernetes/configuration/audit-policy.yaml',
      'audit-webhook-config-file': '/etc/kubernetes/configuration/audit-webhook.kubeconfig',
      'audit-webhook-mode': 'batch',
    });
    expect(flags({ admission: { podSecurity: {} } })).toEqual({
      'admission-control-config-file': '/etc/kubernetes/configuration/admission.yaml',
    });
  });
});

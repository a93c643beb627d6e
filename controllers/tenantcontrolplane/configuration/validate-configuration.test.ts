import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { authorityPem, configuredKubernetes } from '../../../testing/builders/configured-kubernetes.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import type { TenantControlPlaneChanges } from '../../../testing/builders/tenant-control-plane.ts';
import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import { parseVersion } from '../../../kubeadm/versions.ts';
import { validate } from '../admission.ts';
import { validateConfiguration } from './validate-configuration.ts';

type Kubernetes = NonNullable<TenantControlPlaneChanges['kubernetes']>;
type Jwt = NonNullable<Kubernetes['authentication']>['jwt'][number];
type Webhook = NonNullable<Kubernetes['authorization']>['webhooks'][number];

const errors = (kubernetes: Kubernetes, apiServer: readonly string[] = []): readonly string[] =>
  validateConfiguration(tenantControlPlaneWith({ kubernetes, deployment: { extraArgs: { apiServer } } })).map(
    (invalid) => new InvalidInputError(invalid).message,
  );

const issuer = (url: string): Jwt => ({
  issuer: { url, audiences: ['a'] },
  claimMappings: { username: { claim: 'sub', prefix: '' } },
});
const jwt = (...all: readonly Jwt[]): Kubernetes => ({ authentication: { jwt: all } });
const one = issuer('https://one.example');
const webhooks = (...all: readonly Partial<Webhook>[]): Kubernetes => ({
  authorization: { webhooks: all.map((webhook) => ({ name: 'hook', url: 'https://hook.example', ...webhook })) },
});
const rules = (...all: NonNullable<Kubernetes['audit']>['policy']['rules']): Kubernetes => ({
  audit: { log: true, policy: { rules: all } },
});
const podSecurity = (given: NonNullable<NonNullable<Kubernetes['admission']>['podSecurity']>): Kubernetes => ({
  admission: { podSecurity: given },
});

const j = 'spec.kubernetes.authentication.jwt';
const w = 'spec.kubernetes.authorization.webhooks';
const r = 'spec.kubernetes.audit.policy.rules';
const p = 'spec.kubernetes.admission.podSecurity.exemptions';

describe('A configuration of kube-apiserver', () => {
  test('with every field is accepted from 1.30 on', () => {
    expect(errors({ ...configuredKubernetes, version: 'v1.36.3' })).toEqual([]);
    expect(errors({ ...configuredKubernetes, version: 'v1.30.0' })).toEqual([]);
  });

  test('is not needed', () => {
    expect(errors({})).toEqual([]);
  });

  test('is refused in 1.29 with field, version and remedy, as far as it does not exist there', () => {
    expect(errors({ ...configuredKubernetes, version: 'v1.29.15' })).toEqual([
      'spec.kubernetes.authentication cannot be used in Kubernetes v1.29.15: it needs 1.30, the first minor in which AuthenticationConfiguration is not an alpha feature: set spec.kubernetes.version to v1.30 or later, or use --oidc-… flags in spec.controlPlane.deployment.extraArgs.apiServer',
      'spec.kubernetes.authorization cannot be used in Kubernetes v1.29.15: it needs 1.30, the first minor in which AuthorizationConfiguration is not an alpha feature: set spec.kubernetes.version to v1.30 or later, or use --authorization-webhook-… flags in spec.controlPlane.deployment.extraArgs.apiServer',
    ]);
  });

  test('is validated for the version that the pods get, if that is another one', () => {
    const tcp = tenantControlPlaneWith({ kubernetes: { version: 'v1.30.0', ...jwt(one) } });
    expect(validateConfiguration(tcp, parseVersion('v1.29.15'))).toHaveLength(1);
    expect(validateConfiguration(tcp)).toEqual([]);
  });

  test.each<readonly [string, Kubernetes, string]>([
    ['an issuer twice', jwt(one, one), `${j}[1].issuer.url "https://one.example" is the same as ${j}[0].issuer.url`],
    [
      'a discovery document twice',
      jwt(
        { ...one, issuer: { ...one.issuer, discoveryURL: 'https://d.example' } },
        {
          ...issuer('https://two.example'),
          issuer: { url: 'https://two.example', audiences: ['a'], discoveryURL: 'https://d.example' },
        },
      ),
      `${j}[1].issuer.discoveryURL "https://d.example" is the same as`,
    ],
    [
      'a discovery document at the URL of the issuer',
      jwt({ ...one, issuer: { ...one.issuer, discoveryURL: 'https://one.example/' } }),
      `${j}[0].issuer.discoveryURL "https://one.example/" is the URL of the issuer: remove it`,
    ],
    [
      'the issuer of service-account tokens',
      jwt(issuer('https://kubernetes.default.svc.cluster.local')),
      `${j}[0].issuer.url "https://kubernetes.default.svc.cluster.local" issues the service-account tokens`,
    ],
    [
      'an issuer of service-account tokens that the spec names',
      { ...jwt(issuer('https://sa.example')), serviceAccountIssuer: { url: 'https://sa.example' } },
      `${j}[0].issuer.url "https://sa.example" issues the service-account tokens`,
    ],
    [
      'an audience twice',
      jwt({ ...one, issuer: { ...one.issuer, audiences: ['a', 'b', 'a'] } }),
      `${j}[0].issuer.audiences[2] "a" is the same as ${j}[0].issuer.audiences[0]`,
    ],
    [
      'a CA that is none',
      jwt({ ...one, issuer: { ...one.issuer, certificateAuthority: 'x' } }),
      `${j}[0].issuer.certificateAuthority holds no certificate in PEM form`,
    ],
    ['a rule that checks nothing', jwt({ ...one, claimValidationRules: [{}] }), `[0] checks nothing`],
    [
      'a rule with two conditions',
      jwt({ ...one, claimValidationRules: [{ claim: 'a', expression: 'true' }] }),
      'has both claim and expression',
    ],
    [
      'a message for a required value',
      jwt({ ...one, claimValidationRules: [{ claim: 'a', requiredValue: 'b', message: 'c' }] }),
      `message "c" is allowed only with expression`,
    ],
    [
      'a required value for an expression',
      jwt({ ...one, claimValidationRules: [{ expression: 'true', requiredValue: 'b' }] }),
      `requiredValue "b" is allowed only with claim`,
    ],
    [
      'a claim that is checked twice',
      jwt({ ...one, claimValidationRules: [{ claim: 'a' }, { claim: 'a' }] }),
      `claimValidationRules[1].claim "a" is the same as`,
    ],
    [
      'an expression that is checked twice',
      jwt({ ...one, claimValidationRules: [{ expression: 'true' }, { expression: 'true' }] }),
      `claimValidationRules[1].expression "true" is the same as`,
    ],
    [
      'a user name from nowhere',
      jwt({ ...one, claimMappings: { username: {} } }),
      `${j}[0].claimMappings.username names no source`,
    ],
    [
      'a user name from two places',
      jwt({ ...one, claimMappings: { username: { claim: 'a', prefix: '', expression: 'claims.a' } } }),
      `${j}[0].claimMappings.username has both claim and expression`,
    ],
    [
      'a claim without a prefix',
      jwt({ ...one, claimMappings: { username: { claim: 'sub' } } }),
      `${j}[0].claimMappings.username.prefix is required with claim: set it, e.g. to "oidc:", or to an empty string`,
    ],
    [
      'a prefix for an expression',
      jwt({ ...one, claimMappings: { username: { expression: 'claims.sub', prefix: 'a:' } } }),
      `${j}[0].claimMappings.username.prefix "a:" is allowed only with claim`,
    ],
    [
      'groups with a claim alone',
      jwt({ ...one, claimMappings: { ...one.claimMappings, groups: { claim: 'groups' } } }),
      `${j}[0].claimMappings.groups.prefix is required with claim`,
    ],
    [
      'a UID from two places',
      jwt({ ...one, claimMappings: { ...one.claimMappings, uid: { claim: 'a', expression: 'claims.a' } } }),
      `${j}[0].claimMappings.uid has both claim and expression`,
    ],
    ...['department', 'Example.com/a', 'example.com/', 'a b.com/c', `${'a.'.repeat(126)}io/a`].map(
      (key) =>
        [
          `the extra key ${key}`,
          jwt({ ...one, claimMappings: { ...one.claimMappings, extra: [{ key, valueExpression: 'claims.a' }] } }),
          `${j}[0].claimMappings.extra[0].key "${key}" is not a key in lower case with a domain`,
        ] as const,
    ),
    ...['kubernetes.io/a', 'x.k8s.io/a'].map(
      (key) =>
        [
          `the extra key ${key}`,
          jwt({ ...one, claimMappings: { ...one.claimMappings, extra: [{ key, valueExpression: 'claims.a' }] } }),
          `${j}[0].claimMappings.extra[0].key "${key}" has a domain that is reserved for Kubernetes`,
        ] as const,
    ),
    [
      'an e-mail address that was not verified',
      jwt({ ...one, claimMappings: { username: { expression: 'claims.email' } } }),
      `${j}[0].claimMappings.username.expression "claims.email" uses claims.email, which the issuer may not have verified`,
    ],
    [
      'a user rule twice',
      jwt({ ...one, userValidationRules: [{ expression: 'true' }, { expression: 'true' }] }),
      `${j}[0].userValidationRules[1].expression "true" is the same as`,
    ],
    [
      'an expression that ends too early',
      jwt({ ...one, userValidationRules: [{ expression: 'user.username ==' }] }),
      `${j}[0].userValidationRules[0].expression "user.username ==" is not a valid CEL expression (Unexpected token: EOF)`,
    ],
    [
      'an expression over another variable',
      jwt({ ...one, claimMappings: { username: { expression: 'user.username' } } }),
      `${j}[0].claimMappings.username.expression "user.username" uses the variable user, which does not exist here: use the variable claims`,
    ],
    ['an authorizer called rbac', webhooks({ name: 'rbac' }), `${w}[0].name "rbac" is taken by Steward`],
    ['two authorizers of one name', webhooks({}, {}), `${w}[1].name "hook" is the same as ${w}[0].name`],
    [
      'a webhook with a CA that is none',
      webhooks({ certificateAuthority: 'x' }),
      `${w}[0].certificateAuthority holds no certificate`,
    ],
    [
      'a condition twice',
      webhooks({ matchConditions: [{ expression: 'true' }, { expression: 'true' }] }),
      `${w}[0].matchConditions[1].expression "true" is the same as`,
    ],
    [
      'an empty condition',
      webhooks({ matchConditions: [{ expression: ' ' }] }),
      `${w}[0].matchConditions[0].expression " " is not a valid CEL expression`,
    ],
    [
      'an audit policy without a place for its events',
      { audit: { policy: { rules: [{ level: 'Metadata' }] } } },
      'spec.kubernetes.audit records events nowhere: set spec.kubernetes.audit.log to true, or spec.kubernetes.audit.webhook',
    ],
    [
      'an audit rule for paths and resources',
      rules({ level: 'None', nonResourceURLs: ['/a'], resources: [{ group: '' }] }),
      `${r}[0].nonResourceURLs "/a" cannot be in a rule with resources or namespaces: split it into two rules`,
    ],
    [
      'an audit rule for paths and namespaces',
      rules({ level: 'None', nonResourceURLs: ['/a'], namespaces: ['b'] }),
      `${r}[0].nonResourceURLs "/a" cannot be in a rule with resources or namespaces`,
    ],
    [
      'a path without a slash',
      rules({ level: 'None', nonResourceURLs: ['metrics'] }),
      `${r}[0].nonResourceURLs[0] "metrics" is not a path`,
    ],
    [
      'a path with a * inside',
      rules({ level: 'None', nonResourceURLs: ['/a*b'] }),
      `${r}[0].nonResourceURLs[0] "/a*b" has a * inside`,
    ],
    [
      'a group with a version',
      rules({ level: 'None', resources: [{ group: 'apps/v1' }] }),
      `${r}[0].resources[0].group "apps/v1" is not an API group`,
    ],
    [
      'names of no resource',
      rules({ level: 'None', resources: [{ resourceNames: ['a'] }] }),
      `${r}[0].resources[0].resourceNames "a" needs the resources that have these names`,
    ],
    [
      'an audit webhook with a CA that is none',
      { audit: { ...configuredKubernetes.audit, webhook: { url: 'https://a.example', certificateAuthority: 'x' } } },
      'spec.kubernetes.audit.webhook.certificateAuthority holds no certificate',
    ],
    ['an admission without plugins', { admission: {} }, 'spec.kubernetes.admission configures no plugin'],
    [
      'an exempted namespace that cannot exist',
      podSecurity({ exemptions: { namespaces: ['A'] } }),
      `${p}.namespaces[0] "A" is not a valid Kubernetes name`,
    ],
    [
      'an exempted namespace twice',
      podSecurity({ exemptions: { namespaces: ['a', 'a'] } }),
      `${p}.namespaces[1] "a" is the same as`,
    ],
    [
      'an exempted RuntimeClass that cannot exist',
      podSecurity({ exemptions: { runtimeClasses: ['a_b'] } }),
      `${p}.runtimeClasses[0] "a_b" is not a valid Kubernetes name`,
    ],
    [
      'an exempted user twice',
      podSecurity({ exemptions: { usernames: ['a', 'a'] } }),
      `${p}.usernames[1] "a" is the same as`,
    ],
    [
      'two limits of one type',
      {
        admission: {
          eventRateLimit: {
            limits: [
              { type: 'User', qps: 1, burst: 1 },
              { type: 'User', qps: 2, burst: 2 },
            ],
          },
        },
      },
      'spec.kubernetes.admission.eventRateLimit.limits[1].type "User" is the same as',
    ],
  ])('is refused with %s', (_, kubernetes, message) => {
    const found = errors(kubernetes);
    expect(found).toEqual([expect.stringContaining(message)]);
  });

  test.each([
    ['claims.?email_verified.orValue(true) == true'],
    ['claims.`a-b` == "x"'],
    ['{?"a": claims.?x} == {}'],
    ["claims.roles.split(',').exists(role, role == 'admin')"],
    ['cel.bind(name, claims.sub, name + "x" == "ax")'],
  ])('leaves the expression %s to kube-apiserver', (expression) => {
    expect(errors(jwt({ ...one, claimValidationRules: [{ expression }] }))).toEqual([]);
  });

  test('accepts an e-mail address that a rule or the expression itself checks', () => {
    const username = { expression: 'claims.email' };
    const checked = { expression: 'claims.email_verified ? claims.email : claims.sub' };
    const claimValidationRules = [{ expression: 'claims.?email_verified.orValue(true) == true' }];
    expect(errors(jwt({ ...one, claimMappings: { username }, claimValidationRules }))).toEqual([]);
    expect(errors(jwt({ ...one, claimMappings: { username: checked } }))).toEqual([]);
  });

  test.each<readonly [string, Kubernetes]>([
    ['--oidc-issuer-url=https://a.example', jwt(one)],
    ['--oidc_client_id=a', jwt(one)],
    ['--authentication-config=/a', jwt(one)],
    ['--authorization-mode=Node,RBAC,Webhook', webhooks({})],
    ['--authorization-config=/a', webhooks({})],
    ['--authorization-webhook-config-file=/a', webhooks({})],
    ['--audit-policy-file=/a', rules({ level: 'None' })],
    ['--audit-log-path=/a', rules({ level: 'None' })],
    ['--admission-control-config-file=/a', podSecurity({})],
  ])('is refused beside the argument %s, which stays possible alone', (argument, kubernetes) => {
    const [name = ''] = argument.replaceAll('_', '-').split('=');
    const [part] = Object.keys(kubernetes);
    const at = 'spec.controlPlane.deployment.extraArgs.apiServer[0]';
    expect(errors(kubernetes, [argument])).toEqual([
      `${at} "${name}" cannot be set together with spec.kubernetes.${part ?? ''}: remove one of the two; what the argument says can be said in spec.kubernetes.${part ?? ''}`,
    ]);
    expect(errors({}, [argument])).toEqual([]);
    const others = { ...configuredKubernetes, [part ?? '']: undefined };
    expect(errors(others, [argument])).toEqual([]);
  });

  test.each([
    ['--disable-admission-plugins=Priority,PodSecurity', 'disables the plugin PodSecurity'],
    ['--disable-admission-plugins=EventRateLimit', 'disables the plugin EventRateLimit'],
    ['--enable-admission-plugins=Priority', 'does not name the plugin EventRateLimit'],
  ])('is refused beside the argument %s', (argument, reason) => {
    expect(errors({ admission: configuredKubernetes.admission }, [argument])).toEqual([
      expect.stringContaining(
        `"${argument.split('=')[0] ?? ''}" ${reason}, which spec.kubernetes.admission configures`,
      ),
    ]);
  });

  test('goes with arguments that enable its plugins, and others', () => {
    expect(errors(configuredKubernetes, ['--enable-admission-plugins=EventRateLimit', '--v=2'])).toEqual([]);
  });

  test('is refused by admission, and never blocks other changes of what is stored', () => {
    const drivers = new Map([['default', 'etcd']]);
    const wrong = tenantControlPlaneWith({ kubernetes: jwt(one, one) });
    const right = tenantControlPlaneWith({ kubernetes: jwt(one) });
    const fields = (old?: typeof wrong): readonly string[] =>
      validate({ tcp: wrong, old, drivers }).map(({ field }) => field);
    expect(fields()).toEqual([`${j}[1].issuer.url`]);
    expect(fields(right)).toEqual([`${j}[1].issuer.url`]);
    expect(fields(wrong)).toEqual([]);
  });

  test('never has two things of one name that are both accepted', () => {
    const names = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'rbac'), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(names, (all) => {
        const isAccepted = errors(webhooks(...all.map((name) => ({ name })))).length === 0;
        expect(isAccepted).toBe(new Set(all).size === all.length && !all.includes('rbac'));
      }),
    );
  });

  test('accepts every certificate authority that is one, with anything around it', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 0, max: 2 }), (around, count) => {
        fc.pre(!around.includes('-----'));
        const certificateAuthority = `${around}\n${authorityPem.repeat(count)}${around}`;
        const found = errors(webhooks({ certificateAuthority }));
        expect(found).toHaveLength(count === 0 ? 1 : 0);
      }),
    );
  });
});

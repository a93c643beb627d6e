import type { TenantControlPlaneSpec } from '../../api/steward/v1alpha1/tenant-control-plane.ts';

type Kubernetes = TenantControlPlaneSpec['kubernetes'];

/** A self-signed CA certificate. */
export const authorityPem = `-----BEGIN CERTIFICATE-----
MIIBezCCASGgAwIBAgIUT+B949ziNDBKq0af+8je1wOkInwwCgYIKoZIzj0EAwIw
EjEQMA4GA1UEAwwHZXhhbXBsZTAgFw0yNjExMjYxMzU5MTBaGA8yMTI2MTEwMjEz
NTkxMFowEjEQMA4GA1UEAwwHZXhhbXBsZTBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABOop4uUyBDRl4vnpXwZt3IMEmm5Mggne9e7BD3ooyuR8Q1zuKMXXhhamU3hP
CcYcjF9Ua4xbXGXDDVMBNkDepSujUzBRMB0GA1UdDgQWBBReDwngpUzfUzkLjaKm
fl8ZA5Y72jAfBgNVHSMEGDAWgBReDwngpUzfUzkLjaKmfl8ZA5Y72jAPBgNVHRMB
Af8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIASiI39p2jLL2ekNR2yPJ2M5HKMd
IpV4knFgnH9ymgQPAiEAsqGBPYl8yblqDSqpQ9+i39Nez/QnsFqfXQQl38Df6os=
-----END CERTIFICATE-----
`;

/** Every field that configures kube-apiserver by a file. */
export const configuredKubernetes = {
  authentication: {
    jwt: [
      {
        issuer: {
          url: 'https://login.example.com',
          discoveryURL: 'https://login.internal.example.com/.well-known/openid-configuration',
          certificateAuthority: authorityPem,
          audiences: ['kubernetes', 'kubectl'],
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
        userValidationRules: [{ expression: "user.username != 'login:root'", message: 'root may not log in' }],
      },
      {
        issuer: { url: 'https://ci.example.com', audiences: ['ci'] },
        claimMappings: {
          username: { expression: '"ci:" + claims.sub' },
          groups: { expression: '["ci:" + claims.project]' },
          uid: { expression: 'claims.run' },
        },
      },
    ],
  },
  authorization: {
    webhooks: [
      {
        name: 'guard',
        url: 'https://guard.example.com/authorize',
        certificateAuthority: authorityPem,
        credentialsSecretRef: { name: 'guard-credentials' },
        position: 'BeforeRBAC',
        failurePolicy: 'Deny',
        timeoutSeconds: 5,
        authorizedTTL: '1m',
        unauthorizedTTL: '10s',
        matchConditions: [{ expression: 'has(request.resourceAttributes)' }],
      },
      { name: 'grants', url: 'https://grants.example.com' },
    ],
  },
  audit: {
    policy: {
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
    },
    log: true,
    webhook: {
      url: 'https://audit.example.com/events',
      certificateAuthority: authorityPem,
      credentialsSecretRef: { name: 'audit-credentials' },
      batchMaxSize: 100,
      batchMaxWaitSeconds: 5,
    },
  },
  admission: {
    podSecurity: {
      defaults: {
        enforce: 'baseline',
        enforceVersion: 'v1.35',
        audit: 'restricted',
        auditVersion: 'v1.36',
        warn: 'restricted',
        warnVersion: 'v1.34',
      },
      exemptions: { usernames: ['builder'], runtimeClasses: ['sandbox'], namespaces: ['storage'] },
    },
    eventRateLimit: {
      limits: [
        { type: 'Namespace', qps: 50, burst: 100, cacheSize: 2000 },
        { type: 'Server', qps: 500, burst: 1000 },
      ],
    },
  },
} as const satisfies Partial<Kubernetes>;

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import type { TenantControlPlaneChanges } from '../../../testing/builders/tenant-control-plane.ts';
import { konnectivityAddon } from '../../../testing/builders/konnectivity-addon.ts';
import { validateBoundaries } from './boundaries.ts';
import { programs } from '../addons/programs.ts';

type Deployment = NonNullable<TenantControlPlaneChanges['deployment']>;

const podSecurity = { standard: 'baseline', saidBy: 'a label' } as const;
const allowedArguments: ReadonlySet<string> = new Set();
const bounds = { podSecurity, allowedArguments, programs };
const tenant = (deployment: Deployment): TenantControlPlane => tenantControlPlaneWith({ deployment });
const privileged: Deployment = {
  additionalContainers: [{ name: 'a', image: 'b', securityContext: { privileged: true } }],
};
const withArgument = (argument: string, component = 'apiServer'): TenantControlPlane =>
  tenant({ extraArgs: { [component]: [argument] } });

describe('What an author adds to the pods', () => {
  test('is refused with field, value and standard', () => {
    expect(validateBoundaries(tenant(privileged), undefined, bounds)).toEqual([
      {
        field: 'spec.controlPlane.deployment.additionalContainers[0].securityContext.privileged',
        value: 'true',
        reason:
          'gives the container root access to the node, which the Pod Security Standard baseline forbids; the standard comes from a label',
        remedy: 'leave it out, or ask the operator to label the namespace with a less restrictive standard',
      },
    ]);
  });

  test('is checked in the konnectivity server, too', () => {
    const konnectivity = konnectivityAddon({ server: { port: 8132, securityContext: { privileged: true } } });
    const tcp = tenantControlPlaneWith({ spec: { addons: { konnectivity } } });
    expect(validateBoundaries(tcp, undefined, bounds).map(({ field }) => field)).toEqual([
      'spec.addons.konnectivity.server.securityContext.privileged',
    ]);
  });

  test('stays if it is stored and others change, and is checked when it changes', () => {
    const old = tenant(privileged);
    expect(validateBoundaries(tenant({ ...privileged, replicas: 3 }), old, bounds)).toEqual([]);
    const other = tenant({ ...privileged, additionalVolumes: [{ name: 'x', emptyDir: {} }] });
    expect(validateBoundaries(other, old, bounds)).toHaveLength(1);
    const elsewhere = tenant({
      ...privileged,
      registrySettings: { ...old.spec.controlPlane.deployment.registrySettings, registry: 'evil.example' },
    });
    expect(validateBoundaries(elsewhere, old, bounds)).toHaveLength(1);
  });
});

describe('An argument', () => {
  test.each<[string, string]>([
    ['apiServer', '--etcd-prefix=/'],
    ['apiServer', '--etcd_prefix=/'],
    ['apiServer', '--etcd-servers-overrides=/events#https://x'],
    ['apiServer', '--client-ca-file=/x'],
    ['apiServer', '--client_ca_file=/x'],
    ['apiServer', '--requestheader-allowed-names=x'],
    ['apiServer', '--tls-private-key-file=/x'],
    ['apiServer', '--service-account-signing-key-file=/x'],
    ['apiServer', '--kubelet-client-key=/x'],
    ['apiServer', '--proxy-client-key-file=/x'],
    ['apiServer', '--token-auth-file=/x'],
    ['apiServer', '--egress-selector-config-file=/x'],
    ['apiServer', '--authorization-mode=AlwaysAllow'],
    ['apiServer', '--authorization-mode=Node,AlwaysAllow'],
    ['apiServer', '--authorization-mode="AlwaysAllow"'],
    ['apiServer', '--authorization-mode='],
    ['controllerManager', '--kubeconfig=/x'],
    ['controllerManager', '--cluster-signing-key-file=/x'],
    ['controllerManager', '--cluster-signing-kubelet-client-key-file=/x'],
    ['controllerManager', '--service-account-private-key-file=/x'],
    ['controllerManager', '--root-ca-file=/x'],
    ['scheduler', '--authentication-kubeconfig=/x'],
    ['scheduler', '--master=https://x'],
    ['kine', '--endpoint=postgres://user:secret@x'],
    ['kine', '--ca-file=/x'],
  ])('of %s, %s, is refused', (component, argument) => {
    const [found, ...others] = validateBoundaries(withArgument(argument, component), undefined, bounds);
    const name = argument.slice(2).split('=')[0]?.replaceAll('_', '-') ?? '';
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      field: `spec.controlPlane.deployment.extraArgs.${component}[0]`,
      value: `--${name}`,
    });
    expect(found?.remedy).toContain(`--allow-extra-args=${component}:${name}`);
    const allowed = { ...bounds, allowedArguments: new Set([`${component}:${name}`]) };
    expect(validateBoundaries(withArgument(argument, component), undefined, allowed)).toEqual([]);
    expect(validateBoundaries(withArgument(argument, component), withArgument(argument, component), bounds)).toEqual(
      [],
    );
  });

  test.each<[string, string]>([
    ['apiServer', '--v=4'],
    ['apiServer', '--encryption-provider-config=/x'],
    ['apiServer', '--audit-policy-file=/x'],
    ['apiServer', '--oidc-issuer-url=https://x'],
    ['apiServer', '--authentication-config=/x'],
    ['apiServer', '--authorization-config=/x'],
    ['apiServer', '--authorization-mode=Node,RBAC,Webhook'],
    ['apiServer', '--anonymous-auth=false'],
    ['apiServer', '--tls-cipher-suites=X'],
    ['apiServer', '--tls-min-version=VersionTLS13'],
    ['apiServer', '--tls-sni-cert-key=/x,/y'],
    ['apiServer', '--etcd-healthcheck-timeout=5s'],
    ['apiServer', '--kubelet-certificate-authority=/x'],
    ['apiServer', '--service-account-issuer=https://x'],
    ['controllerManager', '--cluster-signing-duration=24h'],
    ['controllerManager', '--node-monitor-grace-period=25s'],
    ['scheduler', '--config=/x'],
    ['kine', '--debug'],
    ['kine', '--datastore-max-open-connections=9'],
  ])('of %s, %s, may be set by the author', (component, argument) => {
    expect(validateBoundaries(withArgument(argument, component), undefined, bounds)).toEqual([]);
  });

  test('of the tunnel is checked at both its ends', () => {
    const konnectivity = konnectivityAddon({
      server: { port: 8132, extraArgs: ['--v=3', '--server-port=1'] },
      agent: { extraArgs: ['--proxy-server-host=x', '--sync-interval=1s'] },
    });
    const tcp = tenantControlPlaneWith({ spec: { addons: { konnectivity } } });
    expect(validateBoundaries(tcp, undefined, bounds).map(({ field }) => field)).toEqual([
      'spec.addons.konnectivity.server.extraArgs[1]',
      'spec.addons.konnectivity.agent.extraArgs[0]',
    ]);
  });

  test('is never shown with its value', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9]{12,20}$/), (secret) => {
        const found = validateBoundaries(withArgument(`--endpoint=${secret}`, 'kine'), undefined, bounds);
        expect(JSON.stringify(found)).not.toContain(secret);
      }),
    );
  });
});

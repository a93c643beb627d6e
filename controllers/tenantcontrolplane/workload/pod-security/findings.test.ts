import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Container, PodSpec, Volume } from '../../shared/pod-parts.ts';
import { restricted } from '../../shared/security-context.ts';
import { checksOf, findingsOf } from './findings.ts';
import type { EvaluatedPod } from './evaluated-pod.ts';
import { parseStandard, standardOf } from './standard.ts';

interface Given {
  readonly container?: Partial<Container>;
  readonly volume?: Omit<Volume, 'name'>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly pod?: Partial<PodSpec>;
}

/** A pod that `restricted` permits, but for what is given. */
const podWith = ({ container, volume, annotations = {}, pod }: Given): EvaluatedPod => ({
  containers: [
    { at: 'c', container: { ...container, securityContext: { ...restricted(), ...container?.securityContext } } },
  ],
  volumes: volume === undefined ? [] : [{ at: 'v', volume: { name: 'v', ...volume } }],
  annotations: { at: 'a', values: annotations },
  ...(pod !== undefined && { whole: { at: 'p', spec: pod } }),
});

const context = (securityContext: Container['securityContext']): Given => ({
  container: { securityContext },
});
const fields = (given: Given, standard: 'baseline' | 'restricted'): readonly string[] =>
  findingsOf(podWith(given), standard).map(({ field }) => field);

describe('Both standards forbid', () => {
  test.each<[string, Given, string]>([
    ['the network of the node', { pod: { hostNetwork: true } }, 'p.hostNetwork'],
    ['the processes of the node', { pod: { hostPID: true } }, 'p.hostPID'],
    ['the memory of the node', { pod: { hostIPC: true } }, 'p.hostIPC'],
    ['privileged containers', context({ privileged: true }), 'c.securityContext.privileged'],
    [
      'capabilities',
      context({ capabilities: { add: ['SYS_ADMIN'], drop: ['ALL'] } }),
      'c.securityContext.capabilities.add[0]',
    ],
    ['ports of the node', { container: { ports: [{ containerPort: 1, hostPort: 80 }] } }, 'c.ports[0].hostPort'],
    [
      'probes of other hosts',
      { container: { livenessProbe: { tcpSocket: { port: 1, host: 'x' } } } },
      'c.livenessProbe.tcpSocket.host',
    ],
    [
      'readiness of other hosts',
      { container: { readinessProbe: { httpGet: { port: 1, host: 'x' } } } },
      'c.readinessProbe.httpGet.host',
    ],
    [
      'start of other hosts',
      { container: { startupProbe: { httpGet: { port: 1, host: 'x' } } } },
      'c.startupProbe.httpGet.host',
    ],
    [
      'calls at the start',
      { container: { lifecycle: { postStart: { httpGet: { port: 1, host: 'x' } } } } },
      'c.lifecycle.postStart.httpGet.host',
    ],
    [
      'calls at the end',
      { container: { lifecycle: { preStop: { tcpSocket: { port: 1, host: 'x' } } } } },
      'c.lifecycle.preStop.tcpSocket.host',
    ],
    ['no AppArmor', context({ appArmorProfile: { type: 'Unconfined' } }), 'c.securityContext.appArmorProfile.type'],
    [
      'no AppArmor by annotation',
      { annotations: { 'container.apparmor.security.beta.kubernetes.io/c': 'unconfined' } },
      'a[container.apparmor.security.beta.kubernetes.io/c]',
    ],
    ['types of SELinux', context({ seLinuxOptions: { type: 'spc_t' } }), 'c.securityContext.seLinuxOptions.type'],
    ['users of SELinux', context({ seLinuxOptions: { user: 'u' } }), 'c.securityContext.seLinuxOptions.user'],
    ['roles of SELinux', context({ seLinuxOptions: { role: 'r' } }), 'c.securityContext.seLinuxOptions.role'],
    ['all of /proc', context({ procMount: 'Unmasked' }), 'c.securityContext.procMount'],
    ['no seccomp', context({ seccompProfile: { type: 'Unconfined' } }), 'c.securityContext.seccompProfile.type'],
    [
      'settings of the node',
      { pod: { securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } } },
      'p.securityContext.sysctls[0].name',
    ],
    [
      'processes of a Windows node',
      context({ windowsOptions: { hostProcess: true } }),
      'c.securityContext.windowsOptions.hostProcess',
    ],
    [
      'no seccomp for the pod',
      { pod: { securityContext: { seccompProfile: { type: 'Unconfined' } } } },
      'p.securityContext.seccompProfile.type',
    ],
  ])('%s', (_, given, field) => {
    expect(fields(given, 'baseline')).toEqual([field]);
    expect(fields(given, 'restricted')).toEqual([field]);
    expect(findingsOf(podWith(given), 'privileged')).toEqual([]);
  });

  test('volumes of the node', () => {
    expect(fields({ volume: { hostPath: { path: '/' } } }, 'baseline')).toEqual(['v.hostPath.path']);
    expect(fields({ volume: { hostPath: { path: '/' } } }, 'restricted')).toEqual(['v.hostPath']);
  });
});

describe('Only restricted forbids', () => {
  test.each<[string, Given, string]>([
    ['escalation', context({ allowPrivilegeEscalation: true }), 'c.securityContext.allowPrivilegeEscalation'],
    ['root by leave', context({ runAsNonRoot: false }), 'c.securityContext.runAsNonRoot'],
    ['root by number', context({ runAsUser: 0 }), 'c.securityContext.runAsUser'],
    ['root by number for the pod', { pod: { securityContext: { runAsUser: 0 } } }, 'p.securityContext.runAsUser'],
    [
      'usual capabilities',
      context({ capabilities: { add: ['CHOWN'], drop: ['ALL'] } }),
      'c.securityContext.capabilities.add[0]',
    ],
    ['to keep capabilities', context({ capabilities: { drop: ['NET_RAW'] } }), 'c.securityContext.capabilities.drop'],
    ['volumes of administrators', { volume: { nfs: { server: 's', path: '/' } } }, 'v.nfs'],
  ])('%s', (_, given, field) => {
    expect(fields(given, 'baseline')).toEqual([]);
    expect(fields(given, 'restricted')).toEqual([field]);
  });

  test('what a container leaves out', () => {
    const bare: EvaluatedPod = { ...podWith({}), containers: [{ at: 'c', container: {} }] };
    expect(findingsOf(bare, 'baseline')).toEqual([]);
    expect(findingsOf(bare, 'restricted').map(({ field }) => field)).toEqual([
      'c.securityContext.allowPrivilegeEscalation',
      'c.securityContext.runAsNonRoot',
      'c.securityContext.capabilities.drop',
      'c.securityContext.seccompProfile.type',
    ]);
  });
});

describe('Nothing is found', () => {
  test.each<[string, Given]>([
    ['in our own containers', {}],
    ['in the capability for low ports', context({ capabilities: { add: ['NET_BIND_SERVICE'], drop: ['ALL'] } })],
    [
      'in our own setting of the pod',
      { pod: { securityContext: { sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }] } } },
    ],
    ['in the volumes of the namespace', { volume: { projected: { sources: [] } } }],
    [
      'in root of a pod with users of its own',
      { ...context({ runAsUser: 0, runAsNonRoot: false }), pod: { hostUsers: false } },
    ],
    ['in profiles of the node', context({ seccompProfile: { type: 'Localhost', localhostProfile: 'x' } })],
    [
      'in AppArmor by annotation',
      { annotations: { 'container.apparmor.security.beta.kubernetes.io/c': 'localhost/x' } },
    ],
  ])('%s', (_, given) => {
    expect(fields(given, 'restricted')).toEqual([]);
  });

  test('by baseline that restricted would permit', () => {
    const anything = fc.record({
      privileged: fc.boolean(),
      runAsUser: fc.constantFrom(0, 1),
      procMount: fc.constantFrom('Default', 'Unmasked'),
      capabilities: fc.record({
        add: fc.subarray(['CHOWN', 'NET_BIND_SERVICE', 'SYS_ADMIN', 'all']),
        drop: fc.subarray(['ALL', 'CHOWN']),
      }),
      seccompProfile: fc.record({ type: fc.constantFrom('RuntimeDefault', 'Localhost', 'Unconfined') }),
    });
    fc.assert(
      fc.property(anything, fc.constantFrom('hostPath', 'nfs', 'emptyDir', 'secret'), (securityContext, type) => {
        const given = { ...context(securityContext), volume: { [type]: {} } } as Given;
        const narrow = fields(given, 'restricted').length;
        expect(fields(given, 'baseline').length).toBeLessThanOrEqual(narrow);
      }),
    );
  });
});

test('Every check has a unique name', () => {
  const ids = checksOf.restricted.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(checksOf.privileged).toEqual([]);
});

describe('The standard in force', () => {
  test.each([
    [undefined, 'baseline', '--default-pod-security-standard'],
    [{}, 'baseline', '--default-pod-security-standard'],
    [{ 'pod-security.kubernetes.io/enforce': 'privileged' }, 'privileged', 'enforce=privileged'],
    [{ 'pod-security.kubernetes.io/enforce': 'restricted' }, 'restricted', 'enforce=restricted'],
    [{ 'pod-security.kubernetes.io/enforce': 'Strict' }, 'restricted', 'enforce=Strict'],
  ])('of a namespace with the labels %j is %s', (labels, standard, saidBy) => {
    const found = standardOf(labels, 'baseline');
    expect(found.standard).toBe(standard);
    expect(found.saidBy).toContain(saidBy);
  });

  test('is one of three', () => {
    expect(['privileged', 'baseline', 'restricted', 'Baseline', ''].map(parseStandard)).toEqual([
      'privileged',
      'baseline',
      'restricted',
      undefined,
      undefined,
    ]);
  });
});

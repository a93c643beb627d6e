import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import type { TenantControlPlaneChanges } from '../../../testing/builders/tenant-control-plane.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';

const privileged: TenantControlPlaneChanges = {
  deployment: { additionalContainers: [{ name: 'extra', image: 'x', securityContext: { privileged: true } }] },
};
const fake: TenantControlPlaneChanges = { deployment: { extraArgs: { apiServer: ['--client-ca-file=/x'] } } };

async function labeled(standard: string): Promise<TenantWorld> {
  const world = new TenantWorld();
  const labels = { 'pod-security.kubernetes.io/enforce': standard };
  await world.cluster.seed(kinds.Namespace, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'default', labels },
  });
  return world;
}

type Given = NonNullable<TenantControlPlaneChanges['deployment']>;

const available = async (world: TenantWorld) =>
  (await world.read()).status?.conditions?.find(({ type }) => type === 'ControlPlaneAvailable');
const containers = async (world: TenantWorld): Promise<readonly string[] | undefined> =>
  (await world.deployment())?.spec?.template.spec?.containers.map(({ name }) => name);

describe('A spec that no webhook refused', () => {
  test('creates no pods if the namespace does not permit it, and the condition says why', async () => {
    const world = new TenantWorld();
    await world.create(privileged);
    await world.settle();
    expect(await world.deployment()).toBeUndefined();
    expect(await available(world)).toMatchObject({ status: 'False', reason: 'PodSecurityViolated' });
    expect((await available(world))?.message).toMatch(
      /additionalContainers\[0\]\.securityContext\.privileged "true" .*standard baseline forbids.*: .*left alone/i,
    );
  });

  test.each([
    [
      'containerSecurityContexts.apiServer.privileged',
      { containerSecurityContexts: { apiServer: { privileged: true } } },
    ],
    [
      'containerSecurityContexts.kine.capabilities.add[0]',
      { containerSecurityContexts: { kine: { capabilities: { add: ['SYS_ADMIN'] } } } },
    ],
    [
      'podSecurityContext.sysctls[0].name',
      { podSecurityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } },
    ],
    ['podSecurityContext.seccompProfile.type', { podSecurityContext: { seccompProfile: { type: 'Unconfined' } } }],
  ])('creates no pods with a forbidden %s, and the condition names the field', async (field, deployment) => {
    const world = new TenantWorld();
    await world.create({ deployment });
    await world.settle();
    expect(await world.deployment()).toBeUndefined();
    expect((await available(world))?.message).toContain(`spec.controlPlane.deployment.${field} `);
  });

  test('creates pods if the namespace permits it', async () => {
    const world = await labeled('privileged');
    await world.create(privileged);
    await world.settle();
    expect(await containers(world)).toContain('extra');
  });

  test('leaves pods as they are', async () => {
    const world = new TenantWorld();
    await world.create({});
    await world.settle();
    await world.change({ spec: { controlPlane: fake } });
    await world.settle();
    expect(await available(world)).toMatchObject({ status: 'False', reason: 'ArgumentsRefused' });
    const [server] = (await world.deployment())?.spec?.template.spec?.containers ?? [];
    expect(server?.args).not.toContain('--client-ca-file=/x');
  });

  test('is applied if the pods have it already, even if they change otherwise', async () => {
    const world = await labeled('privileged');
    await world.create(privileged);
    await world.settle();
    await world.cluster.seed(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } });
    await world.change({ spec: { controlPlane: { deployment: { replicas: 3 } } } });
    await world.settle();
    expect((await world.deployment())?.spec?.replicas).toBe(3);
    expect(await available(world)).toMatchObject({ status: 'True' });
  });

  test.each<[string, Given, object]>([
    [
      'a context of the pod is removed',
      { podSecurityContext: { fsGroup: 7, sysctls: [{ name: 'kernel.msgmax', value: '1' }] } },
      { podSecurityContext: null, containerSecurityContexts: { scheduler: { privileged: true } } },
    ],
    [
      'the capabilities of a container are emptied',
      { containerSecurityContexts: { scheduler: { runAsUser: 7 } } },
      { containerSecurityContexts: { scheduler: { runAsUser: 7, seccompProfile: { type: 'Unconfined' } } } },
    ],
    [
      'another image would use rights of the one before',
      { containerSecurityContexts: { scheduler: { privileged: true, allowPrivilegeEscalation: true } } },
      { registrySettings: { schedulerImage: 'another' } },
    ],
    [
      'AppArmor is switched off by an annotation',
      {},
      {
        podAdditionalMetadata: {
          annotations: { 'container.apparmor.security.beta.kubernetes.io/kube-apiserver': 'unconfined' },
        },
      },
    ],
  ])('leaves pods as they are if %s and the standard forbids it', async (_what, first, change) => {
    const world = await labeled('privileged');
    await world.create({ deployment: first });
    await world.settle();
    const before = (await world.deployment())?.spec?.template;
    await world.cluster.seed(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } });
    await world.change({ spec: { controlPlane: { deployment: change } } });
    await world.settle();
    expect(await available(world)).toMatchObject({ status: 'False', reason: 'PodSecurityViolated' });
    expect((await world.deployment())?.spec?.template).toEqual(before);
  });

  test('is validated again under restricted if a context of the pod is removed on which a container relies', async () => {
    const world = await labeled('restricted');
    const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
    const podSecurityContext = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };
    const additionalContainers = [{ name: 'extra', image: 'x', securityContext }];
    await world.create({ deployment: { podSecurityContext, additionalContainers } });
    await world.settle();
    expect(await containers(world)).toContain('extra');
    await world.change({ spec: { controlPlane: { deployment: { podSecurityContext: null } } } });
    await world.settle();
    expect(await available(world)).toMatchObject({ status: 'False', reason: 'PodSecurityViolated' });
  });

  test('with a sysctl of Steward’s own beside those of the author stays as it is under a stricter standard', async () => {
    const world = await labeled('privileged');
    const sysctls = [{ name: 'kernel.msgmax', value: '1' }];
    await world.create({ deployment: { podSecurityContext: { sysctls } }, networkProfile: { port: 443 } });
    await world.settle();
    await world.cluster.seed(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } });
    await world.change({ spec: { controlPlane: { deployment: { replicas: 3 } } } });
    await world.settle();
    expect((await world.deployment())?.spec?.replicas).toBe(3);
  });

  test('with another user for kine than for kube-apiserver creates no pods behind kine only', async () => {
    const deployment: Given = { containerSecurityContexts: { apiServer: { runAsUser: 1234 } } };
    const world = new TenantWorld();
    await world.create({ deployment });
    await world.settle();
    expect(await world.deployment()).toBeDefined();
  });

  test('causes no read of the namespace if it adds nothing', async () => {
    const world = new TenantWorld();
    await world.create({});
    await world.settle();
    expect(world.cluster.calls.filter(({ kind }) => kind?.kind === 'Namespace')).toEqual([]);
  });
});

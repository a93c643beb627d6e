import { beforeAll, describe, expect, test } from '@jest/globals';
import { apiVersionOf } from '../../api/meta.ts';
import { annotations } from '../../api/names.ts';
import { tellHealth } from '../../testing/servers/gitops/tell-health.ts';
import type { ToldHealth } from '../../testing/servers/gitops/tell-health.ts';
import { TenantWorld } from '../../testing/worlds/tenant-world.ts';
import { healthScript } from './argo-cd-health.ts';
import { fluxHealthCheck } from './flux-health-checks.ts';
import { healthRules } from './health-rules.ts';

/** A condition as `type=status reason`. */
const conditionOf = (text: string): object => {
  const [, type, status, reason = ''] = /^(\w+)=(\w+) (\w+)$/.exec(text) ?? [];
  return { type, status, reason, message: `about ${reason}`, observedGeneration: 2 };
};

interface Case {
  readonly kind: string;
  readonly situation: string;
  /** Undefined for an object without a status. */
  readonly conditions?: readonly string[];
  readonly status?: object;
  readonly spec?: object;
  readonly annotations?: Readonly<Record<string, string>>;
  /** What Argo CD shows. */
  readonly argo: 'Healthy' | 'Progressing' | 'Suspended' | 'Degraded';
  /** What Flux does with the expressions; an error is a wait too. */
  readonly flux: 'Current' | 'InProgress' | 'Failed' | 'error';
  /** What kstatus says by itself, for `kubectl` plugins and Flux without the expressions. */
  readonly kstatus: 'Current' | 'InProgress';
}

const healthy = { argo: 'Healthy', flux: 'Current', kstatus: 'Current' } as const;
const progressing = { argo: 'Progressing', flux: 'InProgress', kstatus: 'InProgress' } as const;
const degraded = { argo: 'Degraded', flux: 'InProgress', kstatus: 'InProgress' } as const;
const suspended = { argo: 'Suspended', flux: 'Current', kstatus: 'InProgress' } as const;

const ofEachKind: readonly Case[] = healthRules.flatMap(({ kind: { kind }, summary, pausedBy }): readonly Case[] => [
  {
    kind,
    situation: 'that an annotation pauses',
    conditions: [`${summary}=False NotReady`],
    annotations: { [pausedBy]: '' },
    ...suspended,
    kstatus: summary === 'Ready' ? 'InProgress' : 'Current',
  },
  // kstatus knows nothing of an object without conditions, and takes it for done.
  { kind, situation: 'without a status', argo: 'Progressing', flux: 'error', kstatus: 'Current' },
  {
    kind,
    situation: 'whose summary is not reported yet',
    conditions: ['Other=True Yes'],
    ...progressing,
    kstatus: 'Current',
  },
  {
    kind,
    situation: 'whose summary is True',
    conditions: [`${summary}=True Fine`],
    status: { initialized: true },
    ...healthy,
  },
  {
    kind,
    situation: 'whose newest spec is not reconciled yet',
    conditions: [`${summary}=True Fine`],
    status: { observedGeneration: 1 },
    ...progressing,
  },
  {
    kind,
    situation: 'whose summary is Unknown',
    conditions: [`${summary}=Unknown Blocked`],
    ...progressing,
    kstatus: summary === 'Ready' ? 'InProgress' : 'Current',
  },
  {
    kind,
    situation: 'whose spec requests the impossible',
    conditions: [`${summary}=False Provisioning`, 'Other=False InvalidSpec'],
    argo: 'Degraded',
    flux: 'Failed',
    kstatus: summary === 'Ready' ? 'InProgress' : 'Current',
  },
]);

const tenant = 'TenantControlPlane';
const ofTenants: readonly Case[] = [
  { kind: tenant, situation: 'that starts', conditions: ['Ready=False Provisioning'], ...progressing },
  { kind: tenant, situation: 'that stopped serving', conditions: ['Ready=False NotReady'], ...degraded },
  { kind: tenant, situation: 'that sleeps', conditions: ['Ready=False Sleeping'], ...suspended },
  { kind: tenant, situation: 'whose data is copied', conditions: ['Ready=False Migrating'], ...progressing },
  {
    kind: tenant,
    situation: 'whose CA is rotated',
    conditions: ['Ready=False CertificateAuthorityRotating'],
    ...progressing,
  },
  {
    kind: tenant,
    situation: 'that is upgraded',
    conditions: ['Ready=True Upgrading'],
    ...progressing,
    kstatus: 'Current',
  },
  {
    kind: tenant,
    situation: 'that rolls out',
    conditions: ['Ready=True RollingOut'],
    ...progressing,
    kstatus: 'Current',
  },
  {
    kind: tenant,
    situation: 'whose upgrade is held',
    conditions: ['Ready=True UpgradeHeld'],
    ...suspended,
    kstatus: 'Current',
  },
  {
    kind: tenant,
    situation: 'whose rollout failed',
    conditions: ['Ready=True RolloutFailed'],
    argo: 'Degraded',
    flux: 'Failed',
    kstatus: 'Current',
  },
  {
    kind: tenant,
    situation: 'that is paused after its rollout failed',
    conditions: ['Ready=True RolloutFailed', 'Paused=True Paused'],
    ...suspended,
    kstatus: 'Current',
  },
  { kind: tenant, situation: 'that denies writes by intention', conditions: ['Ready=True WriteLimited'], ...healthy },
  {
    kind: tenant,
    situation: 'that is paused',
    conditions: ['Ready=False NotReady', 'Paused=True Paused'],
    ...suspended,
  },
  {
    kind: tenant,
    situation: 'that was changed while it is paused',
    conditions: ['Ready=True Ready', 'Paused=True Paused'],
    status: { observedGeneration: 1 },
    argo: 'Suspended',
    // Flux compares the generations before anything else.
    flux: 'InProgress',
    kstatus: 'InProgress',
  },
  {
    kind: tenant,
    situation: 'that was paused once',
    conditions: ['Ready=False NotReady', 'Paused=False NotPaused'],
    ...degraded,
  },
];

const ofOthers: readonly Case[] = [
  ...['TenantBackup', 'TenantRestore'].map((kind): Case => ({
    kind,
    situation: 'that failed for good',
    conditions: ['Complete=False Failed'],
    argo: 'Degraded',
    flux: 'Failed',
    kstatus: 'Current',
  })),
  { kind: 'DataStore', situation: 'that has never answered', conditions: ['Ready=False Unreachable'], ...progressing },
  {
    kind: 'DataStore',
    situation: 'that answers no longer',
    conditions: ['Ready=False Unreachable'],
    status: { serverVersion: '3.6.16' },
    ...degraded,
  },
  {
    kind: 'KubeconfigGenerator',
    situation: 'with a tenant that starts',
    conditions: ['Ready=False NotReady'],
    ...progressing,
  },
  {
    kind: 'ControlPlanePool',
    situation: 'that prepares control planes',
    conditions: ['Ready=False Preparing'],
    ...progressing,
  },
  {
    kind: 'ControlPlanePool',
    situation: 'whose control planes are refused',
    conditions: ['Ready=False CreationRefused'],
    ...degraded,
  },
  {
    kind: 'ControlPlaneClaim',
    situation: 'that waits for a control plane',
    conditions: ['Bound=False NoneReady'],
    ...progressing,
    kstatus: 'Current',
  },
  {
    kind: 'ControlPlaneClaim',
    situation: 'whose control plane is gone',
    conditions: ['Bound=False ControlPlaneGone'],
    argo: 'Degraded',
    flux: 'Failed',
    kstatus: 'Current',
  },
  {
    kind: 'RetainedControlPlane',
    situation: 'whose record cannot be read',
    conditions: ['Adoptable=False RecordUnreadable'],
    argo: 'Degraded',
    flux: 'InProgress',
    kstatus: 'Current',
  },
  {
    kind: 'StewardControlPlane',
    situation: 'without a Cluster',
    conditions: ['Ready=False WaitingForCluster'],
    status: { initialized: false },
    ...progressing,
  },
  {
    kind: 'StewardControlPlane',
    situation: 'that starts',
    conditions: ['Ready=False NotReady'],
    status: { initialized: false },
    ...progressing,
  },
  {
    kind: 'StewardControlPlane',
    situation: 'that stopped serving',
    conditions: ['Ready=False NotReady'],
    status: { initialized: true },
    ...degraded,
  },
  {
    kind: 'StewardControlPlane',
    situation: 'that rolls out',
    conditions: ['Ready=True Ready', 'RollingOut=True RollingOut'],
    status: { initialized: true },
    ...progressing,
    kstatus: 'Current',
  },
  {
    kind: 'StewardControlPlane',
    situation: 'that sleeps',
    conditions: ['Ready=False NotReady'],
    status: { initialized: true },
    spec: { replicas: 0 },
    ...suspended,
  },
  {
    kind: 'StewardControlPlane',
    situation: 'that sleeps by its schedules',
    conditions: ['Ready=False Sleeping'],
    status: { initialized: true },
    ...suspended,
  },
  {
    kind: 'StewardControlPlane',
    situation: 'of a paused Cluster',
    conditions: ['Ready=False NotReady', 'Paused=True Paused'],
    ...suspended,
  },
  {
    kind: 'ClusterStack',
    situation: 'whose first release is made',
    conditions: ['Ready=False NoReleaseReady'],
    ...progressing,
  },
  { kind: 'ClusterStack', situation: 'without a source', conditions: ['Ready=False NoSource'], ...degraded },
  {
    kind: 'ClusterStackRelease',
    situation: 'that is downloaded',
    conditions: ['Ready=False ReleaseAssetsNotDownloadedYet'],
    ...progressing,
  },
  {
    kind: 'ClusterStackRelease',
    situation: 'with a broken chart',
    conditions: ['Ready=False TemplateFailed'],
    ...degraded,
  },
  {
    kind: 'ClusterAddon',
    situation: 'whose API server starts',
    conditions: ['Ready=False ControlPlaneNotReady'],
    ...progressing,
  },
  { kind: 'ClusterAddon', situation: 'of a paused Cluster', conditions: ['Ready=False Paused'], ...suspended },
  {
    kind: 'ClusterAddon',
    situation: 'without anything to do',
    conditions: ['Ready=False NoClusterStack'],
    ...healthy,
    kstatus: 'InProgress',
  },
  {
    kind: 'ClusterAddon',
    situation: 'whose stage takes too long',
    conditions: ['Ready=False StageTimedOut'],
    ...degraded,
  },
];

const cases = [...ofEachKind, ...ofTenants, ...ofOthers].map((one) => ({
  ...one,
  title: `${one.kind} ${one.situation}`,
}));
const told = new Map<string, ToldHealth>();

beforeAll(async () => {
  const answers = await tellHealth(
    cases.map(({ kind: name, conditions, status, annotations = {}, spec = {} }) => {
      const rule = healthRules.find(({ kind }) => kind.kind === name);
      if (rule === undefined) throw new Error(`there is no rule for ${name}`);
      const reported = { observedGeneration: 2, ...status, conditions: conditions?.map(conditionOf) };
      const object = {
        apiVersion: apiVersionOf(rule.kind),
        kind: name,
        metadata: { name: 'x', namespace: 'default', generation: 2, annotations },
        spec,
        ...(conditions !== undefined && { status: reported }),
      };
      const { current, failed } = fluxHealthCheck(rule);
      return { object, lua: healthScript(rule), flux: { current, failed } };
    }),
  );
  for (const [index, { title }] of cases.entries()) told.set(title, answers[index] ?? { kstatus: 'no answer' });
}, 600_000);

describe('The health of a', () => {
  test.each(cases)('$title is $argo for Argo CD, $flux for Flux, and $kstatus by kstatus', (one) => {
    const found = told.get(one.title);
    expect(found?.argoError).toBeUndefined();
    expect(found?.argo?.status).toBe(one.argo);
    expect(found?.fluxError === undefined ? found?.flux : 'error').toBe(one.flux);
    expect(found?.kstatus).toBe(one.kstatus);
  });

  test('an object is explained by the message of its condition, or by its reason', () => {
    const messages = ['starts', 'that is paused'].map((part) => {
      const title = [...told.keys()].find((each) => each.startsWith(tenant) && each.includes(part));
      return told.get(title ?? '')?.argo?.message;
    });
    expect(messages).toEqual(['about Provisioning', 'about Paused']);
  });

  test('a TenantControlPlane follows what the controller reports of it', async () => {
    const world = new TenantWorld();
    world.podsStart = false;
    const seen: object[] = [await world.create()];
    await world.settle();
    seen.push(await world.read());
    await world.startPods();
    await world.settle();
    seen.push(await world.read());
    await world.change({ spec: { controlPlane: { deployment: { replicas: 0 } } } });
    seen.push(await world.read());
    await world.settle();
    seen.push(await world.read());
    await world.change({ spec: { controlPlane: { deployment: { replicas: 2 } } } });
    await world.settle();
    await world.startPods();
    await world.settle();
    seen.push(await world.read());
    await world.reportPods({ replicas: 2, updatedReplicas: 2, readyReplicas: 0, unavailableReplicas: 2 });
    await world.settle();
    seen.push(await world.read());
    await world.change({ metadata: { annotations: { [annotations.paused]: '' } } });
    seen.push(await world.read());
    const rule = healthRules.find(({ kind }) => kind.kind === tenant);
    if (rule === undefined) throw new Error('there is no rule for tenants');
    const { current, failed } = fluxHealthCheck(rule);
    const lua = healthScript(rule);
    const answers = await tellHealth(seen.map((object) => ({ object, lua, flux: { current, failed } })));
    const words = ['created', 'starts', 'serves', 'is changed', 'sleeps', 'is awake', 'fails', 'is paused'];
    const story = answers.map(({ argo, flux = 'error' }, index) => [words[index], argo?.status, flux]);
    expect(story).toEqual([
      ['created', 'Progressing', 'error'],
      ['starts', 'Progressing', 'InProgress'],
      ['serves', 'Healthy', 'Current'],
      ['is changed', 'Progressing', 'InProgress'],
      ['sleeps', 'Suspended', 'Current'],
      ['is awake', 'Healthy', 'Current'],
      ['fails', 'Degraded', 'InProgress'],
      ['is paused', 'Suspended', 'Current'],
    ]);
  }, 300_000);
});

import { describe, expect, test } from '@jest/globals';

import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import { TimelineRecorder } from './milestones.ts';

const see = (recorder: TimelineRecorder, at: number, kind: string, object: PlainObject): void => {
  recorder.see({ at, type: 'MODIFIED', kind, object });
};

describe('A timeline', () => {
  test('counts from the request and keeps the first time of each milestone', () => {
    const recorder = new TimelineRecorder(1000);
    see(recorder, 1100, 'Service', {});
    see(recorder, 1900, 'Service', {});
    expect(recorder.timeline).toEqual({ 'Service exists': 100 });
  });

  test('ignores events from before the request, and deletions', () => {
    const recorder = new TimelineRecorder(1000);
    see(recorder, 900, 'Service', {});
    recorder.see({ at: 1100, type: 'DELETED', kind: 'Service', object: {} });
    expect(recorder.timeline).toEqual({});
  });

  test('shows the last Secret before the Deployment, not later ones', () => {
    const recorder = new TimelineRecorder(0);
    see(recorder, 1, 'Secret', {});
    see(recorder, 2, 'Secret', {});
    see(recorder, 3, 'Deployment', { spec: { replicas: 1 } });
    see(recorder, 4, 'Secret', {});
    expect(recorder.timeline).toMatchObject({ 'first Secret exists': 1, 'last Secret exists': 2 });
  });

  test('follows a pod from its creation to its readiness', () => {
    const recorder = new TimelineRecorder(0);
    const containerStatuses = [{ state: { running: {} } }, { state: { waiting: {} } }];
    see(recorder, 1, 'Pod', {});
    see(recorder, 2, 'Pod', { spec: { nodeName: 'management' } });
    see(recorder, 3, 'Pod', { spec: { nodeName: 'management' }, status: { podIP: '10.0.0.1', containerStatuses } });
    see(recorder, 4, 'Pod', { status: { containerStatuses: [{ state: { running: {} } }] } });
    see(recorder, 5, 'Pod', { status: { conditions: [{ type: 'Ready', status: 'True' }] } });
    expect(recorder.timeline).toEqual({
      'pod exists': 1,
      'pod scheduled': 2,
      'pod has an address': 3,
      'containers run': 4,
      'pod Ready': 5,
    });
  });

  test('distinguishes the first ready replica from all of them', () => {
    const recorder = new TimelineRecorder(0);
    see(recorder, 1, 'Deployment', { spec: { replicas: 2 }, status: { readyReplicas: 1 } });
    see(recorder, 2, 'Deployment', { spec: { replicas: 2 }, status: { readyReplicas: 2 } });
    expect(recorder.timeline).toMatchObject({ 'a replica ready': 1, 'all replicas ready': 2 });
  });

  test('distinguishes the status of Steward from that of its add-ons', () => {
    const recorder = new TimelineRecorder(0);
    const kubernetesResources = { version: { status: 'Ready' } };
    const enabled = { enabled: true };
    see(recorder, 1, 'TenantControlPlane', {
      status: { kubernetesResources: { version: { status: 'Provisioning' } } },
    });
    see(recorder, 2, 'TenantControlPlane', { status: { kubernetesResources, addons: { coreDNS: enabled } } });
    see(recorder, 3, 'TenantControlPlane', { status: { addons: { coreDNS: enabled, kubeProxy: enabled } } });
    expect(recorder.timeline).toEqual({ 'status Ready': 2, 'add-ons enabled': 3 });
  });
});

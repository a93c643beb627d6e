import { describe, expect, test } from '@jest/globals';

import { WorkerRecorder } from './worker-recorder.ts';

describe('The way to a worker', () => {
  test('is followed from the control plane over the machine to the node', () => {
    const recorder = new WorkerRecorder(1000);
    const ready = (type: string) => ({ conditions: [{ type, status: 'True' }] });
    const kubernetesResources = { version: { status: 'Ready' } };
    recorder.see('TenantControlPlane', { status: {} }, 1100);
    recorder.see('TenantControlPlane', { status: { kubernetesResources } }, 2000);
    recorder.see('Cluster', { status: ready('ControlPlaneInitialized') }, 2100);
    recorder.see('Machine', { spec: { bootstrap: {} } }, 2200);
    recorder.see('Machine', { spec: { bootstrap: { dataSecretName: 'b' } } }, 2300);
    recorder.see('Node', {}, 4000);
    recorder.see('Node', { status: ready('Ready') }, 5000);
    recorder.see('Node', { status: ready('Ready') }, 6000);
    expect(recorder.timeline).toEqual({
      'control plane Ready': 1000,
      'control plane initialized': 1100,
      'Machine exists': 1200,
      'bootstrap data exists': 1300,
      'node exists': 3000,
      'node Ready': 4000,
    });
  });
});

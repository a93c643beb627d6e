import { describe, expect, test } from '@jest/globals';

import type { Condition } from '../../api/meta.ts';
import { announcements } from './events.ts';

const condition = (type: string, status: Condition['status'], reason: string, message = ''): Condition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: '2030-01-01T00:00:00Z',
});

const exposed = condition('EndpointReady', 'True', 'Succeeded');
const unexposed = condition('EndpointReady', 'False', 'NotExposed', 'the load balancer has no address yet');

describe('Events about conditions', () => {
  test('report what is awaited, once, and nothing that waits for that in turn', () => {
    const after = [unexposed, condition('CertificatesReady', 'False', 'Blocked', 'waiting for EndpointReady')];
    const told = [{ type: 'Normal', reason: 'NotExposed', message: 'the load balancer has no address yet' }];
    expect(announcements([], after)).toEqual(told);
    expect(announcements(after, after)).toEqual([]);
  });

  test('warn of failures of what worked before and of what a person must fix', () => {
    expect(announcements([exposed], [unexposed])).toMatchObject([{ type: 'Warning', reason: 'NotExposed' }]);
    const broken = condition('CertificatesReady', 'False', 'SecretBroken', 'Secret tenant-ca is gone');
    expect(announcements([], [broken])).toEqual([
      { type: 'Warning', reason: 'SecretBroken', message: 'Secret tenant-ca is gone' },
    ]);
  });

  test('are repeated when the message has changed', () => {
    const first = condition('ControlPlaneAvailable', 'False', 'PodsNotReady', 'the pods are starting');
    const then = { ...first, message: 'container kube-apiserver: ImagePullBackOff' };
    expect(announcements([first], [then])).toMatchObject([{ message: then.message }]);
  });

  test('are not repeated for a condition whose message changes all the time', () => {
    const left = condition('CertificateRequestsLeft', 'True', 'NotApproved', 'one request is left');
    expect(announcements([left], [{ ...left, message: 'two requests are left' }])).toEqual([]);
  });

  test('report when everything is ready and when the control plane is scaled to 0 replicas', () => {
    const waiting = condition('Ready', 'False', 'Provisioning', 'EndpointReady: …');
    const ready = condition('Ready', 'True', 'Ready');
    expect(announcements([], [waiting])).toEqual([]);
    expect(announcements([waiting], [ready])).toMatchObject([{ type: 'Normal', reason: 'Ready' }]);
    expect(announcements([ready], [condition('Ready', 'True', 'RollingOut')])).toEqual([]);
    expect(announcements([ready], [condition('Ready', 'False', 'Sleeping')])).toMatchObject([{ reason: 'Sleeping' }]);
  });

  test('report sleep by schedules once, and what delays it or is wrong with it', () => {
    const asleep = condition('Asleep', 'True', 'Scheduled', 'sleeps until 7');
    const awake = condition('Asleep', 'False', 'Awake', 'awake until 20');
    const sleeping = condition('Ready', 'False', 'Sleeping');
    expect(announcements([], [awake])).toEqual([]);
    expect(announcements([awake], [asleep, sleeping])).toEqual([
      { type: 'Normal', reason: 'FallingAsleep', message: 'sleeps until 7' },
    ]);
    expect(announcements([asleep], [{ ...asleep, message: 'sleeps until 8' }])).toEqual([]);
    expect(announcements([asleep], [awake])).toEqual([
      { type: 'Normal', reason: 'WakingUp', message: 'awake until 20' },
    ]);
    expect(announcements([awake], [condition('Asleep', 'False', 'WorkUnderWay', 'a migration')])).toEqual([
      { type: 'Normal', reason: 'SleepDelayed', message: 'a migration' },
    ]);
    expect(announcements([awake], [condition('Asleep', 'False', 'InvalidSpec', 'never comes')])).toEqual([
      { type: 'Warning', reason: 'InvalidSpec', message: 'never comes' },
    ]);
  });
});

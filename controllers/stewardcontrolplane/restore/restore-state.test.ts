import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { annotations } from '../../../api/names.ts';
import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { restoreState } from './restore-state.ts';

type Status = NonNullable<StewardControlPlane['status']>;

const asks = { restoreFrom: { policyName: 'hourly' } };
/** The UID of the TenantControlPlane of the builder. */
const { uid } = tenantControlPlaneWith({}).metadata;
const markOf = (text: string): Readonly<Record<string, string>> => ({ [annotations.restored]: text });
const mark = markOf(`2030-01-01T00:00:00.000Z task ${uid}`);
const waits = { [annotations.awaitsRestore]: 'x-restore' };
const completionTime = '2030-01-01T00:01:00.000Z';

const stateOf = (status: object | undefined, tenant: TenantControlPlane | undefined, spec: object = asks): string =>
  restoreState({ spec, status } as Pick<StewardControlPlane, 'spec' | 'status'>, tenant).is;
const tenantWith = (marks: Readonly<Record<string, string>>): TenantControlPlane =>
  tenantControlPlaneWith({ metadata: { annotations: marks } });

describe('The restore of a StewardControlPlane', () => {
  test.each([
    ['is awaited before there is a TenantControlPlane', 'awaited', undefined, undefined],
    ['is awaited while the TenantControlPlane waits', 'awaited', undefined, waits],
    ['is awaited once it has begun, whatever becomes of the annotation', 'awaited', { restore: { name: 'a' } }, {}],
    ['is complete by the mark on the TenantControlPlane', 'complete', { restore: { name: 'a' } }, mark],
    [
      'is complete by the mark although the TenantControlPlane still waits',
      'complete',
      undefined,
      { ...mark, ...waits },
    ],
    ['is complete by the mark of its own TenantRestore', 'complete', { restore: { name: 'a', uid: 'task' } }, mark],
    ['is awaited although it bears the mark of another', 'awaited', { restore: { name: 'a', uid: 'other' } }, mark],
    ['is not complete by a mark that is no moment', 'awaited', undefined, { ...markOf(`yes task ${uid}`), ...waits }],
    ['is not complete by a day that does not exist', 'unasked', undefined, markOf(`2030-13-01T00:00:00Z task ${uid}`)],
    [
      'is not complete by the mark of a TenantControlPlane that was moved here, whose data was not',
      'unasked',
      undefined,
      markOf('2030-01-01T00:00:00.000Z task another-uid'),
    ],
    ['is on record by the status', 'recorded', { restore: { completionTime } }, {}],
    ['is on record although there is no TenantControlPlane', 'recorded', { restore: { completionTime } }, undefined],
    ['is not asked for by a TenantControlPlane that exists and does not wait', 'unasked', undefined, {}],
    [
      'is not asked for by one that has served',
      'unasked',
      { initialization: { controlPlaneInitialized: true } },
      undefined,
    ],
  ] as const)('%s', (_what, is, status, marks) => {
    expect(stateOf(status, marks === undefined ? undefined : tenantWith(marks))).toBe(is);
  });

  test.each([
    ['none without restoreFrom', 'none', undefined],
    ['on record although restoreFrom was removed afterwards', 'recorded', { restore: { completionTime } }],
    ['awaited although restoreFrom was removed meanwhile', 'awaited', { restore: { name: 'a' } }],
  ])('is %s', (_what, is, status) => {
    expect(stateOf(status, undefined, {})).toBe(is);
  });

  test('is never awaited by one that bears the mark, or whose restore is on record or that has served', () => {
    const some = fc.record(
      {
        restore: fc.record({ name: fc.string(), completionTime: fc.constant(completionTime) }, { requiredKeys: [] }),
        initialization: fc.record({ controlPlaneInitialized: fc.boolean() }),
      },
      { requiredKeys: [] },
    ) as fc.Arbitrary<Status>;
    const annotated = fc.option(
      fc
        .tuple(fc.boolean(), fc.boolean())
        .map(([isMarked, isWaiting]) => tenantWith({ ...(isMarked && mark), ...(isWaiting && waits) })),
      { nil: undefined },
    );
    fc.assert(
      fc.property(some, annotated, (status, tenant) => {
        const isOver =
          tenant?.metadata.annotations?.[annotations.restored] !== undefined ||
          status.restore?.completionTime !== undefined ||
          status.initialization?.controlPlaneInitialized === true;
        expect(isOver && stateOf(status, tenant) === 'awaited').toBe(false);
      }),
    );
  });
});

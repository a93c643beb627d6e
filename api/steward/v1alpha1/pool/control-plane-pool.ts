import { conditionList } from '../../../embedded/condition-list.ts';
import { stewardGroup } from '../../../names.ts';
import type { Infer, Input, NamespacedKind, ObjectOf } from '../../../schema.ts';
import { described, int32, int64, list, obj, opt, str, time } from '../../../schema.ts';
import { preparedTemplate } from './prepared-template.ts';

/** No pool holds more control planes in reserve: each takes memory while nobody uses it. */
export const mostReady = 100;

/** The name of a pool is a label value, and the names of its control planes begin with it, which are the names of Services. */
export const longestPoolName = 50;

const controlPlanePoolSpec = obj(
  {
    template: described(
      preparedTemplate,
      'What the prepared control planes are created from. When it changes, those that nobody has claimed are replaced.',
    ),
    minReady: opt(
      described(
        int32({ minimum: 0, maximum: mostReady }),
        'Number of control planes that are held in reserve when nobody has claimed one for a while.',
      ),
      1,
    ),
    maxReady: opt(
      described(
        int32({ minimum: 0, maximum: mostReady }),
        'Number of control planes that are held in reserve at most. In between, as many are as were claimed in the last 15 minutes. Defaults to `minReady`.',
      ),
    ),
  },
  {
    rule: '!has(self.maxReady) || self.maxReady >= self.minReady',
    message: 'maxReady must not be less than minReady',
    fieldPath: '.maxReady',
  },
);
export type ControlPlanePoolSpec = Infer<typeof controlPlanePoolSpec>;
export type ControlPlanePoolSpecInput = Input<typeof controlPlanePoolSpec>;

const recentClaim = obj({
  uid: described(str(), 'UID of the ControlPlaneClaim.'),
  time: described(time(), 'Time at which it got its control plane.'),
});
/** A claim that a pool has served recently. */
export type RecentClaim = Infer<typeof recentClaim>;

const controlPlanePoolStatus = obj({
  observedGeneration: opt(described(int64(), 'Generation of the spec that this status describes.')),
  conditions: opt(conditionList()),
  templateHash: opt(described(str(), 'Hash of the template. Prepared control planes have it as a label.')),
  wanted: opt(described(int32(), 'Number of prepared control planes that there should be, by the recent demand.')),
  ready: opt(described(int32(), 'Number of prepared control planes of the current template that can be claimed.')),
  preparing: opt(
    described(int32(), 'Number of prepared control planes of the current template that cannot be claimed yet.'),
  ),
  claimed: opt(described(int32(), 'Number of control planes of this pool that were claimed and still exist.')),
  created: opt(described(int64(), 'Number of control planes that the pool has created so far.')),
  recentClaims: opt(
    described(
      list(recentClaim, { maxItems: mostReady }),
      'Claims that got a control plane of this pool in the last 15 minutes, oldest first. Claims that were deleted since then count.',
    ),
  ),
  replacements: opt(
    described(
      obj({
        count: described(int32(), 'Number of control planes that were replaced because they did not become Ready.'),
        time: described(time(), 'Time of the last replacement. The next one follows after a delay that doubles.'),
      }),
      'Replacements since a control plane last became Ready. Absent if there were none.',
    ),
  ),
});
export type ControlPlanePoolStatus = Infer<typeof controlPlanePoolStatus>;

/** Holds control planes in reserve, so that a claim gets one at once. */
export const controlPlanePool: NamespacedKind<ControlPlanePoolSpec, ControlPlanePoolStatus, ControlPlanePoolSpecInput> =
  {
    group: stewardGroup,
    version: 'v1alpha1',
    kind: 'ControlPlanePool',
    plural: 'controlplanepools',
    namespaced: true,
    singular: 'controlplanepool',
    listKind: 'ControlPlanePoolList',
    shortNames: ['cpp'],
    categories: ['steward'],
    versions: [{ name: 'v1alpha1', served: true, storage: true }],
    description:
      'Holds control planes in reserve that run already, each with keys of its own, until somebody claims one.',
    rules: [
      {
        rule: `self.metadata.name.matches('^[a-z]([-a-z0-9]{0,${longestPoolName - 2}}[a-z0-9])?$')`,
        message: `the names of the control planes begin with that of the pool: use at most ${longestPoolName} lower-case letters, digits and dashes, begin with a letter and do not end with a dash`,
        fieldPath: '.metadata',
      },
    ],
    referral: { path: 'spec.template.spec', explained: 'tenantcontrolplane.spec' },
    spec: controlPlanePoolSpec,
    status: controlPlanePoolStatus,
    columns: [
      { name: 'Version', type: 'string', jsonPath: '.spec.template.spec.kubernetes.version' },
      { name: 'Wanted', type: 'integer', jsonPath: '.status.wanted' },
      { name: 'Ready', type: 'integer', jsonPath: '.status.ready' },
      { name: 'Preparing', type: 'integer', jsonPath: '.status.preparing' },
      { name: 'Claimed', type: 'integer', jsonPath: '.status.claimed' },
      { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ],
  };

export type ControlPlanePool = ObjectOf<typeof controlPlanePool>;

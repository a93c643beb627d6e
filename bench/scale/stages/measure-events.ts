import { setTimeout as pause } from 'node:timers/promises';

import { kinds } from '../../../api/core/kinds.ts';
import type { Key } from '../../../api/meta.ts';
import { tenantObjects } from '../../../api/names.ts';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import type { ScaleFleet } from '../fleet/scale-fleet.ts';
import { idOf, keyOf } from '../fleet/scale-fleet.ts';
import { total } from '../scale-rows.ts';
import type { EventRow } from '../scale-rows.ts';

/** Tenants of the smaller DataStore. */
const few = 10;
/** Control planes on the node that dies, or half of them all. */
const onNode = 50;
/** What follows an event has begun after so many milliseconds. */
const beginsMs = 3_000;

interface Event {
  readonly event: string;
  readonly concerned: number;
  readonly happen: () => Promise<void>;
}

/** Lets things happen that concern a part of the tenants, and counts the reconciles that follow. */
export async function measureEvents(fleet: ScaleFleet): Promise<readonly EventRow[]> {
  const all = fleet.tenants.list().map(keyOf);
  await fleet.create(few, 'few');
  const rows: EventRow[] = [];
  for (const event of eventsOf(fleet, all)) rows.push(await measureEvent(fleet, event));
  return rows;
}

function eventsOf(fleet: ScaleFleet, all: readonly Key[]): readonly Event[] {
  const [first = { namespace: '', name: '' }] = all;
  const ids = all.slice(0, Math.min(onNode, Math.floor(all.length / 2))).map(idOf);
  return [
    {
      event: 'the spec of a DataStore changes',
      concerned: few,
      happen: async () => {
        const body = { spec: { isolationPolicy: 'Enforce' } };
        await fleet.admin.patch(dataStore, { name: 'few' }, { type: 'merge', body });
      },
    },
    {
      event: 'the Secret of a CA changes',
      concerned: 1,
      happen: async () => {
        const key = { namespace: first.namespace, name: tenantObjects(first.name).ca };
        const body = { metadata: { annotations: { 'example.com/seen-by': 'bench' } } };
        await fleet.admin.patch(kinds.Secret, key, { type: 'merge', body });
      },
    },
    {
      event: 'a node with control planes dies',
      concerned: ids.length,
      happen: () => fleet.standIn.takeDown(ids),
    },
    {
      event: 'they run again on another node',
      concerned: ids.length,
      happen: () => fleet.standIn.bringUp(ids),
    },
  ];
}

async function measureEvent(fleet: ScaleFleet, { event, concerned, happen }: Event): Promise<EventRow> {
  await fleet.quiet();
  const before = await fleet.manager.begin();
  await happen();
  await pause(beginsMs);
  await fleet.quiet();
  const after = await fleet.manager.look();
  return {
    ...{ stage: 'events', event, concerned, tenants: fleet.tenants.list().length },
    reconciles: after.reconciles - before.reconciles,
    managementRequests: total(after.managementRequests) - total(before.managementRequests),
    ...{ lagP99Ms: after.lagP99Ms, lagMaxMs: after.lagMaxMs },
  };
}

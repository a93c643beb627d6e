import type { Tenancy } from '../../../../stores/driver.ts';
import type { PlantedFault, StoreUnderTest } from '../../../../stores/contract/driver-contract.ts';
import type { Tenant } from '../../../../stores/driver.ts';
import type { EtcdClient } from '../../../../stores/etcd/client.ts';
import { compactionPermission } from '../../../../stores/etcd/compaction.ts';
import type { EtcdConfig } from '../../../../stores/etcd/config.ts';
import { recordOwnership } from '../../../../stores/etcd/ownership.ts';
import { prefixRange, tenancyRange } from '../../../../stores/etcd/range.ts';
import type { KeyRange } from '../../../../stores/etcd/range.ts';

/** The states between the steps of `ensure`. */
export function halfMade(administrator: EtcdClient): StoreUnderTest<EtcdConfig>['halfMade'] {
  const steps: readonly { readonly name: string; run(tenancy: Tenancy): Promise<unknown> }[] = [
    { name: 'owner recorded', run: (tenancy) => recordOwnership(administrator, tenancy) },
    { name: 'user added', run: ({ user }) => administrator.addUser(user) },
    { name: 'role added', run: ({ schema }) => administrator.addRole(schema) },
    {
      name: 'a wrong range and a wrong role granted',
      run: async ({ schema, user }) => {
        const range = { start: Buffer.from(`/${schema}/`), end: Buffer.from('\\0') };
        await administrator.grantPermission(schema, { type: 'Readwrite', range });
        await administrator.grantPermission(schema, { type: 'Read', range: tenancyRange(schema) });
        await administrator.grantRole(user, 'root');
      },
    },
    { name: 'role granted', run: ({ schema, user }) => administrator.grantRole(user, schema) },
  ];
  return steps.map(({ name }, last) => ({
    name,
    make: async (tenancy) => {
      for (const step of steps.slice(0, last + 1)) await step.run(tenancy);
    },
  }));
}

/** Mistakes that open a tenancy in etcd. */
export function plantedFaults(administrator: EtcdClient): readonly PlantedFault[] {
  const widen = (attacker: Tenant, type: 'Read' | 'Readwrite', range: KeyRange): Promise<void> =>
    administrator.grantPermission(attacker.tenancy.schema, { type, range });
  const start = ({ tenancy }: Tenant): Buffer => Buffer.from(`/${tenancy.schema}/`);
  return [
    {
      name: 'the range end of CVE-2024-42480, a backslash and a zero',
      plant: (attacker) => widen(attacker, 'Readwrite', { start: start(attacker), end: Buffer.from('\\0') }),
    },
    {
      name: 'a prefix without its last slash',
      plant: (attacker) => widen(attacker, 'Readwrite', prefixRange(start(attacker).subarray(0, -1))),
    },
    {
      name: 'a range that ends one byte late',
      plant: (attacker) => {
        const { start: from, end } = tenancyRange(attacker.tenancy.schema);
        return widen(attacker, 'Read', { start: from, end: Buffer.concat([end, Buffer.from([0])]) });
      },
    },
    {
      name: "the victim's keys to read",
      plant: (attacker, { tenancy }) => widen(attacker, 'Read', tenancyRange(tenancy.schema)),
    },
    {
      name: 'the key of compaction to write',
      // An attempt to write it would change what the API servers of all tenants read.
      unverified: true,
      plant: (attacker) => widen(attacker, 'Readwrite', compactionPermission.range),
    },
    {
      name: "the victim's role",
      plant: (attacker, { tenancy }) => administrator.grantRole(attacker.tenancy.user, tenancy.schema),
    },
  ];
}

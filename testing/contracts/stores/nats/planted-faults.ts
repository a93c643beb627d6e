import type { PlantedFault } from '../../../../stores/contract/driver-contract.ts';
import type { AccountBody } from '../../../../stores/nats/grants.ts';
import { tenantAccount } from '../../../../stores/nats/grants.ts';
import type { NatsOverview } from './overview.ts';

const all = { pub: { allow: ['>'] }, sub: { allow: ['>'] } };
const anyNumber = { imports: -1, exports: -1, wildcards: true };

/** Mistakes in accounts: JWTs that an administrator pushed by hand, or that a driver made too wide. */
export function plantedFaults(overview: NatsOverview): readonly PlantedFault[] {
  const change = async (tenant: { readonly tenancy: Parameters<NatsOverview['claims']>[0] }, more: object) => {
    const claims = overview.claims(tenant.tenancy);
    const nats = { ...claims.nats, ...more, limits: { ...claims.nats.limits, ...anyNumber } } as AccountBody;
    await overview.push({ ...claims, nats });
  };
  const exported = (type: string, subject: string): object => ({ name: subject, subject, type });
  const imported = (type: string, subject: string, schema: string): object => ({
    name: subject,
    subject,
    type,
    account: tenantAccount(schema),
  });
  return [
    { name: 'permissions of everything', plant: (attacker) => change(attacker, { default_permissions: all }) },
    {
      name: 'no permissions said, which is everything',
      plant: (attacker) => change(attacker, { default_permissions: { pub: {}, sub: {} } }),
    },
    {
      name: "the victim's keys exported and imported",
      plant: async (attacker, victim) => {
        const keys = `$KV.${victim.tenancy.schema}.>`;
        await change(victim, { exports: [exported('stream', keys)] });
        const imports = [imported('stream', keys, victim.tenancy.schema)];
        await change(attacker, { imports, default_permissions: all });
      },
    },
    {
      name: "the victim's writes exported and imported",
      plant: async (attacker, victim) => {
        const keys = `$KV.${victim.tenancy.schema}.>`;
        await change(victim, { exports: [exported('service', keys)] });
        const imports = [imported('service', keys, victim.tenancy.schema)];
        const { pub, sub } = overview.claims(attacker.tenancy).nats.default_permissions;
        await change(attacker, { imports, default_permissions: { pub: { allow: [...pub.allow, keys] }, sub } });
      },
    },
  ];
}

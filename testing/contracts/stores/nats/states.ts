import type { Tenancy } from '../../../../stores/driver.ts';
import type { StoreUnderTest } from '../../../../stores/contract/driver-contract.ts';
import type { NatsConfig } from '../../../../stores/nats/config.ts';
import type { NatsOverview } from './overview.ts';

/** The states between the steps of the driver's `ensure` and `remove`. */
export function halfMadeStates(overview: NatsOverview): StoreUnderTest<NatsConfig>['halfMade'] {
  const record = (key: string, { owner, schema, user }: Tenancy): Promise<unknown> =>
    overview.records.create(key, { owner, schema, user });
  const steps: readonly { readonly name: string; run(tenancy: Tenancy): Promise<unknown> }[] = [
    { name: 'schema recorded', run: (tenancy) => record(`schemas.${tenancy.schema}`, tenancy) },
    { name: 'user recorded', run: (tenancy) => record(`users.${tenancy.user}`, tenancy) },
    { name: 'account made', run: (tenancy) => overview.makeAccount(tenancy) },
    { name: 'bucket made', run: (tenancy) => overview.makeBucket(tenancy) },
    {
      name: 'account closed',
      run: (tenancy) => {
        const claims = overview.claims(tenancy);
        const limits = { ...claims.nats.limits, disk_storage: 1 };
        return overview.push({
          ...claims,
          nats: { ...claims.nats, limits, signing_keys: claims.nats.signing_keys.slice(0, 1) },
        });
      },
    },
    { name: 'user forgotten', run: ({ user }) => overview.records.forget(`users.${user}`) },
  ];
  return steps.map(({ name }, last) => ({
    name,
    make: async (tenancy) => {
      for (const step of steps.slice(0, last + 1)) await step.run(tenancy);
    },
  }));
}

import type { IsolationProbe, Tenancy } from '../../driver.ts';
import type { Attack } from '../../isolation/attempt.ts';
import type { NatsConfig } from '../config.ts';
import { isUnanswered } from '../errors.ts';
import { answerAttack, bucketAttacks, hearingAttacks, loginAttacks, systemAttacks } from './attacks.ts';
import { natsHand } from './nats-hand.ts';
import { contextOf, rawNatsClient } from './raw-client.ts';

/** Acts as tenants of a NATS: clients of the library itself, with what a tenant's kine logs in with. */
export const natsProbe: IsolationProbe<NatsConfig> = {
  connect: (config, { tenancy }) => natsHand(config, tenancy),
  attack: (config, attacker, victim) => attack(config, attacker.tenancy, victim.tenancy),
  isRefusal,
  isAnswer: (error) => isRefusal(error) || isUnanswered(error),
};

/** True for a NATS server's refusal. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    error.name === 'NatsRefusal' ||
    error.name === 'AuthorizationError' ||
    error.name === 'PermissionViolationError' ||
    /permissions violation/i.test(error.message)
  );
}

async function attack(config: NatsConfig, attacker: Tenancy, victim: Tenancy): Promise<Attack> {
  const context = contextOf(config, attacker);
  const client = await rawNatsClient(config, context);
  const victimHand = await natsHand(config, victim);
  const stir = async (): Promise<void> => {
    const value = await victimHand.read('a');
    await victimHand.write('a', value ?? '');
  };
  return {
    lanes: [
      [
        ...bucketAttacks(client, attacker.schema, victim.schema),
        ...systemAttacks(client, victim.schema, context.user_seed ?? ''),
        // In the same lane: a tenant may receive the answers to its own requests.
        answerAttack(client, stir),
      ],
      ...hearingAttacks(client, victim.schema, stir).map((attempt) => [attempt]),
      loginAttacks(config, context, victim.schema),
    ],
    [Symbol.asyncDispose]: async () => {
      await Promise.all([client.close(), victimHand[Symbol.asyncDispose]()]);
    },
  };
}

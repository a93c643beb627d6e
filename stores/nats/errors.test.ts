import { describe, expect, test } from '@jest/globals';
import { JetStreamRefusal, unavailableError, withStoreErrors } from './errors.ts';

const named = (name: string, message: string): Error => Object.assign(new Error(message), { name });
const finalText = (code: number): Promise<unknown> =>
  withStoreErrors('create the bucket', () => Promise.reject(new JetStreamRefusal(code, 'no'))).catch(
    (error: unknown) => (error as Error).message,
  );

describe('The message for an unexpected error of JetStream', () => {
  test.each([10005, 10008, 10074])('%i names the number of servers', async (code) => {
    expect(await finalText(code)).toMatch(/spec\.nats\.replicas/);
  });

  test.each([10002, 10023, 10028, 10047, 10077])('%i names storage', async (code) => {
    expect(await finalText(code)).toMatch(/spec\.nats\.storagePerTenant/);
  });

  test('contains the number of any other error, and no guess', async () => {
    expect(await finalText(10100)).toMatch(/no \(10100\)$/);
  });
});

describe('The error of an endpoint that cannot be used', () => {
  test.each(['AuthorizationError', 'UserAuthenticationExpiredError'])('%s names the credentials', (name) => {
    const error = unavailableError(
      [{ endpoint: 'n:4222', error: named(name, 'Authorization Violation') }],
      'spec.nats',
    );
    expect(error.reason).toBe('Unauthorized');
    expect(error.message).toMatch(/n:4222: .*spec\.nats/);
  });

  test('any other failure says that there was no answer', () => {
    const error = unavailableError(
      [{ endpoint: 'n:4222', error: named('Error', 'connect ECONNREFUSED') }],
      'spec.nats',
    );
    expect(error.reason).toBe('Unreachable');
  });
});

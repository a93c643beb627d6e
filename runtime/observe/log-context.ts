import { AsyncLocalStorage } from 'node:async_hooks';
import type { LogFields } from './logger.ts';

const storage = new AsyncLocalStorage<LogFields>();

/** Runs `action` so that every line logged from it, however deep, carries these fields besides those already there. */
export function withLogFields<T>(fields: LogFields, action: () => T): T {
  return storage.run({ ...storage.getStore(), ...fields }, action);
}

/** The fields of the reconcile this call belongs to; none outside of reconciles. */
export function currentLogFields(): LogFields {
  return storage.getStore() ?? {};
}

import type { IsolationProbe } from '../../driver.ts';
import type { LoginConfig } from '../../login-config.ts';
import { notImplemented } from '../not-implemented.ts';

/** Acts as tenants. Every call fails by name. */
export const cockroachProbe: IsolationProbe<LoginConfig> = {
  connect: () => notImplemented('connect as a tenant'),
  attack: () => notImplemented('attack as a tenant'),
  isRefusal: () => false,
  isAnswer: () => false,
};

import { backUp } from './back-up.ts';
import { create } from './create.ts';
import { deleteTenant } from './delete-tenant.ts';
import { drain } from './drain.ts';
import { migrate } from './migrate.ts';
import type { Play } from './play.ts';
import { recreate } from './recreate.ts';
import { restore } from './restore.ts';
import { rotate } from './rotate.ts';
import { upgrade } from './upgrade.ts';

/** Every operation that is played. */
export const plays: readonly Play[] = [
  create,
  upgrade,
  rotate,
  migrate,
  drain,
  backUp,
  restore,
  recreate,
  deleteTenant,
];

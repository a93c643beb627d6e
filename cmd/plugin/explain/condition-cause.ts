import type { Condition } from '../../../api/meta.ts';
import { remedyFor } from '../../../api/remedies/remedy-table.ts';
import type { RemediedKind } from '../../../api/remedies/remedy-table.ts';
import { toDo } from '../../../api/remedies/remedy.ts';
import type { Remedy } from '../../../api/remedies/remedy.ts';
import { filledIn } from './filled-in.ts';
import type { Cause } from './explanation.ts';
import type { Situation } from './situation.ts';

/** For a reason that another API server gave, such as `Forbidden`. */
const unknown = toDo(
  'Do what the message says; the log of the manager says more. It is tried again with back-off.',
  'kubectl -n steward-system logs -l app.kubernetes.io/name=steward --tail=200',
);

/** A cause with a remedy whose placeholders are filled in. */
export function causeWith(
  situation: Situation,
  found: Pick<Cause, 'reason' | 'where' | 'what' | 'since'>,
  remedy: Remedy,
): Cause {
  const { text, commands = [], passes } = remedy;
  const { since, ...rest } = found;
  return {
    ...rest,
    ...(since !== undefined && { since }),
    remedy: text,
    commands: commands.map((command) => filledIn(command, situation)),
    passes,
  };
}

/** The cause that a condition itself states. */
export function conditionCause(
  situation: Situation,
  kind: RemediedKind,
  { type, reason, message, lastTransitionTime: since }: Condition,
): Cause {
  const remedy = remedyFor(kind, type, reason) ?? unknown;
  const what = message === '' ? `${type} is ${reason}` : message;
  return causeWith(situation, { reason, where: `condition ${type} of the ${kind}`, what, since }, remedy);
}

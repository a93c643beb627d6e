import type { StoredChange } from '../tenancy-data.ts';
import { RepositoryError } from './backup-repository.ts';
import { decodeChanges, encodeChanges } from './change-coding.ts';
import { JsonFields } from './json-fields.ts';

/** Changes that were read together: applied after all before them, they give the state of one revision. */
export interface ChangeRound {
  /**
   * The moment of their state, in RFC 3339 with milliseconds: usually a whole second. Nothing that was written later is contained; parts of one
   * moment have the same, of which the last one completes the state.
   */
  readonly at: string;
  readonly revision: bigint;
  readonly changes: readonly StoredChange[];
}

/** What was followed for some seconds, as one file. */
export interface ChangeSegment {
  /** The changes begin after this revision, and none is left out up to the last round. */
  readonly after: bigint;
  readonly rounds: readonly ChangeRound[];
}

interface Header {
  readonly format: 1;
  readonly after: string;
  readonly rounds: readonly { readonly at: string; readonly revision: string; readonly bytes: number }[];
}

/** The length of a header in JSON, the header, and the changes of its rounds. */
export function encodeSegment({ after, rounds }: ChangeSegment): Uint8Array {
  const bodies = rounds.map(({ changes }) => encodeChanges(changes));
  const header: Header = {
    format: 1,
    after: after.toString(),
    rounds: rounds.map(({ at, revision }, index) => {
      return { at, revision: revision.toString(), bytes: bodies[index]?.length ?? 0 };
    }),
  };
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length);
  return Buffer.concat([length, text, ...bodies]);
}

/** What `encodeSegment` wrote. Throws `RepositoryError` for anything else. */
export function decodeSegment(name: string, content: Uint8Array): ChangeSegment {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const end = bytes.length < 4 ? 4 : 4 + bytes.readUInt32BE();
  if (bytes.length < end) throw new RepositoryError(`${name} ends too early`);
  const header = JsonFields.of(name, bytes.subarray(4, end).toString());
  let at = end;
  const rounds = header.list('rounds').map((round): ChangeRound => {
    const from = at;
    at += round.count('bytes');
    if (at > bytes.length) throw new RepositoryError(`${name} ends too early`);
    return {
      at: round.text('at'),
      revision: round.revision('revision'),
      changes: decodeChanges(bytes.subarray(from, at)),
    };
  });
  return { after: header.revision('after'), rounds };
}

import type { FuzzTarget } from './fuzz-target.ts';

/** Parses one input. Rejects unless the input is accepted, or refused with an error that the parser is documented to throw. */
export async function attempt({ parse, refusals }: FuzzTarget, input: Uint8Array): Promise<void> {
  // Parsers get a copy: what they do to it must not reach the next one.
  const own = Buffer.from(input);
  try {
    await parse(own);
  } catch (error) {
    if (!refusals.some((refusal) => error instanceof refusal)) throw error;
  }
}

/** What a run of one target came to. */
export interface FuzzResult {
  readonly name: string;
  readonly from: string;
  readonly seconds: number;
  /** Inputs tried. */
  readonly inputs: number;
  /** Branches of the code that some input took. */
  readonly branches: number;
  /** Inputs that take branches which no other one does. */
  readonly corpus: number;
  /** What went wrong, with the input in base64. */
  readonly findings: readonly string[];
}

/** The last figures in the fuzzer's output (https://llvm.org/docs/LibFuzzer.html#output). */
export function readFigures(output: string): Pick<FuzzResult, 'inputs' | 'branches' | 'corpus'> {
  const last = [...output.matchAll(/^#(\d+)\s.*?\bcov: (\d+) .*?\bcorp: (\d+)/gm)].at(-1);
  const [, inputs = '0', branches = '0', corpus = '0'] = last ?? [];
  return { inputs: Number(inputs), branches: Number(branches), corpus: Number(corpus) };
}

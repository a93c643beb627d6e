const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Digits of a number in another base, both with the most significant first. */
function rebase(digits: Iterable<number>, from: number, to: number): number[] {
  const result: number[] = [];
  for (const digit of digits) {
    let carry = digit;
    for (let at = 0; at < result.length; at += 1) {
      carry += (result[at] ?? 0) * from;
      result[at] = carry % to;
      carry = Math.floor(carry / to);
    }
    while (carry > 0) {
      result.push(carry % to);
      carry = Math.floor(carry / to);
    }
  }
  return result.reverse();
}

function leadingZeros(digits: readonly number[]): number {
  const first = digits.findIndex((digit) => digit !== 0);
  return first === -1 ? digits.length : first;
}

/** Base58 with Bitcoin's alphabet: letters and digits that a subject of NATS takes, case counts. */
export function encodeBase58(bytes: Uint8Array): string {
  const zeros = leadingZeros([...bytes]);
  const digits = rebase(bytes.subarray(zeros), 256, 58);
  return alphabet.charAt(0).repeat(zeros) + digits.map((digit) => alphabet.charAt(digit)).join('');
}

/** The bytes of a base58 text; undefined when it is none. */
export function decodeBase58(text: string): Uint8Array | undefined {
  const digits = Array.from(text, (character) => alphabet.indexOf(character));
  if (digits.includes(-1)) return undefined;
  const zeros = leadingZeros(digits);
  return Uint8Array.from([...new Array<number>(zeros).fill(0), ...rebase(digits.slice(zeros), 58, 256)]);
}

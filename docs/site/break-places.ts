/** A part of a text before or after which a line may be broken; `isWhole` parts are not broken inside either. */
export interface TextPart {
  readonly text: string;
  readonly isWhole: boolean;
}

/** Before a capital letter inside a name, and behind a sign that separates names. */
const seams = /(?<=[a-z\d])(?=[A-Z]+[a-z])|(?<=[A-Z]{2})(?=[A-Z][a-z])|(?<=[\w)\]}>"'][./_=:|,{([]+)(?=["'A-Za-z[{(<])/;
/** Shorter words fit everywhere. */
const long = /(\S{9,})/;

/** Where long names, paths and flags are best broken on a narrow screen, instead of at any letter. */
export function breakPlaces(text: string): readonly TextPart[] {
  return text.split(/((?<![\w-])--[a-z]\w*)/).flatMap((part, at): readonly TextPart[] => {
    if (at % 2 === 1) return [{ text: part, isWhole: true }];
    const parts = part.split(long).flatMap((word, index) => (index % 2 === 1 ? word.split(seams) : [word]));
    return parts.filter((each) => each !== '').map((each) => ({ text: each, isWhole: false }));
  });
}

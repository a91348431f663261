/** A model's version: three integers, compared as such. */
export type VersionParts = readonly [major: number, minor: number, patch: number];

/** The version of a model that is made without naming one. */
export const FIRST_VERSION = '1.0.0';

export const VERSION_PATTERN = '^(0|[1-9][0-9]{0,8})\\.(0|[1-9][0-9]{0,8})\\.(0|[1-9][0-9]{0,8})$';

const VERSION = new RegExp(VERSION_PATTERN);

/** Reads `1.10.0`: three integers without leading zeros, each below 10^9. Anything else is undefined. */
export function parseVersion(text: string): VersionParts | undefined {
  const match = VERSION.exec(text);
  return match === null ? undefined : [Number(match[1]), Number(match[2]), Number(match[3])];
}

/** Negative when `a` is the lower version. */
export function compareVersions(a: VersionParts, b: VersionParts): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

/** The version after the highest of these: its minor number plus one, patch 0. */
export function nextMinorVersion(versions: readonly string[]): string {
  const highest = versions
    .map(parseVersion)
    .filter((parts) => parts !== undefined)
    .toSorted(compareVersions)
    .at(-1);
  return highest === undefined ? FIRST_VERSION : `${highest[0]}.${highest[1] + 1}.0`;
}

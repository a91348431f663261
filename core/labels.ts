import { stringMap } from './string-map.ts';

const LABEL = /^[a-zA-Z0-9][a-zA-Z0-9._/-]{0,62}$/;

/** Labels as devices have and subscriptions select them. */
export const labels = stringMap(
  'labels',
  (label, value) =>
    LABEL.test(label) && value.length <= 255
      ? undefined
      : 'a label is 1 to 63 of letters, digits and ._/-, its value at most 255 characters',
  64,
  {
    legal: 'an object of names and texts',
    members: { type: 'string', maxLength: 255 },
    names: { pattern: LABEL.source },
  },
);

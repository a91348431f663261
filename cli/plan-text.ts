/** A plan as people and pipelines read it. No secret is in it, nor a header's value. */
import { SECRET_MASK } from '../core/secret.ts';
import { formatJsonLine, isObject, type Json, type JsonObject } from './json-text.ts';
import type { Change, Plan, Step } from './plan-steps.ts';
import { formatSecretReference } from './secret-reference.ts';
import { formatPlace, type Mistake } from './source-file.ts';
import { colored, printable, type Terminal, wrapped } from './terminal.ts';
import { withValueAt } from './wanted.ts';

const SIGNS = {
  create: { sign: '+', color: 'green' },
  update: { sign: '~', color: 'yellow' },
  delete: { sign: '-', color: 'red' },
} as const;

const LONGEST_VALUE = 60;

/** One line for a step that was or will be taken. */
export function formatStep(step: Step, id: number | undefined, terminal: Terminal): string {
  const { sign, color } = SIGNS[step.action];
  const name = step.kind === 'webhook' ? 'webhook' : `${step.kind} ${step.key}`;
  const part = step.part === undefined || step.part === 'import' ? '' : `, ${partName(step)}`;
  const number = id === undefined ? '' : ` (id ${id})`;
  return colored(
    terminal,
    color,
    wrapped(printable(`${sign} ${name}${part}${number}`), terminal.columns, '  '),
  );
}

function partName(step: Step): string {
  return step.part === 'model' ? 'settings' : (step.changes[0]?.member ?? '');
}

/** Everything that an apply will do, step by step. */
export function formatPlan(plan: Plan, terminal: Terminal): string {
  const line = (text: string, indent = '  ') => wrapped(printable(text), terminal.columns, indent);
  const blocks = [
    ...plan.adoptions.map(({ kind, key, id }) =>
      line(`= ${kind === 'webhook' ? 'webhook' : `${kind} ${key} (id ${id})`} is taken over`),
    ),
    ...plan.steps.map((step) =>
      [
        formatStep(step, step.id, terminal),
        ...shownChanges(step).map((change) => line(`    ${formatChange(step, change)}`, '      ')),
      ].join('\n'),
    ),
  ];
  const count = (action: Step['action']) => plan.steps.filter((step) => step.action === action).length;
  const { unchanged } = plan;
  const total =
    plan.steps.length === 0
      ? `Nothing to do: ${unchanged === 1 ? 'the one object is' : `all ${unchanged} objects are`} as wanted.`
      : `${count('create')} to create, ${count('update')} to change, ${count('delete')} to remove; ${unchanged} as wanted.`;
  return [...blocks, ...(blocks.length > 0 ? [''] : []), line(total, '')].join('\n');
}

/** Of something new only what is said of it: the rest is its default. */
function shownChanges(step: Step): readonly Change[] {
  if (step.action !== 'create') return step.changes;
  const isSaid = ({ member, to }: Change) =>
    // That a device speaks gNMI is worth a line though it be with all defaults.
    member === 'gnmi' || member === 'snmp' ? to !== null : member !== 'name' && !isDefault(to);
  return step.changes.filter(isSaid);
}

function isDefault(value: Json | undefined): boolean {
  if (value === null || value === undefined || value === '' || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.values(value).every(isDefault);
}

function formatChange(step: Step, { member, from, to }: Change): string {
  const secret = step.secrets.get(member);
  if (secret !== undefined)
    return `${member.replaceAll('/', '.')}: sent from ${formatSecretReference(secret.reference)}`;
  if (/(^|\.)headers$/.test(member)) return `${member}: ${headerNames(from)} → ${headerNames(to)}`;
  if (from === undefined) return `${member}: ${formatValue(to)}`;
  return `${member}: ${formatValue(from)} → ${to === undefined ? 'gone' : formatValue(to)}`;
}

/** Inner objects without what they leave at its default; of lists of objects their names. */
function formatValue(value: Json | undefined): string {
  if (Array.isArray(value) && value.every(isObject)) {
    const names = value.map(({ name, protocol, netos }) =>
      protocol === undefined ? name : `${protocol} ${netos}`,
    );
    return shortened(names.join(', '));
  }
  const shown = isObject(value)
    ? Object.fromEntries(Object.entries(value).filter(([, member]) => !isDefault(member)))
    : (value ?? null);
  const text = typeof shown === 'string' && shown !== '' ? shown : formatJsonLine(shown);
  return shortened(text);
}

function shortened(text: string): string {
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}

function headerNames(headers: Json | undefined): string {
  const names = isObject(headers) ? Object.keys(headers) : [];
  return names.length === 0 ? 'none' : names.join(', ');
}

/** The same as JSON: every request with its body. */
export function planJson(plan: Plan): JsonObject {
  return {
    steps: plan.steps.map((step) => ({
      action: step.action,
      kind: step.kind,
      key: step.key,
      method: step.method,
      path: step.path,
      body: step.body === undefined ? null : withoutHeaderValues(step.body),
      secrets: Object.fromEntries(
        [...step.secrets].map(([path, { reference }]) => [path, formatSecretReference(reference)]),
      ),
      'device-names': step.deviceNames,
      changes: step.changes.map(({ member, from, to }) => ({
        member,
        from: withoutValues(member, from),
        to: withoutValues(member, to),
      })),
      place: step.place === undefined ? null : formatPlace(step.place),
    })),
    adoptions: plan.adoptions.map(({ kind, key, id }) => ({ kind, key, id: id ?? null })),
    conflicts: plan.conflicts.map(mistakeJson),
    mistakes: plan.mistakes.map(mistakeJson),
    notes: plan.notes,
    unchanged: plan.unchanged,
  };
}

function mistakeJson({ place, sentence }: Mistake): JsonObject {
  return { place: place.line === 0 ? null : formatPlace(place), sentence };
}

function withoutHeaderValues(body: JsonObject): JsonObject {
  const config = body['config'];
  if (!isObject(config) || !isObject(config['headers'])) return body;
  return withValueAt(body, 'config/headers', withoutValues('headers', config['headers']));
}

function withoutValues(member: string, value: Json | undefined): Json {
  if (!/(^|[./])headers$/.test(member) || !isObject(value)) {
    return /(^|[./])headers\//.test(member) && value !== undefined ? SECRET_MASK : (value ?? null);
  }
  return Object.fromEntries(Object.keys(value).map((name) => [name, SECRET_MASK]));
}

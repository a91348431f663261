import type { Command, Flag } from './command.ts';
import { wrapped } from './terminal.ts';

/** What there is, on one screen. */
export function overview(
  commands: readonly Command[],
  flags: Readonly<Record<string, Flag>>,
  columns: number | undefined,
): string {
  const rows: [string, string][] = commands.map(({ name, summary }) => [name, summary]);
  return [
    'graticule COMMAND [WORDS] [FLAGS]',
    '',
    ...list([...rows, ['help COMMAND', 'more about one of them']], columns),
    '',
    wrapped('Flags of every command, with the environment variable that does the same:', columns),
    ...list(Object.entries(flags).map(flagRow), columns),
    '',
    wrapped(
      'Ends with 0 done, 1 refused, 2 wrong command, setting or file (nothing sent), 3 no answer, 4 token, 5 conflict, 6 changes pending (plan --check), 130 Ctrl-C.',
      columns,
    ),
  ].join('\n');
}

export function commandHelp(command: Command, columns: number | undefined): string {
  const flags = Object.entries(command.flags).map(flagRow);
  return [
    ...command.usage.map((usage) => wrapped(`graticule ${usage}`, columns, '  ')),
    '',
    wrapped(`${capital(command.summary)}.`, columns),
    ...(command.help ?? '')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => wrapped(line, columns)),
    ...(flags.length === 0 ? [] : ['', ...list(flags, columns)]),
    '',
    wrapped('graticule help lists the flags that every command takes.', columns),
  ].join('\n');
}

function flagRow([name, flag]: [string, Flag]): [string, string] {
  const short = flag.short === undefined ? '' : `-${flag.short}, `;
  return [`${short}--${name}${flag.value === undefined ? '' : ` ${flag.value}`}`, flag.text];
}

/** Two columns; in a narrow terminal the second goes below the first. */
function list(rows: ReadonlyArray<readonly [string, string]>, columns: number | undefined): string[] {
  const width = Math.max(...rows.map(([left]) => left.length)) + 4;
  const isNarrow = columns !== undefined && columns < width + 30;
  return rows.map(([left, right]) =>
    isNarrow
      ? `  ${left}\n    ${wrapped(right, columns - 4, '    ')}`
      : `  ${left.padEnd(width - 2)}${wrapped(right, columns === undefined ? undefined : columns - width, ' '.repeat(width))}`,
  );
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

import { colored, printable, type Terminal } from './terminal.ts';

export interface Column<Row> {
  readonly title: string;
  value(row: Row): string | number | bigint | boolean | null;
}

const GAP = '  ';

/**
 * Rows under their titles; where the lines are too short for that, each row as a small list of its own. Empty lists are a
 * sentence: `nothing`.
 */
export function formatTable<Row>(
  rows: readonly Row[],
  columns: ReadonlyArray<Column<Row>>,
  terminal: Terminal,
  nothing: string,
): string {
  if (rows.length === 0) return nothing;
  const cells = rows.map((row) => columns.map((column) => printable(String(column.value(row) ?? ''))));
  const widths = columns.map((column, index) =>
    cells.reduce((widest, row) => Math.max(widest, lengthOf(row[index] as string)), column.title.length),
  );
  const total = widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length);
  if (terminal.columns !== undefined && total > terminal.columns) {
    return cells.map((row) => formatRecord(row, columns, terminal, terminal.columns as number)).join('\n\n');
  }
  const line = (row: readonly string[]) =>
    row
      .map((cell, index) => cell + ' '.repeat((widths[index] as number) - lengthOf(cell)))
      .join(GAP)
      .trimEnd();
  const titles = line(columns.map(({ title }) => title));
  return [colored(terminal, 'bold', titles), ...cells.map(line)].join('\n');
}

/** One row as `title: value` lines; long values go on, indented. */
function formatRecord<Row>(
  row: readonly string[],
  columns: ReadonlyArray<Column<Row>>,
  terminal: Terminal,
  width: number,
): string {
  return columns
    .map(({ title }, index) => {
      const head = `${title}: `;
      const lines: string[] = [];
      let rest = [...(row[index] as string)];
      for (let room = Math.max(0, width - head.length); rest.length > room; room = width - GAP.length) {
        lines.push(rest.slice(0, room).join(''));
        rest = rest.slice(room);
      }
      lines.push(rest.join(''));
      return `${colored(terminal, 'bold', `${title}:`)} ${lines.join(`\n${GAP}`)}`.trimEnd();
    })
    .join('\n');
}

/** Characters, not UTF-16 units. */
function lengthOf(text: string): number {
  return [...text].length;
}

/** Small parts that all generated pages are put together from. */

export const madeFrom = (source: string) =>
  `<!-- Made by \`npm run docs\` from ${source}. Change that file, not this one. -->`

/** A table; bars inside cells are escaped, since they would end the cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

export const code = (text: string) => `\`${text}\``
export const codes = (texts: readonly string[]) => texts.map(code).join(', ')
export const page = (...parts: readonly string[]) => `${parts.join('\n\n')}\n`
export const fenced = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\``

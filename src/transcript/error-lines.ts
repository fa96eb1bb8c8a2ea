const AT_START =
  /^(?:\[?(?:error|fatal|panic|critical)\b|(?:[A-Za-z_$][\w.$]*)?(?:Error|Exception)\b|traceback \(most recent|npm err!|fail(?:ed|ure)?\b)/i
const ANYWHERE = /\b(?:ERROR|FATAL|CRITICAL|panicked at|Unhandled\w* (?:error|exception|rejection))\b/
const LONGEST_LOOKED_AT = 500
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are not part of the words
const COLOURS = /\u001b\[[0-9;:]*m/g

/** Whether a line of any program tells of an error. A guess: it puts a mark beside the line, and decides nothing. */
export function looksLikeError(line: string): boolean {
  const start = line.slice(0, LONGEST_LOOKED_AT).replace(COLOURS, '').trimStart()
  return AT_START.test(start) || ANYWHERE.test(start)
}

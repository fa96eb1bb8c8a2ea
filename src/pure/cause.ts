/** Why something failed, with the cause first: a command with its path, and the trace below it, leave no room for it. Pure. */

/** "C:\tools\x.sh exited with code 1: what it said". The command may have spaces. */
const ENDED =
  /^.+? (exited with code \d+|was killed by SIG[A-Z0-9]+|exceeded its timeout)(?:: ([\s\S]*)|\.)?$/
const NAMED_ERROR =
  /^(?:Uncaught |Caused by: |panic: )?((?:[\w$]+\.)*\w*(?:Error|Exception|Panic)\w*)(?: \[[^\]]*\])?: (.+)$/
const SAYS_WHY =
  /\b(?:error|fatal|failed|failure|cannot|can't|could not|not found|denied|no such file|refused|invalid|missing|unknown)\b/i
/** Who says it, and where: the shell with its line, `npm ERR!`, `error:`. */
const PREFIXES = [
  /^npm (?:ERR!|error) (?:code )?/,
  /^(?:\S*\/)?[\w.-]+: line \d+: /,
  /^(?:error|fatal|fehler): /i,
]
/** Colours of a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const COLOURS = /\u001b\[[\d;]*m/g

const sentence = (how: string) => `It ${how}`

function without(line: string): string {
  let rest = line
  for (const prefix of PREFIXES) rest = rest.replace(prefix, '')
  return rest === '' ? line : rest
}

function causeIn(output: string): string | null {
  const lines = output
    .replace(COLOURS, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  // The last one: of errors that cause each other, the first cause comes last.
  const named = lines.findLast((line) => NAMED_ERROR.test(line))
  if (named !== undefined) {
    const [, name, message] = NAMED_ERROR.exec(named)!
    return name === 'Error' ? message! : `${name}: ${message}`
  }
  const line = lines.findLast((one) => SAYS_WHY.test(one)) ?? lines.at(-1)
  return line === undefined ? null : without(line)
}

/** Names of failures are for programs: "adapter_not_installed: There is no program". */
const CODE = /^[a-z]+(?:_[a-z]+)+: /

/** One line: the cause. What was said in full belongs into a tooltip. */
export function causeOf(reason: string): string {
  const said = reason.trim().replace(CODE, '')
  const [, how, output = ''] = ENDED.exec(said) ?? []
  if (how !== undefined) return causeIn(output) ?? sentence(how)
  return (said.includes('\n') ? causeIn(said) : null) ?? said
}

import type { Invocation } from './use-run.ts'

/** What needs no quotes in a shell. */
const PLAIN = /^[\w@%+=:,./-]+$/

const quoted = (text: string) => (PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

/** As it would be typed. Nothing is typed: programs are started without a shell. */
export const commandLine = ({ command, args }: NonNullable<Invocation['program']>) =>
  [command, ...args].map(quoted).join(' ')

export const requestLine = ({ method, url }: NonNullable<Invocation['request']>) => `${method} ${url}`

/** What is wrong with the settings of an agent, by field. Forms show it at the field; the API names the field in full. */

export interface FieldProblem {
  /** As the API names it: `adapterConfig.cwd`. */
  field: string
  /** Without the field: "is missing". */
  message: string
}

/** The names of settings, and of what is in them, begin sentences about them: "command is missing.", "args[0] must be a string.". */
const NAMED = /^([A-Za-z_]\w*(?:\[\d+\]|\.[^\s]+)*) ((?:is|are|must|has|have|names|cannot|matches) .*)$/s

/** A sentence of the check of settings as a problem of the setting that it names. `of`: what these settings are called. */
export function problemIn(sentence: string, of: string): FieldProblem {
  if (sentence.startsWith('env and headers ')) return { field: `${of}.env`, message: sentence }
  const [, name, said] = NAMED.exec(sentence) ?? []
  return name === undefined || said === undefined
    ? { field: of, message: sentence }
    : { field: `${of}.${name}`, message: said }
}

/** What the server refused, as precisely as it said it: settings are refused as a whole, and the sentence names the one. */
export const preciseProblem = ({ field, message }: FieldProblem): FieldProblem =>
  /^(adapterConfig|config|runtimeConfig)$/.test(field) ? problemIn(message, field) : { field, message }

/** A setting that is an object or a list is one field of a form. */
export const topSettingOf = ({ field }: FieldProblem): string | null =>
  /^adapterConfig\.([A-Za-z_]\w*)/.exec(field)?.[1] ?? null

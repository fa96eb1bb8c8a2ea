interface Refusal {
  errors?: readonly { field: string; message: string }[]
}

/** What the server refused, by the field of the form; `rest` is the refusal if no field is named. */
export function problemsIn(error: Error | null): { fields: Record<string, string>; rest: Error | null } {
  const fields: Record<string, string> = {}
  for (const { field, message } of (error as Refusal | null)?.errors ?? []) {
    const [, name] = /^(?:adapterConfig|config)\.([^.[]+)/.exec(field) ?? []
    fields[name ?? field] ??= message
  }
  return { fields, rest: Object.keys(fields).length > 0 ? null : error }
}

import { Refused } from '../../../pure/errors.ts'

/** A request that creates one task has no "tasks[0]". */
export function forSingleTask(error: unknown): never {
  if (!(error instanceof Refused)) throw error
  const { code, detail, ok: _ok, errors, ...extra } = error.refusal
  const own = (text: string) => text.replace('tasks[0].', '')
  const named = (errors as { field: string; message: string }[] | undefined)?.map(({ field, message }) => ({
    field: own(field),
    message,
  }))
  throw new Refused(code, own(detail), { ...extra, ...(named ? { errors: named } : {}) })
}
